"""What ended a query, read out of the text that Spark makes of it.

An error of a task travels through a Python worker, Spark's executor and Spark's driver, and arrives as the text of a
traceback inside the text of a Java exception. Here it becomes one line again: the task's own message, which names node,
topic, partition, offset and the user's line.
"""

from __future__ import annotations

import logging
import re

from penstock.errors import StreamsError

log = logging.getLogger("penstock.spark")

# The last line of a Python traceback: `package.module.Error: message`, or the class alone if there is no message.
_OURS = re.compile(r"^penstock\.[\w.]*?(\w+): ", re.MULTILINE)
_PYTHON = re.compile(
    r"^((?:[A-Za-z_]\w*\.)*[A-Z]\w*(?:Error|Exception|Interrupt|Exit|Warning|Stop\w*))(?:: |$)", re.MULTILINE
)
_WRAPPED = re.compile(r"(\w+): ")
_END = re.compile(r"\s*SQLSTATE: \w+|\n=== Streaming Query ===|\n\s+at [\w.$]+\(|\nDriver stacktrace:")
_KAFKA_CODE = re.compile(r"Kafka refused: .*\((\w+)\)")
_LONGEST = 2000

# Kafka is away, or busy with itself. Whoever waits and tries again may find it back.
_TRANSIENT = frozenset(
    {"BrokerUnreachable", "QueueFull", "RangeStalled", "TransactionError", "TransactionAborted", "ProducerFenced"}
)
_TRANSIENT_CODES = frozenset(
    {
        "_TRANSPORT", "_TIMED_OUT", "_ALL_BROKERS_DOWN", "_RESOLVE", "_WAIT_COORD", "_DESTROY", "_UNKNOWN_PARTITION", "_NOENT",
        "REQUEST_TIMED_OUT", "NOT_LEADER_FOR_PARTITION", "LEADER_NOT_AVAILABLE", "BROKER_NOT_AVAILABLE",
        "COORDINATOR_LOAD_IN_PROGRESS", "COORDINATOR_NOT_AVAILABLE", "NOT_COORDINATOR", "NETWORK_EXCEPTION",
        "NOT_ENOUGH_REPLICAS", "NOT_ENOUGH_REPLICAS_AFTER_APPEND", "KAFKA_STORAGE_ERROR", "UNSTABLE_OFFSET_COMMIT",
    }
)  # fmt: skip
_TRANSIENT_DELIVERY = re.compile(r"timed out|still waiting after|transport|brokers? (?:are )?down", re.IGNORECASE)


class QueryFailed(StreamsError):
    """A query that ended by itself.

    Attributes:
        kind: Name of the error's class inside the task or the planner, as `TaskFailed` or `BrokerUnreachable`.
        transient: True if trying again may help without anybody changing anything.
    """

    def __init__(self, message: str, *, kind: str = "", transient: bool = False, hint: str = "") -> None:
        self.kind = kind
        self.transient = transient
        super().__init__(message, hint=hint)


def query_failed(error: BaseException) -> QueryFailed:
    """What ended a query, in penstock's words.

    Its cause is Spark's error where that may say more. An error of ours says all; behind it a user's terminal would show
    screens of Spark's own, and the line that matters at their end.
    """
    text = str(error)
    ours = _last(_OURS, text)
    failed = _read(text, ours)
    if ours is None:
        failed.__cause__ = error
    else:
        log.debug("Spark's own words for it: %s", text)
    return failed


def _read(text: str, ours: re.Match[str] | None) -> QueryFailed:
    if ours is not None:
        kind, message = ours[1], _message(text, ours.end())
        inner = _WRAPPED.match(message) if kind == "TaskFailed" else None
        kind = inner[1] if inner is not None and is_transient(inner[1], message) else kind
        return QueryFailed(message, kind=kind, transient=is_transient(kind, message))
    python = _last(_PYTHON, text)
    if python is not None:
        kind = python[1].rpartition(".")[2]
        return QueryFailed(
            f"a Python process of Spark failed: {kind}: {_message(text, python.end())}".removesuffix(": "),
            kind=kind,
            hint=_HINTS.get(kind, ""),
        )
    start = text.rfind("terminated with exception: ")
    said = _message(text, 0 if start < 0 else start + len("terminated with exception: "))
    return QueryFailed(f"Spark's query failed: {said or 'no reason was given'}")


_HINTS = {
    "ModuleNotFoundError": "Spark's workers must be able to import your modules: run from their folder, install them "
    "on all nodes, or ship them with spark.submit.pyFiles.",
}


def _last(pattern: re.Pattern[str], text: str) -> re.Match[str] | None:
    found = None
    for match in pattern.finditer(text):
        found = match
    return found


def _message(text: str, start: int) -> str:
    """The message from there on, as one line without what Spark added."""
    end = _END.search(text, start)
    line = " ".join(text[start : None if end is None else end.start()].split())
    return line if len(line) <= _LONGEST else f"{line[:_LONGEST]} ..."


def is_transient(kind: str, message: str) -> bool:
    """Whether the cause may go away by itself.

    >>> is_transient("KafkaClientError", "Kafka refused: Request timed out (REQUEST_TIMED_OUT)")
    True
    >>> is_transient("TopicMissing", "Topic 'orders' does not exist")
    False
    """
    if kind in _TRANSIENT:
        return True
    if kind == "DeliveryFailed":
        return _TRANSIENT_DELIVERY.search(message) is not None
    code = _KAFKA_CODE.search(message) if kind == "KafkaClientError" else None
    return code is not None and code[1] in _TRANSIENT_CODES
