"""Writes the records of one partition into files."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from penstock.connect.api import TopicPartition
from penstock.connect.connectors.storage.delivery import Delivery, NewFile
from penstock.connect.connectors.storage.file_names import FileNames
from penstock.connect.connectors.storage.output_file import OutputFile, Part
from penstock.connect.connectors.storage.partition_input import PartitionInput, Refused, Rows
from penstock.connect.connectors.storage.replay import Replay
from penstock.connect.connectors.storage.rotation import MAX_OPEN_FILES, SIZE_STEP, Rotation
from penstock.connect.connectors.storage.schema_compatibility import Fit, SchemaCompatibility
from penstock.connect.data import SinkColumns, SinkRecord
from penstock.connect.errors import DataError

Report = Callable[[SinkRecord, Exception], None]
_offset: Callable[[SinkRecord], Any] = itemgetter(12)


@dataclass(frozen=True, slots=True)
class Writing:
    """What all partitions of a task share.

    Attributes:
        input: Finds where records belong.
        values: What is written of a record.
        tombstones: What is written of a record without value.
        names: What files are called.
        rotation: When they are complete.
        compatibility: What becomes of records with another schema.
        clock: Milliseconds since the epoch.
        report: Told of records that cannot be written.
        write_failure: What a failure to write means.
    """

    input: PartitionInput
    values: list[Part]
    tombstones: list[Part]
    names: FileNames
    rotation: Rotation
    compatibility: SchemaCompatibility
    clock: Callable[[], int]
    report: Report
    write_failure: Callable[[OSError], Exception]


class PartitionWriter:
    """Files of one partition. They are completed together, so that there is one offset below which everything is safe.

    Args:
        at: The partition.
        writing: How to write.
        delivery: Brings files to the store.
    """

    def __init__(self, at: TopicPartition, writing: Writing, delivery: Delivery) -> None:
        self._at = at
        self._writing = writing
        self._delivery = delivery
        self._files: dict[str, OutputFile] = {}
        self._count = 0
        self._begin: int | None = None
        self._first_time: int | None = None
        self._folder = ""
        self._due: int | None = None
        self._finished: list[NewFile] | None = None
        reached = delivery.open()
        self._replay = Replay(at, reached)
        # Records below are in a file, complete or not.
        self._position = reached.end
        self._last: SinkRecord | None = None

    @property
    def due(self) -> int | None:
        """When the clock completes the open files; None if it does not."""
        return self._due if self._begin is not None else None

    @property
    def is_waiting(self) -> bool:
        """Whether complete files could not be delivered yet."""
        return self._finished is not None

    @property
    def files(self) -> list[OutputFile]:
        """The open files."""
        return list(self._files.values())

    def safe(self, end: int) -> int:
        """The offset below which everything is safe, given that records were taken up to `end`."""
        return end if self._begin is None else self._begin

    def put(self, records: list[SinkRecord]) -> None:
        """Write records; those that were written before are left out.

        Raises:
            RetriableError: Files cannot be delivered now. What was written stays written.
            ConnectError: What was written before were other records.
        """
        if self._finished is not None:
            self._deliver()
        self.rotate_if_due()
        if records and _offset(records[0]) < self._position:
            self._replay.look(records)
            records = [record for record in records if _offset(record) >= self._position]
        if not records:
            return
        self._replay.begin(records[0])
        rows, refused = self._writing.input.rows(records)
        index = 0
        while index < len(rows):
            room = self._writing.rotation.room(self._count, len(rows) - index)
            stop, is_full = self._stage(rows, index, index + room)
            self._write_staged()
            if stop > index:
                self._pass(rows.records[stop - 1])
            index = stop
            if is_full or self._is_full():
                refused = self._reported(refused)
                self.rotate()
        self._pass(records[-1])
        self._reported(refused)

    def put_columns(self, columns: SinkColumns) -> None:
        """Write records; those that are alike without a look at each of them.

        Measured: the looks at records take a third of the time that Parquet takes with them.
        """
        self.rotate_if_due()
        done = 0
        if len(self._writing.values) == 1 and columns.offsets[0] >= self._position:
            folder = self._writing.input.folder_of_all(columns)
            done = 0 if folder is None else self._put_alike(folder, columns)
        if done < len(columns.offsets):
            self.put(columns.part(done).records())

    def _put_alike(self, folder: str, columns: SinkColumns) -> int:
        """Write records of one folder and one schema; how many, until there is one that `put` has to look at."""
        index, count = 0, len(columns.offsets)
        while index < count:
            stop = index + self._writing.rotation.room(self._count, count - index)
            first, last = columns.part(index, index + 1).records()[0], columns.part(stop - 1, stop).records()[0]
            file = self._files.get(folder)
            if file is None:
                accepted = self._accepted(folder, first)
                file = None if accepted is None else accepted[0]
            if file is None or file.schema is not first.value_schema:
                return index
            self._replay.begin(first)
            self._begun(first, None)
            try:
                if not file.write_values(first, columns.values[index:stop], _offset(last)):
                    return index
            except OSError as error:
                raise self._writing.write_failure(error) from error
            self._count += stop - index
            self._pass(last)
            index = stop
            if self._is_full():
                self.rotate()
        return count

    def _pass(self, record: SinkRecord) -> None:
        """Everything up to a record is in a file, or refused."""
        self._position, self._last = _offset(record) + 1, record

    def _reported(self, refused: Refused) -> Refused:
        """Report the records that were passed; the others. If files cannot be delivered, those behind come again."""
        for record, error in refused:
            if _offset(record) < self._position:
                self._writing.report(record, error)
        return [one for one in refused if _offset(one[0]) >= self._position]

    def _stage(self, rows: Rows, start: int, stop: int) -> tuple[int, bool]:
        """Hand records to their files; how far, and whether files have to be completed before the next one."""
        if rows.times is None and rows.is_uniform(start, stop):
            return self._stage_all(rows, start, stop)
        interval = self._writing.rotation.interval_ms
        for index in range(start, stop):
            record, folder = rows.records[index], rows.folders[index]
            if rows.times is not None and self._begin is not None:
                assert self._first_time is not None
                assert interval is not None
                if rows.times[index] - self._first_time >= interval or folder != self._folder:
                    return index, True
            try:
                accepted = self._accepted(folder, record)
            except DataError as error:
                self._writing.report(record, error)
                continue
            if accepted is None:
                return index, True
            file, fitting = accepted
            self._begun(record, rows.times[index] if rows.times is not None else None)
            self._folder = folder
            file.staged.append(fitting)
            self._count += 1
        return stop, False

    def _stage_all(self, rows: Rows, start: int, stop: int) -> tuple[int, bool]:
        """The same for records of one folder and one schema."""
        first = rows.records[start]
        file = self._files.get(rows.folders[start])
        if file is not None and file.schema is not first.value_schema:
            return self._stage(rows.mixed(), start, stop)
        accepted = self._accepted(rows.folders[start], first)
        if accepted is None:
            return start, True
        self._begun(first, None)
        accepted[0].staged.extend(rows.records[start:stop])
        self._count += stop - start
        return stop, False

    def _begun(self, record: SinkRecord, time: int | None) -> None:
        if self._begin is None:
            self._begin = _offset(record)
            self._first_time = time
            self._due = self._writing.rotation.next_scheduled(self._writing.clock())

    def _accepted(self, folder: str, record: SinkRecord) -> tuple[OutputFile, SinkRecord] | None:
        """The file for a record, and the record as it fits there; None if files have to be completed before.

        Raises:
            DataError: The record fits nowhere.
        """
        file = self._files.get(folder)
        if file is None:
            if len(self._files) >= MAX_OPEN_FILES:
                return None
            parts = self._writing.values if record.value is not None else self._writing.tombstones
            file = self._files[folder] = OutputFile(folder, parts, record, self._delivery)
            return file, record
        fit = self._writing.compatibility.fit(record.value_schema, file.schema)
        if len(self._writing.values) > 1 and record.key_schema != file.key_schema:
            fit = Fit.ROTATE
        if fit is Fit.ROTATE:
            return None
        if fit is Fit.PROJECT:
            assert file.schema is not None
            return file, self._writing.compatibility.projected(record, file.schema)
        return file, record

    def _write_staged(self) -> None:
        for file in self._files.values():
            if file.staged:
                try:
                    refused = file.write()
                except OSError as error:
                    raise self._writing.write_failure(error) from error
                for record, reason in refused:
                    self._writing.report(record, reason)

    def _is_full(self) -> bool:
        rotation = self._writing.rotation
        if self._count >= rotation.records:
            return True
        if rotation.file_bytes is None or self._count % SIZE_STEP:
            return False
        return sum(file.size for file in self._files.values()) >= rotation.file_bytes

    def rotate_if_due(self) -> None:
        """Complete the files if the clock says so."""
        if self._finished is not None:
            self._deliver()
        elif self.due is not None and self._writing.clock() >= self.due:
            self.rotate()

    def rotate(self) -> None:
        """Complete the open files.

        Raises:
            RetriableError: They cannot be delivered now; `put` and `rotate_if_due` try again.
        """
        self._finished = []
        try:
            for file in self._files.values():
                if not file.count:  # all of its records were refused
                    file.discard()
                    continue
                file.finish()
                for new, extension in zip(file.new, file.extensions, strict=True):
                    new.path = self._writing.names.file(file.folder, self._at, file.first, file.last, extension)
                    new.tags = file.tags
                    self._finished.append(new)
        except OSError as error:
            raise self._writing.write_failure(error) from error
        self._deliver()

    def _deliver(self) -> None:
        assert self._finished is not None
        if self._finished:
            assert self._last is not None
            self._delivery.deliver(self._finished, self._position, self._replay.marks(self._last))
        self._files, self._finished = {}, None
        self._count, self._begin, self._first_time, self._due = 0, None, None, None

    def discard(self) -> None:
        """Throw away what is not complete."""
        for file in self._files.values():
            file.discard()
        self._files, self._finished, self._begin = {}, None, None
