"""Where the records of a partition belong; those that belong nowhere are sorted out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from operator import countOf, itemgetter

from penstock.connect.api import TopicPartition
from penstock.connect.connectors.storage.file_names import FileNames
from penstock.connect.connectors.storage.partitioners.partitioner import Partitioned, Partitioner, PartitionError
from penstock.connect.data import SinkColumns, SinkRecord
from penstock.connect.errors import DataError

_TOPIC, _VALUE_SCHEMA, _VALUE = (itemgetter(place) for place in (0, 4, 5))
_ORIGIN = itemgetter(10, 11, 12)
NoneType = type(None)
Refused = list[tuple[SinkRecord, Exception]]


class Rows:
    """Records with their folders.

    Attributes:
        records: The records.
        folders: The folder of each.
        times: The time of each, if files are divided by it.
    """

    __slots__ = ("_is_mixed", "_is_one_folder", "folders", "records", "times")

    def __init__(
        self,
        records: Sequence[SinkRecord],
        folders: Sequence[str],
        times: Sequence[int] | None,
        *,
        is_mixed: bool = False,
        is_one_folder: bool = False,
    ) -> None:
        self.records = records
        self.folders = folders
        self.times = times
        self._is_mixed = is_mixed
        self._is_one_folder = is_one_folder

    def __len__(self) -> int:
        return len(self.records)

    def is_uniform(self, start: int, stop: int) -> bool:
        """Whether records have the same folder and the same schema."""
        if self._is_mixed or stop <= start:
            return False
        if not self._is_one_folder and len(set(self.folders[start:stop])) > 1:
            return False
        # countOf takes what is the same for equal before it compares.
        schemas = map(_VALUE_SCHEMA, self.records[start:stop])
        return countOf(schemas, _VALUE_SCHEMA(self.records[start])) == stop - start

    def mixed(self) -> Rows:
        """The same, to be looked at one by one."""
        return Rows(self.records, self.folders, self.times, is_mixed=True)


class PartitionInput:
    """Finds the folders of records.

    Args:
        partitioner: Divides records.
        names: Makes paths of folders.
        name_problem: Says why the store can have no file of a path.
        extension: The longest end of files' names.
        nulls: What becomes of records without value: fail, ignore or write.
        tombstone_folder: Where they are written.
        with_times: Whether the times of records are wanted.
        with_keys: Whether keys are written, too: then their schemas have to be looked at.
    """

    def __init__(
        self,
        partitioner: Partitioner,
        names: FileNames,
        *,
        name_problem: Callable[[str], str | None],
        extension: str,
        nulls: str,
        tombstone_folder: str,
        with_times: bool,
        with_keys: bool,
    ) -> None:
        self._partitioner = partitioner
        self._names = names
        self._name_problem = name_problem
        self._extension = extension
        self._nulls = nulls
        self._tombstones = tombstone_folder
        self._with_times = with_times
        self._with_keys = with_keys

    def folder_of_all(self, columns: SinkColumns) -> str | None:
        """The folder of records that need no look at each of them: all have values of one schema, and belong together."""
        if self._with_keys or self._with_times:
            return None
        schemas = columns.value_schemas
        if schemas.count(schemas[0]) < len(schemas) or NoneType in set(map(type, columns.values)):
            return None
        try:
            found = self._partitioner.folder_of_all(columns)
        except DataError:
            return None  # which of them it is, is told one by one
        if found is None:
            return None
        folder = self._names.folder(columns.topic, found)
        at = TopicPartition(columns.topic, columns.partition)
        return None if self._unfit([folder], at, columns.offsets[-1]) else folder

    def rows(self, records: list[SinkRecord]) -> tuple[Rows, Refused]:
        """Records with their folders, and those that cannot be written, with the reason."""
        refused: Refused = []
        with_value = records
        if NoneType in set(map(type, map(_VALUE, records))):  # not `None in`: that would ask each value if it is equal
            if self._nulls == "write":
                return self._with_tombstones(records)
            with_value = [record for record in records if record.value is not None]
            if self._nulls == "fail":
                error = DataError("The value is null", hint="behavior.on.null.values=ignore leaves such records out.")
                refused = [(record, error) for record in records if record.value is None]
        try:
            found = self._partitioner.partition(with_value)
        except DataError:
            found, with_value = self._one_by_one(with_value, refused)
        return self._rows(with_value, found, refused), refused

    def _one_by_one(self, records: Sequence[SinkRecord], refused: Refused) -> tuple[Partitioned, list[SinkRecord]]:
        good: list[SinkRecord] = []
        folders: list[str] = []
        times: list[int] = []
        for record in records:
            try:
                one = self._partitioner.partition([record])
            except DataError as error:
                refused.append((record, error))
                continue
            good.append(record)
            folders += one.folders
            times += one.timestamps or ()
        return Partitioned(folders, times if len(times) == len(good) else None), good

    def _with_tombstones(self, records: list[SinkRecord]) -> tuple[Rows, Refused]:
        refused: Refused = []
        good: list[SinkRecord] = []
        folders: list[str] = []
        times: list[int] = []
        for record in records:
            if record.value is None:
                one = Partitioned([self._tombstones], [record.timestamp or 0])
            else:
                found, kept = self._one_by_one([record], refused)
                if not kept:
                    continue
                one = found
            good.append(record)
            folders += one.folders
            times += one.timestamps or ()
        return self._rows(good, Partitioned(folders, times if len(times) == len(good) else None), refused), refused

    def _rows(self, records: Sequence[SinkRecord], found: Partitioned, refused: Refused) -> Rows:
        is_one = False
        topics = set(map(_TOPIC, records))
        if len(topics) == 1:
            topic = next(iter(topics))
            paths = {folder: self._names.folder(topic, folder) for folder in set(found.folders)}
            if len(paths) == 1:
                folders, is_one = list(paths.values()) * len(records), True
            else:
                folders = list(map(paths.__getitem__, found.folders))
        else:
            pairs = zip(map(_TOPIC, records), found.folders, strict=True)
            folders = [self._names.folder(topic, folder) for topic, folder in pairs]
        times = found.timestamps if self._with_times else None
        unfit = {}
        if records:
            origin, partition, offset = _ORIGIN(records[-1])
            unfit = self._unfit(folders[:1] if is_one else set(folders), TopicPartition(origin, partition), offset)
        if unfit:
            refused += [(record, unfit[at]) for record, at in zip(records, folders, strict=True) if at in unfit]
            kept = [index for index, at in enumerate(folders) if at not in unfit]
            records, folders = [records[index] for index in kept], [folders[index] for index in kept]
            times = None if times is None else [times[index] for index in kept]
        return Rows(records, folders, times, is_mixed=self._with_keys, is_one_folder=is_one)

    def _unfit(self, folders: Iterable[str], at: TopicPartition, offset: int) -> dict[str, PartitionError]:
        """The folders that the store cannot have: found out when files are renamed, it would be too late."""
        unfit = {}
        for folder in folders:
            path = self._names.file(folder, at, offset, offset, self._extension)
            if (problem := self._name_problem(path)) is not None:
                unfit[folder] = PartitionError(
                    f"There can be no file for the record: {problem}",
                    hint="Divide by other fields, or shorten the value with a transform.",
                )
        return unfit
