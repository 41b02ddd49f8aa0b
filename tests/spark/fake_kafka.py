"""Topics as the planner sees them: offsets, timestamps and sizes, without a broker."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from penstock import StreamsBuilder, Topology
from penstock.kafka.consumer_group import GroupOffset
from penstock.kafka.errors import TopicMissing
from penstock.runtime.settings import Settings
from penstock.spark.job import Job, Limits
from penstock.spark.layout import lay_out

At = tuple[str, int]


@dataclass
class Log:
    """One partition: the timestamps of its records, the offset of the first, how large they are, and a gap at the end."""

    times: list[int]
    start: int = 0
    size: float = 100.0
    gap: int = 0

    @property
    def end(self) -> int:
        return self.start + len(self.times) + self.gap


@dataclass
class FakeKafka:
    logs: dict[At, Log] = field(default_factory=dict)
    groups: dict[str, dict[At, GroupOffset]] = field(default_factory=dict)
    asked: list[str] = field(default_factory=list)
    made: dict[str, int] = field(default_factory=dict)

    def add(
        self,
        topic: str,
        times: Iterable[int],
        *,
        partition: int = 0,
        start: int = 0,
        size: float = 100.0,
        gap: int = 0,
    ) -> None:
        self.logs[topic, partition] = Log(list(times), start, size, gap)

    def start_offsets(self, partitions: Any) -> dict[At, int]:
        return {at: self._log(at).start for at in partitions}

    def end_offsets(self, partitions: Any, *, committed: bool = False) -> dict[At, int]:
        return {at: self._log(at).end for at in partitions}

    def offsets_for_time(self, partitions: Any, timestamp: int) -> dict[At, int]:
        self.asked.append("time")
        return {at: self._at_time(self._log(at), timestamp) for at in partitions}

    @staticmethod
    def _at_time(log: Log, timestamp: int) -> int:
        return next((log.start + i for i, time in enumerate(log.times) if time >= timestamp), -1)

    def group_offsets(self, group: str, partitions: Any) -> dict[At, GroupOffset]:
        return {at: o for at, o in self.groups.get(group, {}).items() if at in partitions}

    def topic_ids(self, names: Any) -> dict[str, str]:
        """By how often a topic was made."""
        return {name: f"{name} {self.made.get(name, 1)}" for name in names}

    def _log(self, at: At) -> Log:
        if at not in self.logs:
            raise TopicMissing(at[0])
        return self.logs[at]

    # What the planner learns of single records

    def time_at(self, positions: Any) -> dict[At, int]:
        self.asked.append("sample")
        return {
            at: log.times[o - log.start]
            for at, o in positions.items()
            if o - (log := self._log(at)).start < len(log.times)
        }

    def sizes(self, positions: Any) -> dict[str, float]:
        self.asked.append("size")
        return {at[0]: self._log(at).size for at in positions}

    def partitions(self) -> dict[str, int]:
        counts: dict[str, int] = {}
        for topic, partition in self.logs:
            counts[topic] = max(counts.get(topic, 0), partition + 1)
        return counts


def make_job(
    topology: Topology | StreamsBuilder,
    partitions: dict[str, int],
    checkpoint: Any,
    *,
    limits: Limits | None = None,
    slots: int = 2,
    fail_on_data_loss: bool = True,
    start: dict[str, Any] | None = None,
    **settings: Any,
) -> Job:
    read = topology if isinstance(topology, Topology) else topology.build()
    return Job(
        run="run",
        topology=read,
        layout=lay_out(read, partitions),
        slots=slots,
        config=Settings(application_id="app", **settings).task_config(),
        kafka={},
        exactly_once=False,
        checkpoint=str(checkpoint),
        local="unused",
        limits=limits or Limits(),
        start=start or {},
        fail_on_data_loss=fail_on_data_loss,
    )
