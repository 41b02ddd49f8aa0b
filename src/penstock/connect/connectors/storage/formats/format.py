"""What a file format is: it turns values into bytes of a file."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping, Sequence
from typing import Any, BinaryIO

from penstock.connect.data import Schema
from penstock.connect.errors import DataError


class FormatWriter(ABC):
    """Writes one file.

    Encoding comes before writing, so that a value that has no form in the format leaves no trace in the file.

    Attributes:
        size: Bytes of data written, before compression. The same values give the same number, however they are divided.
    """

    size: int = 0

    @abstractmethod
    def encode(self, values: Sequence[Any]) -> Any:
        """Values in the form that `append` takes.

        Raises:
            DataError: One of them has none.
        """

    @abstractmethod
    def append(self, encoded: Any) -> None:
        """Write what `encode` gave."""

    @abstractmethod
    def close(self) -> None:
        """Write what is left. The file itself stays open."""

    @abstractmethod
    def abandon(self) -> None:
        """Let go of the file without a word: it is thrown away."""

    def memory(self) -> int:
        """Bytes that wait in memory until there are enough of them."""
        return 0

    def spill(self) -> None:  # noqa: B027 - for those who gather
        """Write what waits in memory."""


class Format(ABC):
    """A file format with its settings.

    Args:
        settings: The settings of the connector.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self.settings = settings

    @property
    @abstractmethod
    def extension(self) -> str:
        """The end of file names: `.json`."""

    def check(self, schema: Schema | None) -> None:  # noqa: B027 - for those that do not take everything
        """Whether values of a schema can be written; None for values without one.

        Raises:
            DataError: They cannot.
        """

    @abstractmethod
    def open(self, file: BinaryIO, schema: Schema | None) -> FormatWriter:
        """A writer for values of one schema, which was checked."""


def required_schema(schema: Schema | None, name: str) -> Schema:
    """The schema.

    Raises:
        DataError: There is none, and the format needs one.
    """
    if schema is None:
        raise DataError(
            f"{name} needs values with a schema, and the record has none",
            hint="Use a converter that gives schemas (JsonConverter with schemas.enable=true), or JsonFormat.",
        )
    return schema
