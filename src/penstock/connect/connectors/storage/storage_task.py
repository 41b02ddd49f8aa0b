"""The task of every storage sink."""

from __future__ import annotations

import logging
import time
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterator, Mapping
from itertools import groupby
from operator import itemgetter
from typing import Any, ClassVar

from penstock.connect.api import SinkTask, TopicPartition
from penstock.connect.config import ConfigDef
from penstock.connect.connectors.storage.delivery import Delivery
from penstock.connect.connectors.storage.file_names import FileNames
from penstock.connect.connectors.storage.partition_input import PartitionInput
from penstock.connect.connectors.storage.partition_writer import PartitionWriter, Writing
from penstock.connect.connectors.storage.partitioners.registry import PARTITIONERS
from penstock.connect.connectors.storage.record_parts import tombstone_parts, value_parts
from penstock.connect.connectors.storage.rotation import Rotation
from penstock.connect.connectors.storage.schema_compatibility import SchemaCompatibility
from penstock.connect.connectors.storage.stores.store import ObjectStore
from penstock.connect.data import SinkColumns, SinkRecord
from penstock.connect.errors import RetriableError

log = logging.getLogger("penstock.connect")

# The process of a task ends when nobody asks for it for a minute, and with it files that are not complete.
_WAKE_MS, _RETRY_MS = 30_000, 1000
_MEMORY_BYTES = 256 << 20
_PLACE: Callable[[SinkRecord], tuple[Any, Any]] = itemgetter(10, 11)
_TOPIC, _PARTITION, _OFFSET = itemgetter(10), itemgetter(11), itemgetter(12)


def _now() -> int:
    return int(time.time() * 1000)


class StorageSinkTask(SinkTask):
    """Gathers records into files. What is not complete when it ends is given again to the next one.

    Args:
        config: The task's configuration.
    """

    CONFIG: ClassVar[ConfigDef]
    NAMES_HAVE_END: ClassVar[bool]
    # What the store's names cannot have.
    ENCODED: ClassVar[str] = ""

    clock: Callable[[], int] = staticmethod(_now)

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._settings = storage_settings(self.CONFIG.parse(config))
        self._names = FileNames(self._settings, with_end=self.NAMES_HAVE_END, encoded=self.ENCODED)
        self._writers: dict[TopicPartition, PartitionWriter] = {}
        self._ends: dict[TopicPartition, int] = {}

    @property
    def settings(self) -> Mapping[str, Any]:
        """The settings, with their defaults."""
        return self._settings

    @abstractmethod
    def open_store(self) -> ObjectStore:
        """The place for files."""

    @abstractmethod
    def delivery(self, store: Any, names: FileNames, at: TopicPartition) -> Delivery:
        """The way there, for one partition."""

    def start(self) -> None:
        settings = self._settings
        self._store = self.open_store()
        self._store.check()
        partitioner = PARTITIONERS.find(settings["partitioner.class"])(settings)
        rotation = Rotation.of(settings)
        if rotation.interval_ms is not None and not partitioner.is_time_based:
            log.warning(
                "rotate.interval.ms has no effect with %s, which does not ask for times", type(partitioner).__name__
            )
        values, tombstones = value_parts(settings), tombstone_parts(settings)
        self._writing = Writing(
            input=PartitionInput(
                partitioner,
                self._names,
                name_problem=self._store.name_problem,
                extension=max((part.extension for part in (*values, *tombstones)), key=len),
                nulls=settings["behavior.on.null.values"],
                tombstone_folder=settings["tombstone.encoded.partition"],
                with_keys=settings["store.kafka.keys"],
                with_times=partitioner.is_time_based and rotation.interval_ms is not None,
            ),
            values=values,
            tombstones=tombstones,
            names=self._names,
            rotation=rotation,
            compatibility=SchemaCompatibility(settings["schema.compatibility"], settings["schema.cache.size"]),
            clock=self._time,
            report=self._report,
            write_failure=self._store.write_failure,
        )

    # Called late: a test may give the task another clock or context at any time.
    def _time(self) -> int:
        return self.clock()

    def _report(self, record: SinkRecord, error: Exception) -> None:
        self.context.report(record, error)

    def open(self, partitions: Collection[TopicPartition]) -> None:
        for at in partitions:
            old = self._writers.pop(at, None)
            if old is not None:
                old.discard()
            self._ends.pop(at, None)
            self._writers[at] = PartitionWriter(at, self._writing, self.delivery(self._store, self._names, at))

    def put(self, records: list[SinkRecord]) -> None:
        for at, found in _by_partition(records):
            self._writer(at).put(found)
        self._limit_memory()

    def put_columns(self, columns: SinkColumns) -> None:
        if columns.offsets:
            self._writer(TopicPartition(columns.topic, columns.partition)).put_columns(columns)
            self._limit_memory()

    def _writer(self, at: TopicPartition) -> PartitionWriter:
        if at not in self._writers:
            self.open([at])
        return self._writers[at]

    def _limit_memory(self) -> None:
        """Write what waits in memory if it is much altogether; formats keep some for each open file."""
        files = [file for writer in self._writers.values() for file in writer.files]
        waiting = sum(file.memory for file in files)
        for file in sorted(files, key=lambda one: one.memory, reverse=True):
            if waiting <= _MEMORY_BYTES:
                return
            waiting -= file.memory
            try:
                file.spill()
            except OSError as error:
                raise self._store.write_failure(error) from error

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        self._ends.update(offsets)
        for at, writer in self._writers.items():
            try:
                writer.rotate_if_due()
            except RetriableError as error:
                # Failing here would throw the files away. They stay, and with them the offset to go on at.
                log.warning("Files of %s-%d cannot be written now: %s", at.topic, at.partition, error)
        return {at: self._writers[at].safe(end) if at in self._writers else end for at, end in self._ends.items()}

    @property
    def wake_ms(self) -> int | None:
        now = self.clock()
        if any(writer.is_waiting for writer in self._writers.values()):
            return _RETRY_MS
        due = [writer.due for writer in self._writers.values() if writer.due is not None]
        return min(max(min(due) - now, 0), _WAKE_MS) if due else None

    def stop(self) -> None:
        for writer in self._writers.values():
            writer.discard()
        self._writers = {}
        store = getattr(self, "_store", None)
        if store is not None:
            store.close()


def storage_settings(parsed: Mapping[str, Any]) -> dict[str, Any]:
    """Settings by the names formats know, whatever the connector calls them."""
    settings = dict(parsed)
    for name in ("compression.type", "compression.level"):
        settings.setdefault(name, settings.get(f"s3.{name}"))
    return settings


def _by_partition(records: list[SinkRecord]) -> Iterator[tuple[TopicPartition, list[SinkRecord]]]:
    """Records by where they are from; a worker gives those of one partition at a time."""
    topics, partitions = set(map(_TOPIC, records)), set(map(_PARTITION, records))
    if len(topics) == len(partitions) == 1 and None not in topics | partitions and None not in map(_OFFSET, records):
        yield TopicPartition(topics.pop(), partitions.pop()), records
        return
    for at, found in groupby(map(_with_origin, records), _PLACE):
        yield TopicPartition(*at), list(found)


def _with_origin(record: SinkRecord) -> SinkRecord:
    """A record that says where it is from, as those from a worker do."""
    return record.new_record(
        original_topic=record.topic if record.original_topic is None else record.original_topic,
        original_partition=record.partition if record.original_partition is None else record.original_partition,
        original_offset=record.offset if record.original_offset is None else record.original_offset,
    )
