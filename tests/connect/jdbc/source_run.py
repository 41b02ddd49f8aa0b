"""A JDBC source as a worker drives it, without one: plans, reads, remembers offsets."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from typing import Any

from penstock.connect.api import SourceRange, SourceTask
from penstock.connect.connectors.jdbc.source.connector import JdbcSourceConnector
from penstock.connect.data import SourceRecord
from tests.servers.fixtures import OwnDatabase
from tests.servers.sqlite import SqliteFile

_SETTLE_SECONDS = 0.5


class Context:
    """What a connector may ask of its worker."""

    def __init__(self) -> None:
        self.reconfigured = 0
        self.errors: list[Exception] = []

    def request_task_reconfiguration(self) -> None:
        self.reconfigured += 1

    def raise_error(self, error: Exception) -> None:
        self.errors.append(error)


class SourceRun:
    """One start of a connector.

    Args:
        config: Its settings.
        offsets: Offsets of an earlier run.
        tasks: The most tasks.
    """

    def __init__(
        self, config: Mapping[str, str], *, offsets: Mapping[str, dict[str, Any]] | None = None, tasks: int = 1
    ) -> None:
        self.context = Context()
        self.known: dict[str, dict[str, Any]] = dict(offsets or {})
        self.connector = JdbcSourceConnector(config)
        self.connector.start(self.context)
        self.task_configs = self.connector.task_configs(tasks)
        self.tasks: list[SourceTask] = [self.connector.TASK(one) for one in self.task_configs]
        for task in self.tasks:
            task.start()

    def offset(self, partition: Mapping[str, Any]) -> dict[str, Any] | None:
        return self.known.get(json.dumps(partition, sort_keys=True))

    def plan(self) -> list[tuple[SourceTask, SourceRange]]:
        """What all tasks plan, through JSON as on its way to Spark."""
        planned = [(task, one) for task in self.tasks for one in task.plan(self)]
        return [
            (task, SourceRange(*json.loads(json.dumps([one.partition, one.start, one.end])))) for task, one in planned
        ]

    def done(self, wanted: SourceRange) -> None:
        """The records of a range are in Kafka."""
        self.known[json.dumps(wanted.partition, sort_keys=True)] = dict(wanted.end)

    def batch(self) -> list[SourceRecord]:
        """The records of one batch; everything is due. Open transactions are waited for a little."""
        deadline = time.monotonic() + _SETTLE_SECONDS
        while True:
            polls = [poll for task in self.tasks for poll in task._polls]  # type: ignore[attr-defined]
            for poll in polls:
                poll.due = 0.0
            planned = self.plan()
            if planned or time.monotonic() > deadline or not any(poll._fence for poll in polls):
                break
            time.sleep(0.02)
        records = []
        for task, wanted in planned:
            records += list(task.read(wanted))
            self.done(wanted)
        return records

    def until(self, count: int, *, seconds: float = 240) -> list[SourceRecord]:
        """So many records, from as many batches as it takes."""
        records: list[SourceRecord] = []
        deadline = time.monotonic() + seconds
        while len(records) < count and time.monotonic() < deadline:
            records += self.batch()
        return records

    def stop(self) -> None:
        for task in self.tasks:
            task.stop()
        self.connector.stop()


@contextmanager
def source(database: OwnDatabase, *, offsets: Any = None, tasks: Any = 1, **settings: Any) -> Iterator[SourceRun]:
    """A run of a source on a database; settings with `_` for `.`."""
    if isinstance(database.server, SqliteFile):
        database.server.path.touch()  # a source makes no file
    config = {**database.config, "topic.prefix": "db-", "poll.interval.ms": "0"}
    config |= {name.replace("_", "."): value for name, value in settings.items()}
    run = SourceRun(config, offsets=offsets, tasks=tasks)
    try:
        yield run
    finally:
        run.stop()


def rows(records: Sequence[SourceRecord]) -> list[dict[str, Any]]:
    """The rows in records."""
    return [record.value.to_dict() for record in records]


def column(records: Sequence[SourceRecord], name: str) -> list[Any]:
    """One column of the rows in records."""
    return [record.value[name] for record in records]


def eventually(check: Callable[[], Any], *, seconds: float = 240) -> Any:
    """What a check gives as soon as it gives something."""
    deadline = time.monotonic() + seconds
    while time.monotonic() < deadline:
        found = check()
        if found:
            return found
        time.sleep(0.02)
    raise TimeoutError("it did not become so")
