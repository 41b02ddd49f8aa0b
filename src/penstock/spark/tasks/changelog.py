"""What a task writes to its changelogs: the changes of a pass, sent with its output and committed with it."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any

from penstock.spark.changelogs import Changelog, changelogs
from penstock.spark.job import Job
from penstock.spark.tasks.outgoing import Outgoing, outgoing
from penstock.spark.tasks.outputs import SlotOutput
from penstock.state.buffer_changelogs import KINDS as BUFFERS
from penstock.state.buffer_changelogs import changed_records
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
        self._stores: dict[str, Any] = {}

    def listen(self, stores: Mapping[str, Any]) -> None:
        """Take the changes of these stores from here on; what was collected before is forgotten."""
        self._changes = []
        self._stores = {name: store for name, store in stores.items() if name in self._logs}
        for name, store in self._stores.items():
            store.on_change = self._recorder(self._logs[name], store)

    def _recorder(self, log: Changelog, store: Any) -> Callable[[bytes, bytes | None, int], None]:
        topic, partition, add = log.topic, self._partition, self._changes.append
        if not log.kind.endswith("_with_headers"):
            # As `outgoing` does, without the call.
            return lambda key, value, timestamp: add(
                (topic, value, key, partition, None, None, timestamp if timestamp > 0 else 1, None)
            )
        context: Any = store._context  # noqa: SLF001 - such a store keeps the headers of the record in hand
        return lambda key, value, timestamp: add(
            outgoing(topic, key, value, max(timestamp, 0), context.headers, partition)
        )

    def send_some(self, output: SlotOutput | None) -> None:
        """Send what was collected, if it is much: all but the last record, which may have to carry the mark."""
        changes = self._changes
        if len(changes) > _MANY:
            if output is not None:
                output.produce_all(changes[:-1])
            del changes[:-1]

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
        changes = self._changes
        for name, log in self._buffers.items():
            found = changed_records(log.kind, rows(name).changes, metadata.get("sstream time", 0))
            changes += [
                outgoing(log.topic, key, value, max(timestamp, 0), headers, self._partition)
                for key, value, timestamp, headers in found
            ]
        if changes and output is not None:
            mark = (MARK, self._mark(sequence, metadata))
            *last, headers = changes[-1]
            changes[-1] = (*last, [*(headers or ()), mark])  # type: ignore[assignment]
            output.produce_all(changes.copy())
        changes.clear()

    def _mark(self, sequence: int, metadata: Mapping[str, int]) -> bytes:
        times = {name: time for name, store in self._stores.items() if (time := store_time(store)) is not None}
        return json.dumps({"sequence": sequence, "metadata": dict(metadata), "times": times}).encode()
