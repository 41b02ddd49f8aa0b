"""A file in the making, and beside it those of keys and headers if they are wanted."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.connect.connectors.storage.delivery import Delivery, NewFile
from penstock.connect.connectors.storage.formats.format import Format, FormatWriter
from penstock.connect.data import Schema, SinkRecord
from penstock.connect.errors import DataError


@dataclass(frozen=True, slots=True)
class Part:
    """What of a record goes into one file.

    Attributes:
        extension: End of the file's name.
        format: How it is written.
        schema: Finds the schema of a record's part.
        value: Finds the part.
    """

    extension: str
    format: Format
    schema: Callable[[SinkRecord], Schema | None]
    value: Callable[[SinkRecord], Any]


class OutputFile:
    """Records of one folder, since the last time files were completed.

    Args:
        folder: The folder.
        parts: What is written of each record.
        first: The first record: its schemas are those of the file.
        delivery: Makes the files.
    """

    def __init__(self, folder: str, parts: list[Part], first: SinkRecord, delivery: Delivery) -> None:
        self.folder = folder
        self.schema = first.value_schema
        self.key_schema = first.key_schema
        self.staged: list[SinkRecord] = []
        self.first = 0
        self.last = -1
        self.count = 0
        self._parts = parts
        self._delivery = delivery
        self.new: list[NewFile] = []
        self._writers: list[FormatWriter] = []

    @property
    def tags(self) -> dict[str, str]:
        """What is in it."""
        return {"startOffset": str(self.first), "endOffset": str(self.last), "recordCount": str(self.count)}

    @property
    def extensions(self) -> list[str]:
        """The ends of the names of its files."""
        return [part.extension for part in self._parts]

    @property
    def size(self) -> int:
        """Bytes of data, before compression."""
        return sum(writer.size for writer in self._writers)

    @property
    def memory(self) -> int:
        """Bytes that are not in the files yet."""
        return sum(writer.memory() for writer in self._writers)

    def spill(self) -> None:
        """Write what is in memory."""
        for writer in self._writers:
            writer.spill()

    def write(self) -> list[tuple[SinkRecord, Exception]]:
        """Write the staged records; those that cannot be written are given back, with the reason."""
        records, self.staged = self.staged, []
        refused: list[tuple[SinkRecord, Exception]] = []
        try:
            encoded = self._encode(records)
        except DataError:
            records, refused = self._sort_out(records)
            encoded = self._encode(records) if records else []
        if records:
            self._append(encoded, _offset(records[0]), _offset(records[-1]), len(records))
        return refused

    def write_values(self, first: SinkRecord, values: Sequence[Any], last: int) -> bool:
        """Write values of records of which nothing else is written.

        Args:
            first: The first of the records.
            values: All of their values.
            last: The offset of the last one.

        Returns:
            False if nothing was written, because one of them cannot be.
        """
        try:
            if not self._writers:
                self._open(first)
            encoded = self._writers[0].encode(values)
        except DataError:
            return False
        self._append([encoded], _offset(first), last, len(values))
        return True

    def _append(self, encoded: list[Any], first: int, last: int, count: int) -> None:
        for writer, data in zip(self._writers, encoded, strict=True):
            writer.append(data)
        if self.last < 0:
            self.first = first
        self.last = last
        self.count += count

    def _encode(self, records: list[SinkRecord]) -> list[Any]:
        if not self._writers:
            self._open(records[0])
        return [
            writer.encode(list(map(part.value, records)))
            for part, writer in zip(self._parts, self._writers, strict=True)
        ]

    def _open(self, first: SinkRecord) -> None:
        for part in self._parts:
            part.format.check(part.schema(first))
        for part in self._parts:
            self.new.append(self._delivery.create(part.extension))
            self._writers.append(part.format.open(self.new[-1].file, part.schema(first)))

    def _sort_out(self, records: list[SinkRecord]) -> tuple[list[SinkRecord], list[tuple[SinkRecord, Exception]]]:
        good: list[SinkRecord] = []
        bad: list[tuple[SinkRecord, Exception]] = []
        for record in records:
            try:
                self._encode([record])
            except DataError as error:
                bad.append((record, error))
            else:
                good.append(record)
        return good, bad

    def finish(self) -> None:
        """End the files' content."""
        for writer in self._writers:
            writer.close()

    def discard(self) -> None:
        """Throw everything away."""
        for writer in self._writers:
            writer.abandon()
        self._delivery.discard(self.new)


def _offset(record: SinkRecord) -> int:
    return record.offset if record.original_offset is None else record.original_offset
