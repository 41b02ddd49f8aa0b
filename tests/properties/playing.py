"""Playing records into a topology, with the ends of batches and restarts where a test wants them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import groupby
from typing import Any, NamedTuple

from hypothesis import strategies as st

from penstock.testing import TopologyTestDriver

KEYS = ("a", "b", "c")


class Input(NamedTuple):
    topic: str
    key: str | None
    value: str | None
    timestamp: int


class Row(NamedTuple):
    key: str | None
    value: str | None
    timestamp: int


def inputs(topics: Sequence[str], *, max_size: int = 25) -> st.SearchStrategy[list[Input]]:
    """Records of few keys and values; time moves on with steps back, and nulls come up."""
    row = st.tuples(
        st.sampled_from(topics),
        st.sampled_from((*KEYS, *KEYS, None)),
        st.sampled_from(("0", "1", "2", "3", "4", None)),
        st.integers(-14, 16),
    )
    return st.lists(row, max_size=max_size).map(_walk)


def _walk(rows: list[tuple[str, str | None, str | None, int]]) -> list[Input]:
    now, found = 0, []
    for topic, key, value, step in rows:
        found.append(Input(topic, _foreign(topic, key), value, max(now + step, 0)))
        now = max(now, now + step)
    return found


def _foreign(topic: str, key: str | None) -> str | None:
    """The rows that foreign keys point at have those keys: the values of other topics."""
    return key if topic != "keys" or key is None else str(KEYS.index(key) + 1)


class Player(TopologyTestDriver):
    """A test driver whose caches are flushed when told to, as a host flushes at the end of a batch."""

    def _run(self) -> None:
        while True:
            self._capture()
            topic = self._next_topic()
            if topic is None:
                return
            self._source(topic).process(self._queues[topic].popleft())

    def play(self, records: Iterable[Input]) -> None:
        """Process records, one after the other."""
        for topic, key, value, timestamp in records:
            self.pipe(topic, _bytes(key), _bytes(value), timestamp)

    def play_columns(self, records: Iterable[Input]) -> None:
        """Process records as a host does: runs of one topic column by column. Not for topologies with repartitions."""
        for topic, run in groupby(records, key=lambda record: record.topic):
            rows = list(run)
            if topic in self._globals.topics:
                self.play(rows)
                continue
            offset = self._offsets.get(topic, 0)
            self._offsets[topic] = offset + len(rows)
            self._source(topic).accept_columns(
                range(offset, offset + len(rows)),
                [row.timestamp for row in rows],
                [_bytes(row.key) for row in rows],
                [_bytes(row.value) for row in rows],
                None,
            )
            self._run()

    def flush(self) -> None:
        """End a batch; what comes out of a cache may go through repartitions into other caches."""
        self._task.flush()
        while self._outputs.pending:
            self._run()
            self._task.flush()

    def move(self) -> None:
        """End the batch and go on in a new task over the same state, as a host does when a task moves."""
        self.flush()
        clocks = self._task.operator_clocks()
        self.restart()
        self._task.set_operator_clocks(clocks)

    def rows(self, topic: str = "out") -> list[Row]:
        """What was written to a topic since the last call."""
        queue = self.outputs(topic)
        rows = [Row(_text(key), _text(value), timestamp) for key, value, timestamp, _ in queue]
        queue.clear()
        return rows

    def stored(self) -> dict[str, list[tuple[bytes, bytes]]]:
        """The bytes of all stores."""
        return {name: list(store.range(None, None)) for name, store in self._bytes.items()}

    def tables(self) -> dict[str, list[Any]]:
        """Keys and values that stores show.

        What is out of its retention does not show. A count of 0 is left out, as a group that comes and goes within a
        batch is not seen with a cache; timestamps are, as that of an aggregate is the largest of all updates it saw.
        """
        shown = {name: store.all() for name, store in self.get_all_state_stores().items() if hasattr(store, "all")}
        plain = {name: [(key, getattr(row, "value", row)) for key, row in rows] for name, rows in shown.items()}
        return {name: [row for row in rows if row[1] != 0] for name, rows in plain.items()}


def final(rows: Iterable[Row]) -> dict[Any, str]:
    """The table that updates add up to."""
    table: dict[Any, str] = {}
    for row in rows:
        if row.value is None:
            table.pop(row.key, None)
        else:
            table[row.key] = row.value
    return table


def _bytes(text: str | None) -> bytes | None:
    return None if text is None else text.encode()


def _text(data: bytes | None) -> str | None:
    return None if data is None else data.decode()
