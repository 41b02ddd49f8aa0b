"""FileStreamSource: each line of a file becomes a record."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from penstock.connect.api import Offset, OffsetReader, Partition, SourceConnector, SourceRange, SourceTask
from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import NonEmpty
from penstock.connect.connectors.line_file import LineFile, LinePosition
from penstock.connect.data import STRING_SCHEMA, SourceRecord
from penstock.connect.errors import ConfigError, ConnectError
from penstock.connect.failures.clock import SystemClock

FILE = "file"
TOPIC = "topic"
BATCH_SIZE = "batch.size"
FILENAME = "filename"
POSITION = "position"


class FileStreamSourceTask(SourceTask):
    """Reads one file."""

    idle_ms = 1000

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        settings = FileStreamSourceConnector.CONFIG.parse(config)
        self._topic: str = settings[TOPIC]
        self._file = LineFile(settings[FILE])
        self._partition: Partition = {FILENAME: settings[FILE]}

    def plan(self, offsets: OffsetReader) -> Sequence[SourceRange]:
        known = offsets.offset(self._partition)
        found = self._file.plan(None if known is None else LinePosition.of(known))
        if found is None:
            return ()
        start, end = found
        return (SourceRange(self._partition, start.offset(), end.offset()),)

    def read(self, wanted: SourceRange) -> Iterator[SourceRecord]:
        start, end = LinePosition.of(wanted.start or {}), LinePosition.of(wanted.end)
        clock = SystemClock()
        file = LineFile(str(wanted.partition[FILENAME]))  # a range planned before the setting was changed is still good
        for lines in file.read(start, end):
            now = clock.now_ms()
            for line in lines:
                yield SourceRecord(
                    self._topic, None, None, None, STRING_SCHEMA, line, now, source_partition=wanted.partition
                )


class FileStreamSourceConnector(SourceConnector):
    """Reads the lines of a file, and waits for further ones."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name=FILE,
            default=None,
            importance=Importance.HIGH,
            doc="The file to read. Kafka reads the standard input if it is not set, which a worker on Spark has not.",
        ),
        ConfigKey(
            name=TOPIC,
            validator=NonEmpty(),
            importance=Importance.HIGH,
            doc="The topic to write to.",
        ),
        ConfigKey(
            name=BATCH_SIZE,
            type=ConfigType.INT,
            default=2000,
            importance=Importance.LOW,
            doc="The most lines of one poll in Kafka. Here a batch has what there is, up to some megabytes.",
        ),
    )
    TASK: ClassVar[type[SourceTask]] = FileStreamSourceTask

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        if not self.settings[FILE]:
            raise ConfigError(
                "The setting file is missing: a worker on Spark cannot read the standard input",
                key=FILE,
                hint="Set file to the path of a file.",
            )

    @classmethod
    def alter_offsets(
        cls, config: Mapping[str, str], offsets: Iterable[tuple[Partition | None, Offset | None]]
    ) -> None:
        if not config.get(FILE):
            raise ConnectError("No 'file' configuration found in connector config")
        for partition, offset in offsets:
            if offset is None:
                continue  # forgets a part, whatever it is called
            if POSITION not in offset:
                raise ConnectError("Offset objects should either be null or contain the key 'position'")
            position = offset[POSITION]
            if not isinstance(position, int) or isinstance(position, bool):
                raise ConnectError("The value for the 'position' key in the offset is expected to be a Long value")
            if position < 0:
                raise ConnectError("The value for the 'position' key in the offset should be a non-negative value")
            if partition is None:
                raise ConnectError("Partition objects cannot be null")
            if FILENAME not in partition:
                raise ConnectError("Partition objects should contain the key 'filename'")
