"""What to do with a record that cannot be read, processed or written: error handlers and dead letters.

A handler is any callable `(context, record, exception) -> Response`; production handlers also get `origin=`.
A class is instantiated without arguments first.
"""

from __future__ import annotations

import difflib
import inspect
import logging
import traceback
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from enum import Enum
from typing import Any

from penstock.errors import ConfigError
from penstock.records import NO_HEADERS, Headers

log = logging.getLogger("penstock.errors")


@dataclass(frozen=True, slots=True)
class DeadLetter:
    """A record to send to a dead letter topic: raw bytes, with the error in its headers."""

    topic: str
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: Headers = NO_HEADERS


class Action(Enum):
    """What happens after an error."""

    RESUME = "resume"
    FAIL = "fail"
    RETRY = "retry"


@dataclass(frozen=True, slots=True)
class Response:
    """A handler's answer."""

    action: Action
    dead_letters: tuple[DeadLetter, ...] = ()

    @classmethod
    def resume(cls, dead_letters: Iterable[DeadLetter] = ()) -> Response:
        """Skip the record and go on."""
        return cls(Action.RESUME, tuple(dead_letters))

    @classmethod
    def fail(cls, dead_letters: Iterable[DeadLetter] = ()) -> Response:
        """Stop the task; dead letters are sent all the same."""
        return cls(Action.FAIL, tuple(dead_letters))

    @classmethod
    def retry(cls) -> Response:
        """Send again (production handlers only)."""
        return cls(Action.RETRY)


class Origin(Enum):
    """Which part of writing an output failed."""

    KEY = "KEY"
    VALUE = "VALUE"
    SEND = "SEND"


@dataclass(frozen=True, slots=True)
class ErrorHandlerContext:
    """Where the error happened and what the source record was."""

    topic: str | None
    partition: int
    offset: int
    headers: Headers
    processor_node_id: str | None
    task_id: str
    timestamp: int
    source_raw_key: bytes | None
    source_raw_value: bytes | None
    dead_letter_topic: str | None = None

    def dead_letters(self, error: BaseException) -> tuple[DeadLetter, ...]:
        """The raw source record with the error in its headers, if a dead letter topic is configured."""
        if self.dead_letter_topic is None:
            return ()
        stack = "".join(traceback.format_exception(type(error), error, error.__traceback__))
        headers = self.headers
        for name, text in (
            ("exception", f"{type(error).__module__}.{type(error).__qualname__}"),
            ("message", str(error)),
            ("stacktrace", stack),
            ("topic", self.topic or ""),
            ("partition", str(self.partition)),
            ("offset", str(self.offset)),
        ):
            headers = headers.add(f"__streams.errors.{name}", text.encode())
        timestamp = max(self.timestamp, 0)
        return (DeadLetter(self.dead_letter_topic, self.source_raw_key, self.source_raw_value, timestamp, headers),)

    def __str__(self) -> str:
        return (
            f"node {self.processor_node_id}, task {self.task_id}, topic {self.topic}, "
            f"partition {self.partition}, offset {self.offset}"
        )


class LogAndFailExceptionHandler:
    """Stops the task at the first record that cannot be read. The default."""

    def __call__(self, context: ErrorHandlerContext, record: Any, exception: BaseException) -> Response:
        """Log, send the dead letter if there is a topic for it, fail."""
        log.error("cannot read a record (%s): %s", context, exception)
        return Response.fail(context.dead_letters(exception))


class LogAndContinueExceptionHandler:
    """Skips records that cannot be read."""

    def __call__(self, context: ErrorHandlerContext, record: Any, exception: BaseException) -> Response:
        """Log, send the dead letter if there is a topic for it, go on."""
        log.warning("skipped a record that cannot be read (%s): %s", context, exception)
        return Response.resume(context.dead_letters(exception))


class LogAndFailProcessingExceptionHandler:
    """Stops the task at the first error of a processor or user function. The default."""

    def __call__(self, context: ErrorHandlerContext, record: Any, exception: BaseException) -> Response:
        """Log, send the dead letter if there is a topic for it, fail."""
        log.error("cannot process a record (%s): %s", context, exception)
        return Response.fail(context.dead_letters(exception))


class LogAndContinueProcessingExceptionHandler:
    """Skips records whose processing fails, at the node that failed and below."""

    def __call__(self, context: ErrorHandlerContext, record: Any, exception: BaseException) -> Response:
        """Log, send the dead letter if there is a topic for it, go on."""
        log.warning("skipped a record that cannot be processed (%s): %s", context, exception)
        return Response.resume(context.dead_letters(exception))


class DefaultProductionExceptionHandler:
    """Retries what can be retried, fails on everything else. The default."""

    def __call__(
        self, context: ErrorHandlerContext, record: Any, exception: BaseException, *, origin: Origin = Origin.SEND
    ) -> Response:
        """Retry a send that may succeed later; else fail."""
        if origin is Origin.SEND and getattr(exception, "retriable", False):
            return Response.retry()
        log.error("cannot write a record (%s): %s", context, exception)
        return Response.fail(context.dead_letters(exception))


Handler = Callable[..., Response]


def resolve_handler(given: Any, setting: str) -> Handler | None:
    """A handler from a callable, a class, or a dotted name such as `my.module.Handler` (Java names of ours too)."""
    if given is None:
        return None
    if isinstance(given, str):
        given = _by_name(given, setting)
    handler = given() if inspect.isclass(given) else given
    if not callable(handler):
        raise ConfigError(
            f"{setting} is {given!r}, which cannot be called", hint="Give a function (context, record, exception)."
        )
    return handler  # type: ignore[no-any-return]


def _by_name(name: str, setting: str) -> Any:
    short = name.rsplit(".", 1)[-1]
    known = {c.__name__: c for c in _BUILT_IN}
    if short in known:
        return known[short]
    module, _, attribute = name.replace(":", ".").rpartition(".")
    near = difflib.get_close_matches(short, known, n=1, cutoff=0.8)
    if near or not module:
        raise ConfigError(
            f"{setting} is {name!r}, which is no handler of penstock",
            hint=f"Did you mean {near[0]}?" if near else f"Give a dotted name or one of {', '.join(known)}.",
        )
    try:
        return getattr(__import__(module, fromlist=[attribute]), attribute)
    except (ImportError, AttributeError, ValueError) as error:
        raise ConfigError(
            f"{setting} is {name!r}, which cannot be imported: {error}",
            hint=f"Give an importable dotted name or one of {', '.join(known)}.",
        ) from error


_BUILT_IN = (
    LogAndFailExceptionHandler,
    LogAndContinueExceptionHandler,
    LogAndFailProcessingExceptionHandler,
    LogAndContinueProcessingExceptionHandler,
    DefaultProductionExceptionHandler,
)
