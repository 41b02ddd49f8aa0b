"""FileStreamSink: each record becomes a line of a file."""

from __future__ import annotations

import sys
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar

from penstock.connect.api import SinkConnector, SinkTask, TopicPartition
from penstock.connect.config import ConfigDef, ConfigKey, Importance
from penstock.connect.connectors.line_text import line_text, lines_of_maps
from penstock.connect.connectors.offset_file import OffsetFile
from penstock.connect.data import Schema, SinkColumns, SinkRecord, are_plain_maps

FILE = "file"


class FileStreamSinkTask(SinkTask):
    """Appends the text of each value to a file, each record once.

    A hidden file beside it says up to which byte the file is complete, and which offsets that stands for. It is replaced
    after the lines are written; whatever a task that died had written behind that byte is cut off by the next one.
    """

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._path: str | None = FileStreamSinkConnector.CONFIG.parse(config)[FILE]
        self._file: OffsetFile | None = None
        # Offsets that the file has of partitions of which nothing newer was seen yet: only those may repeat.
        self._written: dict[TopicPartition, int] = {}

    def start(self) -> None:
        if self._path:
            self._file = OffsetFile(self._path, self.config.get("name", ""))
            self._written = dict(self._file.offsets)

    def put(self, records: list[SinkRecord]) -> None:
        if self._file is None:
            for record in records:
                print(line_text(record.value_schema, record.value), flush=True)  # noqa: T201 - Kafka prints them, too
            return
        new = self._not_written(records) if self._written else records
        if new:
            text = _lines([record.value_schema for record in new], [record.value for record in new])
            self._file.append(text.encode())

    def put_columns(self, columns: SinkColumns) -> None:
        if self._file is None or self._written:
            super().put_columns(columns)
        else:
            self._file.append(_lines(columns.value_schemas, columns.values).encode())

    def _not_written(self, records: list[SinkRecord]) -> list[SinkRecord]:
        """The records at or behind the offsets that the file has."""
        new, position = [], self._written.get
        passed: set[Any] = set()
        for record in records:
            at: Any = (record.original_topic, record.original_partition)
            if record.original_offset is None or record.original_offset >= position(at, 0):
                new.append(record)
                passed.add(at)
        for at in passed:
            self._written.pop(at, None)
        return new

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        if self._file is not None:
            self._file.commit(offsets)
        else:
            sys.stdout.flush()

    def stop(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None


def _lines(schemas: Sequence[Schema | None], values: Sequence[Any]) -> str:
    if are_plain_maps(schemas, values):
        lines = lines_of_maps(values)
        if lines is not None:
            return lines
    return "".join([f"{line_text(schema, value)}\n" for schema, value in zip(schemas, values, strict=True)])


class FileStreamSinkConnector(SinkConnector):
    """Writes the text of each value to a line of a file."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name=FILE,
            default=None,
            importance=Importance.HIGH,
            doc="The file to write to; the standard output of the task's process if it is not set.",
        ),
    )
    TASK: ClassVar[type[SinkTask]] = FileStreamSinkTask

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        """One task: several could not take turns in one file and know what of it is theirs."""
        return [dict(self.config)]

    @classmethod
    def alter_offsets(cls, config: Mapping[str, str], offsets: Mapping[tuple[str, int], int | None]) -> None:
        path = config.get(FILE)
        if path:
            with OffsetFile(path, config.get("name", "")) as file:
                file.alter(offsets)

    @classmethod
    def reset_offsets(cls, config: Mapping[str, str]) -> None:
        path = config.get(FILE)
        if path:
            with OffsetFile(path, config.get("name", "")) as file:
                file.alter(dict.fromkeys(file.offsets))
