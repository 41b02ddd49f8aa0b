"""What converters have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef
from penstock.connect.data import Schema, SchemaAndValue

Read = Callable[["bytes | None"], "tuple[Schema | None, Any]"]
ColumnRead = tuple["Schema | None", Callable[["bytes | None"], Any]]
Write = Callable[["Schema | None", Any], "bytes | None"]


class HeaderConverter(ABC):
    """Turns header values into bytes and back.

    Args:
        settings: Settings of the converter, without the prefix `header.converter.`.
    """

    CONFIG: ClassVar[ConfigDef] = ConfigDef()

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        self.settings = self.CONFIG.parse(settings or {})

    @abstractmethod
    def from_connect_header(self, topic: str, name: str, schema: Schema | None, value: Any) -> bytes | None:
        """The bytes of a header's value.

        Raises:
            DataError: The value cannot be written.
        """

    @abstractmethod
    def to_connect_header(self, topic: str, name: str, data: bytes | None) -> SchemaAndValue:
        """The value of a header's bytes.

        Raises:
            DataError: The bytes cannot be read.
        """


class Converter(HeaderConverter):
    """Turns keys or values into bytes and back. Every converter can be used for headers too.

    Args:
        settings: Settings of the converter, without the prefix `key.converter.` or `value.converter.`.
        is_key: Whether it converts keys.
    """

    def __init__(self, settings: Mapping[str, Any] | None = None, *, is_key: bool = False) -> None:
        super().__init__(settings)
        self.is_key = is_key

    @abstractmethod
    def from_connect_data(self, topic: str, schema: Schema | None, value: Any) -> bytes | None:
        """The bytes of a value; None for null.

        Raises:
            DataError: The value cannot be written.
        """

    @abstractmethod
    def to_connect_data(self, topic: str, data: bytes | None) -> SchemaAndValue:
        """The value of some bytes.

        Raises:
            DataError: The bytes cannot be read.
        """

    def reader(self, topic: str) -> Read:
        """A function that does what `to_connect_data` does, for a loop over the records of one topic."""
        return partial(self.to_connect_data, topic)

    def column_reader(self, topic: str) -> ColumnRead | None:
        """The schema that all values have and a function for each of them; None if each value has its own schema.

        The function is for the usual case: where it raises anything, `reader` decides.
        """
        return None

    def writer(self, topic: str) -> Write:
        """A function that does what `from_connect_data` does, for a loop over the records of one topic."""
        return partial(self.from_connect_data, topic)

    def write_all(self, topic: str, schema: Schema | None, values: Sequence[Any]) -> Sequence[bytes | None]:
        """What `from_connect_data` gives for each of some values of one schema."""
        write = self.writer(topic)
        return [write(schema, value) for value in values]

    def from_connect_header(self, topic: str, name: str, schema: Schema | None, value: Any) -> bytes | None:
        return self.from_connect_data(topic, schema, value)

    def to_connect_header(self, topic: str, name: str, data: bytes | None) -> SchemaAndValue:
        return self.to_connect_data(topic, data)
