"""What a task writes to its changelogs: the changes of a pass, sent with its output and committed with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from penstock.spark.changelogs import Changelog, changelogs
from penstock.spark.job import Job
from penstock.spark.tasks.outgoing import Columns, Outgoing, outgoing
from penstock.spark.tasks.outputs import SlotOutput
from penstock.state.buffer_changelogs import KINDS as BUFFERS
from penstock.state.buffer_changelogs import changed_records
from penstock.state.caching import Caching, OnChanges
from penstock.state.restoring import store_time

# On the last record of each pass: its number, what a task keeps beside its stores (stream time, last emissions), and the
# times of its stores.
MARK = "penstock.pass"
_MANY = 20_000


class TaskChangelog:
    """Collects the changes of one task.

    Args:
        job: The application.
        subtopology: The task's sub-topology.
        partition: Its partition, which is also that of its changelogs.
    """

    def __init__(self, job: Job, subtopology: int, partition: int) -> None:
        logs = [log for log in changelogs(job).values() if log.subtopology == subtopology and not log.is_source]
        self._partition = partition
        self._logs: dict[str, Changelog] = {log.store: log for log in logs if log.kind not in BUFFERS}
        self._buffers: dict[str, Changelog] = {log.store: log for log in logs if log.kind in BUFFERS}
        self._changes: list[Outgoing] = []
        self._columns: list[Columns] = []  # what caches flushed; it came after `_changes`
        self._stores: dict[str, Any] = {}

    def listen(self, stores: Mapping[str, Any]) -> None:
        """Take the changes of these stores from here on; what was collected before is forgotten."""
        self._changes, self._columns = [], []
        self._stores = {name: store for name, store in stores.items() if name in self._logs}
        for name, store in self._stores.items():
            log = self._logs[name]
            store.on_change = self._recorder(log, store)
            if isinstance(store, Caching) and not _has_headers(log):
                store.on_changes = self._column_recorder(log)

    def _recorder(self, log: Changelog, store: Any) -> Callable[[bytes, bytes | None, int], None]:
        topic, partition, add = log.topic, self._partition, self._changes.append
        if not _has_headers(log):
            # As `outgoing` does, without the call.
            return lambda key, value, timestamp: add(
                (topic, value, key, partition, None, None, timestamp if timestamp > 0 else 1, None)
            )
        context: Any = store._context  # noqa: SLF001 - such a store keeps the headers of the record in hand
        return lambda key, value, timestamp: add(
            outgoing(topic, key, value, max(timestamp, 0), context.headers, partition)
        )

    def _column_recorder(self, log: Changelog) -> OnChanges:
        topic, partition, add = log.topic, self._partition, self._columns.append

        def record(keys: Sequence[bytes | None], values: Sequence[bytes | None], timestamps: Sequence[int]) -> None:
            stamps = timestamps if min(timestamps) >= 0 else [max(timestamp, 0) for timestamp in timestamps]
            add(Columns(topic, keys, values, stamps, partition=partition))

        return record

    def send_some(self, output: SlotOutput | None) -> None:
        """Send what was collected, if it is much: all but the last record, which may have to carry the mark."""
        if len(self._changes) + sum(map(len, self._columns)) > _MANY:
            last = self._take_last()
            self._send_all(output)
            self._changes.append(last)

    def _take_last(self) -> Outgoing:
        return self._columns[-1].pop() if self._columns else self._changes.pop()

    def _send_all(self, output: SlotOutput | None) -> None:
        if output is not None:
            output.produce_all(self._changes.copy())
            for columns in self._columns:
                output.produce_all(columns)
        self._changes.clear()
        self._columns.clear()

    def send(
        self, output: SlotOutput | None, rows: Callable[[str], Any], sequence: int, metadata: Mapping[str, int]
    ) -> None:
        """Send what is left of what was collected; nothing if the pass was committed before.

        Args:
            output: Where to; None: nowhere.
            rows: Gives the bytes of a store, with the changes of this pass.
            sequence: Number of the pass.
            metadata: What the task keeps beside its stores.
        """
        for name, log in self._buffers.items():
            found = changed_records(log.kind, rows(name).changes, metadata.get("sstream time", 0))
            self._changes += [
                outgoing(log.topic, key, value, max(timestamp, 0), headers, self._partition)
                for key, value, timestamp, headers in found
            ]
        last = self._take_last() if self._changes or self._columns else None
        self._send_all(output)
        if last is not None and output is not None:
            mark = (MARK, self._mark(sequence, metadata))
            *rest, headers = last
            output.produce_all([(*rest, [*(headers or ()), mark])])  # type: ignore[list-item]

    def _mark(self, sequence: int, metadata: Mapping[str, int]) -> bytes:
        times = {name: time for name, store in self._stores.items() if (time := store_time(store)) is not None}
        return json.dumps({"sequence": sequence, "metadata": dict(metadata), "times": times}).encode()


def _has_headers(log: Changelog) -> bool:
    return log.kind.endswith("_with_headers")
