"""A change source without Spark: planned by one task object, read by another, as a worker does it."""

from __future__ import annotations

import json
import time
from collections.abc import Mapping, Sequence
from typing import Any

from penstock.connect.api import Offset, Partition, SourceRange
from penstock.connect.connectors.postgres_cdc.connector import PostgresConnector, PostgresSourceTask
from penstock.connect.data import SourceRecord
from penstock.connect.errors import RetriableError
from tests.servers.fixtures import OwnDatabase

PATIENCE_SECONDS = 30.0


def config(database: OwnDatabase, **settings: str) -> dict[str, str]:
    """The settings of a source; `snapshot_mode="always"` is snapshot.mode."""
    return {
        "database.hostname": "127.0.0.1",
        "database.port": str(database.server.port),  # type: ignore[union-attr]
        "database.user": database.server.user,
        "database.password": database.server.password,
        "database.dbname": database.name,
        "topic.prefix": "shop",
        "slot.name": f"slot_{database.name}",
        "poll.interval.ms": "20",
        **{name.replace("_", "."): value for name, value in settings.items()},
    }


class Follower:
    """Follows a database. Offsets outlive `restart`, as they do in a worker."""

    def __init__(self, settings: Mapping[str, str]) -> None:
        PostgresConnector(settings)
        self.config = dict(settings)
        self.offset: Offset | None = None
        self.planned: list[SourceRange] = []
        self._start()

    def _start(self) -> None:
        self.driver, self.task = PostgresSourceTask(self.config), PostgresSourceTask(self.config)

    def stop(self) -> None:
        """Stop both tasks."""
        self.task.stop()
        self.driver.stop()

    def restart(self, **settings: str) -> None:
        """Stop and start, as after a crash: nothing but the offset and the planned batch is known."""
        self.stop()
        self.config |= {name.replace("_", "."): value for name, value in settings.items()}
        self._start()

    def offset_of(self, partition: Partition) -> Offset | None:
        assert partition == {"server": self.config["topic.prefix"]}
        return self.offset

    def plan(self) -> Sequence[SourceRange]:
        """The next ranges, after a trip through JSON."""
        if not self.planned:
            reader: Any = type("Known", (), {"offset": lambda _, partition: self.offset_of(partition)})()
            self.planned = [
                SourceRange(*json.loads(json.dumps([found.partition, found.start, found.end])))
                for found in self.driver.plan(reader)
            ]
        return self.planned

    def plan_patiently(self) -> Sequence[SourceRange]:
        """The next ranges, when there are some; failures that pass are waited for."""
        deadline = time.monotonic() + PATIENCE_SECONDS
        while True:
            try:
                if self.plan():
                    return self.planned
            except RetriableError:
                time.sleep(0.05)
            assert time.monotonic() < deadline, "there is nothing to read"

    def read(self) -> list[SourceRecord]:
        """The records of the planned ranges."""
        return [record for wanted in self.planned for record in self.task.read(wanted)]

    def done(self) -> None:
        """The records are in Kafka."""
        (wanted,) = self.planned
        self.offset, self.planned = wanted.end, []
        self.driver.commit([wanted])

    def batch(self) -> list[SourceRecord]:
        """The records of the next batch; none if there is nothing."""
        if not self.plan():
            return []
        records = self.read()
        self.done()
        return records

    def records(self, count: int) -> list[SourceRecord]:
        """That many records, however many batches they take; failures that pass are waited for. Not one more."""
        found: list[SourceRecord] = []
        deadline = time.monotonic() + PATIENCE_SECONDS
        while len(found) < count:
            assert time.monotonic() < deadline, f"{len(found)} of {count} records: {shown(found[-20:])}"
            try:
                found += self.batch()
            except RetriableError:
                time.sleep(0.05)
        assert len(found) == count, shown(found)
        return found

    def drop_slot(self, database: OwnDatabase) -> None:
        """Somebody drops the slot while the source is stopped."""
        slot = self.config["slot.name"]
        active = f"SELECT active FROM pg_replication_slots WHERE slot_name = '{slot}'"
        while database.query(active) == [(True,)]:
            time.sleep(0.01)  # the server has not noticed yet that nobody is there
        database.execute(f"SELECT pg_drop_replication_slot('{slot}')")

    def nothing(self) -> None:
        """Nothing more comes."""
        assert shown([record for _ in range(10) for record in self.batch()]) == []


def shown(records: Sequence[SourceRecord]) -> list[tuple[Any, ...]]:
    """Records in short: operation, before, after; tombstones have the operation None."""
    found = []
    for record in records:
        key = None if record.key is None else tuple(record.key.values)
        if record.value is None:
            found.append((None, key))
            continue
        before, after = record.value["before"], record.value["after"]
        rows = tuple(None if row is None else tuple(row.values) for row in (before, after))
        found.append((record.value["op"], key, *rows))
    return found


def table_of(records: Sequence[SourceRecord]) -> dict[Any, Any]:
    """What a consumer that goes by key has in the end."""
    table: dict[Any, Any] = {}
    for record in records:
        key = tuple(record.key.values)
        if record.value is None or record.value["after"] is None:
            table.pop(key, None)
        else:
            table[key] = tuple(record.value["after"].values)
    return table
