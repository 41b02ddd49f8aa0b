"""What a partitioner is: it says in which folder of a topic a record's file is."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, ClassVar, NamedTuple

from penstock.connect.data import SinkColumns, SinkRecord
from penstock.connect.errors import DataError


class PartitionError(DataError):
    """A record that belongs into no folder."""

    java_name: ClassVar[str] = "io.confluent.connect.storage.errors.PartitionException"


class Partitioned(NamedTuple):
    """Where records belong.

    Attributes:
        folders: The folder of each record, below that of its topic.
        timestamps: The time of each record; None where the partitioner asks for none.
    """

    folders: Sequence[str]
    timestamps: Sequence[int] | None = None


class Partitioner(ABC):
    """Divides records into folders.

    Args:
        settings: The settings of the connector.
    """

    # Whether records are divided by time, which `rotate.interval.ms` needs.
    is_time_based: ClassVar[bool] = False

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings

    def __init_subclass__(cls, **given: Any) -> None:
        """Who divides otherwise does not inherit the short way of its base."""
        super().__init_subclass__(**given)
        if vars(cls).keys() & {"folder", "partition"} and "folder_of_all" not in vars(cls):
            cls.folder_of_all = Partitioner.folder_of_all  # type: ignore[method-assign]

    @abstractmethod
    def folder(self, record: SinkRecord) -> str:
        """The folder of a record: `partition=0`.

        Raises:
            PartitionError: There is none.
        """

    def partition(self, records: Sequence[SinkRecord]) -> Partitioned:
        """The folders of records; overridden where that is faster than one by one.

        Raises:
            PartitionError: One of them has none.
        """
        return Partitioned([self.folder(record) for record in records])

    def folder_of_all(self, columns: SinkColumns) -> str | None:
        """The folder of all records of a partition, where that is to be seen without a look at each of them.

        Raises:
            PartitionError: One of them has none.
        """
        return None


def safe_name(text: str) -> str:
    """A text as the name of one folder: what would lead elsewhere is written as its hexadecimal code, as Hive does it.

    >>> safe_name("a/b"), safe_name(".."), safe_name("São Paulo")
    ('a%2Fb', '%2E%2E', 'São Paulo')
    """
    if text in {".", ".."}:
        return text.replace(".", "%2E")
    if "/" not in text and "\\" not in text and text.isprintable():
        return text
    return "".join(char if char.isprintable() and char not in "/\\" else hex_code(char) for char in text)


def hex_code(char: str) -> str:
    """A character as its hexadecimal code.

    >>> hex_code(":")
    '%3A'
    """
    return "".join(f"%{byte:02X}" for byte in char.encode("utf-8", "surrogatepass"))
