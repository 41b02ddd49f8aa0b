"""Errors inside a task: translated, handed to the user's handlers, and never swallowed."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.errors import PenstockError, StreamsError
from penstock.handlers import (
    Action,
    DeadLetter,
    ErrorHandlerContext,
    Handler,
    LogAndFailExceptionHandler,
    LogAndFailProcessingExceptionHandler,
    Origin,
    Response,
)
from penstock.interpreter.config import TaskConfig
from penstock.interpreter.context import TaskContext
from penstock.interpreter.tracing import failing_node
from penstock.records import Change, Record
from penstock.source_line import raising_line
from penstock.topology.operators import Edge


class TaskFailed(StreamsError):
    """A task that stops: the handler said so, or there is none. Guards let it pass."""


_SKIPPED = "processing error"


class Guards:
    """The three handlers of a task and what they decide."""

    def __init__(self, config: TaskConfig, context: TaskContext, send: Callable[[DeadLetter], None]) -> None:
        self._context = context
        self._send = send
        self._dead_letter_topic = config.dead_letter_topic
        self._deserialization: Handler | None = config.deserialization_handler
        if self._deserialization is None and self._dead_letter_topic is not None:
            self._deserialization = LogAndFailExceptionHandler()
        self._processing: Handler = config.processing_handler or LogAndFailProcessingExceptionHandler()
        self._production: Handler | None = config.production_handler
        # The default handler without dead letters needs no guard: the error ends the task anyway.
        fails = isinstance(self._processing, LogAndFailProcessingExceptionHandler)
        self.guards_nodes = not fails or self._dead_letter_topic is not None

    def failure(self, error: BaseException, node: str | None = None) -> TaskFailed:
        """The error that ends the task, with node, place and the user's line."""
        context = self._context
        line = raising_line(error)
        where = f"node {node or failing_node(error) or 'unknown'}, task {context.task_id}"
        if context.topic is not None:
            where += f", topic {context.topic}, partition {context.partition}, offset {context.offset}"
        failure = TaskFailed(
            f"{type(error).__name__}: {error} ({where}{f', at {line}' if line else ''})",
            hint=""
            if isinstance(error, PenstockError)  # has its own
            else "Fix the function, or set processing.exception.handler to go on without such records.",
        )
        failure.__cause__ = error
        return failure

    def _error_context(self, node: str | None, timestamp: int) -> ErrorHandlerContext:
        c = self._context
        return ErrorHandlerContext(
            c.topic, c.partition, c.offset, c.headers, node, c.task_id, timestamp, c.raw_key, c.raw_value,
            self._dead_letter_topic,
        )  # fmt: skip

    def _ask(self, handler: Handler, node: str | None, record: Any, error: Exception, **origin: Origin) -> Response:
        timestamp = getattr(record, "timestamp", self._context.timestamp)
        try:
            response = handler(self._error_context(node, timestamp), record, error, **origin)
        except Exception as second:
            raise TaskFailed(
                f"the error handler {_name(handler)} failed with {type(second).__name__}: {second}, "
                f"when it was asked about {type(error).__name__}: {error}",
                hint="It must return Response.resume() or Response.fail().",
            ) from second
        if not isinstance(response, Response):
            raise TaskFailed(
                f"the error handler {_name(handler)} returned {response!r} for {type(error).__name__}: {error}",
                hint="Return Response.resume() or Response.fail().",
            ) from error
        for letter in response.dead_letters:
            self._send(letter)
        return response

    def deserialization_failed(self, node: str, timestamp: int, error: Exception) -> bool:
        """True if the record is to be skipped."""
        record = Record(self._context.raw_key, self._context.raw_value, max(timestamp, 0), self._context.headers)
        # Without a handler and dead letters the error says all: a log would say it again at each attempt of Spark's.
        handler = self._deserialization
        if handler is not None and self._ask(handler, node, record, error).action is Action.RESUME:
            return True
        failure = self.failure(error, node)
        failure.hint = "Check the serde of the source, or set deserialization.exception.handler to skip such records."
        raise failure from error

    def processing_failed(self, node: str | None, record: Any, error: Exception) -> None:
        """Return if the record is to be skipped at this node; else raise what ends the task."""
        node = node or failing_node(error)
        if self._ask(self._processing, node, record, error).action is not Action.RESUME:
            raise self.failure(error, node) from error
        self._context.dropped[_SKIPPED] = self._context.dropped.get(_SKIPPED, 0) + 1

    def production_failed(self, node: str, record: Any, error: Exception, origin: Origin) -> bool:
        """True if this output is to be skipped, False if it is to be sent again."""
        if self._production is None:
            failure = self.failure(error, node)
            if origin is not Origin.SEND:
                failure.hint = "Check the serdes of the sink, or set production.exception.handler to skip such outputs."
            raise failure from error
        action = self._ask(self._production, node, record, error, origin=origin).action
        if action is Action.FAIL:
            raise self.failure(error, node) from error
        return action is Action.RESUME

    def guard(self, process: Callable[..., None], takes: Edge) -> Callable[..., None]:
        """A node's function with a handler around it. Children are guarded themselves, so only this node's errors
        arrive here; TaskFailed passes.
        """
        context, failed = self._context, self.processing_failed

        def guarded(key: Any, value: Any, timestamp: int) -> None:
            headers = context.headers
            try:
                process(key, value, timestamp)
            except TaskFailed:
                raise
            except Exception as error:  # noqa: BLE001 - whatever user code raises
                failed(None, Record(key, value, timestamp, headers), error)

        def guarded_table(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
            headers = context.headers
            try:
                process(key, new, old, timestamp, is_latest)
            except TaskFailed:
                raise
            except Exception as error:  # noqa: BLE001 - whatever user code raises
                failed(None, Record(key, Change(new, old, is_latest), timestamp, headers), error)

        return guarded if takes is Edge.STREAM else guarded_table


def _name(handler: Handler) -> str:
    return getattr(handler, "__qualname__", None) or type(handler).__qualname__
