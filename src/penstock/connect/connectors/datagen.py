"""Datagen: made-up records at a steady rate, for demos and trials."""

from __future__ import annotations

import random
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any, ClassVar

from penstock.connect.api import OffsetReader, Partition, SourceConnector, SourceRange, SourceTask
from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import Check, NonEmpty, OneOf, Range
from penstock.connect.connectors.datagen_kinds import KINDS
from penstock.connect.data import STRING_SCHEMA, SourceRecord
from penstock.connect.errors import ConfigError

ITERATION = "current.iteration"
_LARGEST_BATCH = 100_000


class DatagenTask(SourceTask):
    """Makes the records of one task: the n-th one is always the same."""

    idle_ms = 100

    def __init__(self, config: Mapping[str, str], clock: Callable[[], float] = time.monotonic) -> None:
        super().__init__(config)
        self._settings = DatagenConnector.CONFIG.parse(config)
        self._kind = KINDS[self._settings["quickstart"]]
        self._partition: Partition = {"task.id": int(config.get("task.id", "0"))}
        self._clock = clock
        self._begun: tuple[float, int] | None = None

    def plan(self, offsets: OffsetReader) -> Sequence[SourceRange]:
        known = offsets.offset(self._partition)
        done = 0 if known is None else int(known[ITERATION])
        if self._begun is None:
            self._begun = (self._clock(), done)
        since, first = self._begun
        due = first + int((self._clock() - since) * self._rate())
        limit = self._settings["iterations"]
        end = min(due, done + _LARGEST_BATCH, due if limit < 0 else limit)
        return () if end <= done else (SourceRange(self._partition, known, {ITERATION: end}),)

    def _rate(self) -> float:
        """Records a second."""
        given = self._settings["rate"]
        return float(given) if given is not None else 1000 / self._settings["max.interval"]

    def read(self, wanted: SourceRange) -> Iterator[SourceRecord]:
        topic, kind, task = self._settings["kafka.topic"], self._kind, wanted.partition["task.id"]
        key_field = self._settings["schema.keyfield"] or kind.key_field
        begin = 0 if wanted.start is None else int(wanted.start[ITERATION])
        now = time.time_ns() // 1_000_000
        for number in range(begin, int(wanted.end[ITERATION])):
            value = kind.value(random.Random(f"{self._settings['random.seed']}-{task}-{number}"), number, now)
            key = str(value.get(key_field))
            yield SourceRecord(
                topic, None, STRING_SCHEMA, key, kind.schema, value, now, source_partition=wanted.partition
            )


def _a_rate(key: str, value: Any) -> None:
    if value is not None:
        Range(at_least=0.001)(key, value)


class DatagenConnector(SourceConnector):
    """Makes up records."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(name="kafka.topic", validator=NonEmpty(), importance=Importance.HIGH, doc="The topic to write to."),
        ConfigKey(
            name="quickstart",
            default="users",
            validator=OneOf(*KINDS),
            importance=Importance.HIGH,
            doc="What the records are about.",
        ),
        ConfigKey(
            name="max.interval",
            type=ConfigType.LONG,
            default=500,
            validator=Range(at_least=1),
            importance=Importance.HIGH,
            doc="Milliseconds from one record to the next.",
        ),
        ConfigKey(
            name="rate",
            type=ConfigType.DOUBLE,
            default=None,
            validator=Check(_a_rate, "[0.001,...]"),
            importance=Importance.MEDIUM,
            doc="Records a second of each task; counts instead of max.interval where it is set.",
        ),
        ConfigKey(
            name="iterations",
            type=ConfigType.LONG,
            default=-1,
            importance=Importance.HIGH,
            doc="Records of each task, after which it rests; -1 is no end.",
        ),
        ConfigKey(
            name="schema.keyfield",
            default="",
            importance=Importance.MEDIUM,
            doc="The field whose text is the key; what the kind of records has for it if it is not set.",
        ),
        ConfigKey(
            name="random.seed",
            type=ConfigType.LONG,
            default=0,
            importance=Importance.LOW,
            doc="Another number gives other records.",
        ),
    )
    TASK: ClassVar[type[SourceTask]] = DatagenTask

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        kind, key_field = KINDS[self.settings["quickstart"]], self.settings["schema.keyfield"]
        if key_field and kind.schema.field(key_field) is None:
            names = ", ".join(field.name for field in kind.schema.fields)
            raise ConfigError(
                f"The records of {self.settings['quickstart']} have no field {key_field}",
                key="schema.keyfield",
                hint=f"They have {names}.",
            )

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """As many tasks as allowed, each with records of its own."""
        configs: list[dict[str, Any]] = [{**self.config, "task.id": str(task)} for task in range(max_tasks)]
        return configs
