"""The output of an application: when it became visible, and whether it is right."""

from __future__ import annotations

import math
import threading
import time
from collections.abc import Callable, Hashable, Iterator
from itertools import islice
from types import TracebackType
from typing import Any

from confluent_kafka import Consumer, KafkaError, TopicPartition
from typing_extensions import Self

from bench.topics import Topics
from bench.workloads import PARTITIONS, Row, Table, Workload

POLL_SECONDS = 0.02
# Reading the output takes processor time from the application, so it is done when nothing has come for this long: longer than
# any batch, whose output becomes visible at its end.
QUIET_SECONDS = 10.0


class BenchmarkFailed(Exception):
    """A run that cannot count, and why."""


class Output:
    """The output topic of a run, read as the table it stands for: the last row of each group counts."""

    def __init__(self, topics: Topics, bootstrap_servers: str, topic: str, workload: Workload) -> None:
        self.topic = topic
        self.records = 0
        self.total = 0  # records behind all rows: how much of the input can be seen in the output
        self.table: dict[Hashable, Row] = {}
        self._topics = topics
        self._read = workload.read
        self._reader = CommittedReader(bootstrap_servers, topic)

    def wait_for(self, total: int, *, alive: Callable[[], bool], timeout: float) -> float:
        """Wait until the whole table is visible; the time when its last row was.

        Args:
            total: Records that count in the table, all groups together.
            alive: Whether the application runs; what it left is read to the end.
            timeout: Seconds without any new output after which the run is given up.
        """
        looked_at = -1
        with _Horizon(self._topics, self.topic) as horizon:
            while True:
                running = alive()
                visible, quiet = horizon.look()
                if (quiet > QUIET_SECONDS or not running) and looked_at != visible:
                    looked_at = visible
                    self.catch_up()
                    if self.total == total:
                        horizon.look()
                        return horizon.moved
                elif not running:
                    raise BenchmarkFailed(
                        f"the application ended, its output covers {self.total:,} of {total:,} updates"
                    )
                if quiet > timeout:
                    raise BenchmarkFailed(
                        f"no output for {timeout:g} s, which covers {self.total:,} of {total:,} updates so far"
                    )
                time.sleep(5 * POLL_SECONDS)  # the horizon is watched more often

    def catch_up(self) -> None:
        """Read what is visible now."""
        for message in self._reader.read():
            group, row = self._read(message.key(), message.value())
            before = self.table.get(group)
            self.total += int(row[0] - before[0]) if before else int(row[0])
            self.table[group] = row
            self.records += 1

    def check(self, expected: Table) -> None:
        """Compare the table with the one the input has to end in.

        Raises:
            BenchmarkFailed: A row is missing, too many, or has other figures.
        """
        wrong = [group for group in expected.keys() | self.table.keys() if not _same(expected, self.table, group)]
        if wrong:
            shown = "; ".join(f"{g!r}: {self.table.get(g)} instead of {expected.get(g)}" for g in islice(wrong, 3))
            raise BenchmarkFailed(f"{len(wrong):,} of {len(expected):,} rows of the result are wrong: {shown}")

    def close(self) -> None:
        self._reader.close()


class _Horizon(threading.Thread):
    """Watches how far a reader can see, also while the output is read.

    Attributes:
        moved: When that last changed.
    """

    def __init__(self, topics: Topics, topic: str) -> None:
        super().__init__(name=f"horizon-{topic}", daemon=True)
        self._topics = topics
        self._topic = topic
        self._ended = threading.Event()
        self._lock = threading.Lock()
        self._visible = -1
        self.moved = time.time()

    def look(self) -> tuple[int, float]:
        """How far, and for how many seconds that has not changed."""
        with self._lock:
            visible, now = self._topics.visible(self._topic), time.time()
            if visible != self._visible:
                self._visible, self.moved = visible, now
            return visible, now - self.moved

    def run(self) -> None:
        while not self._ended.wait(POLL_SECONDS):
            self.look()

    def __enter__(self) -> Self:
        self.look()
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        self.join()


def _same(expected: Table, actual: Table, group: Hashable) -> bool:
    wanted, found = expected.get(group), actual.get(group)
    if wanted is None or found is None or wanted[0] != found[0]:
        return False
    # Systems add the same prices in another order.
    return all(math.isclose(w, f, rel_tol=1e-9, abs_tol=1e-9) for w, f in zip(wanted, found, strict=True))


class CommittedReader:
    """Reads all partitions of a topic from the beginning, as far as they are visible each time."""

    def __init__(self, bootstrap_servers: str, topic: str) -> None:
        self._topic = topic
        self._next = dict.fromkeys(range(PARTITIONS), 0)
        self._consumer = Consumer(
            {
                "bootstrap.servers": bootstrap_servers,
                "log_level": 0,
                "group.id": f"{topic}-reader",
                "enable.auto.commit": False,
                "isolation.level": "read_committed",
                "enable.partition.eof": True,
                "auto.offset.reset": "earliest",  # where retention has removed the beginning
            }
        )

    def read(self) -> Iterator[Any]:
        """The messages up to the end that each partition has now."""
        # Assigned anew, so that each partition tells its end once more.
        self._consumer.assign([TopicPartition(self._topic, p, offset) for p, offset in self._next.items()])
        at_end: set[int] = set()
        while len(at_end) < PARTITIONS:
            for message in self._consumer.consume(20_000, 1.0):
                error, partition, offset = message.error(), message.partition(), message.offset()
                if error is None:
                    assert partition is not None
                    assert offset is not None
                    self._next[partition] = offset + 1
                    yield message
                elif error.code() == KafkaError._PARTITION_EOF and partition is not None:  # noqa: SLF001 - its name
                    at_end.add(partition)
                else:
                    raise BenchmarkFailed(f"{self._topic} cannot be read: {error}")

    def close(self) -> None:
        self._consumer.close()
