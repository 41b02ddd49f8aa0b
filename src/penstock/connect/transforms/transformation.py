"""What transforms have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from typing import Any, ClassVar, Generic, TypeVar

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.data import ConnectRecord, Schema, Struct
from penstock.connect.errors import DataError

T = TypeVar("T")
Apply = Callable[[ConnectRecord], "ConnectRecord | None"]

_MAX_SCHEMAS = 1000

REPLACE_NULL_WITH_DEFAULT = ConfigKey(
    name="replace.null.with.default",
    type=ConfigType.BOOLEAN,
    default=True,
    importance=Importance.MEDIUM,
    doc="Whether a null field that has a default is replaced with it; otherwise it stays null.",
)


class Transformation(ABC):
    """Changes records one by one.

    Args:
        settings: Settings of the transform, without the prefix `transforms.<alias>.`.
    """

    CONFIG: ClassVar[ConfigDef] = ConfigDef()

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        self.settings = self.CONFIG.parse(settings or {})

    @abstractmethod
    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        """The changed record; None drops it.

        Raises:
            ConnectError: The record cannot be changed.
        """

    def compiled(self) -> Apply:
        """A function that does what `apply` does, for a loop over many records."""
        return self.apply

    def map_function(self) -> Callable[[dict[str, Any]], dict[str, Any]] | None:
        """What it does to a value that is a map without schema, if that depends on nothing else of the record and changes
        nothing else; None if there is no such function. For loops over many records.
        """
        return None

    def close(self) -> None:  # noqa: B027 - most transforms hold nothing
        """Called when the task ends."""


class KeyOrValue(Transformation):
    """A transform of keys or of values: subclasses for both say which one they work on."""

    is_key: ClassVar[bool] = False

    @abstractmethod
    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        """The changed schema and value.

        Args:
            record: The whole record.
            schema: Schema of the key or value.
            value: The key or value.
        """

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        if self.is_key:
            schema, value = self.change(record, record.key_schema, record.key)
            return record.with_key(schema, value)
        schema, value = self.change(record, record.value_schema, record.value)
        return record.with_value(schema, value)

    def compiled(self) -> Apply:
        change = self.change

        def apply_to_key(record: ConnectRecord) -> ConnectRecord:
            schema, value = change(record, record.key_schema, record.key)
            return record.with_key(schema, value)

        def apply_to_value(record: ConnectRecord) -> ConnectRecord:
            schema, value = change(record, record.value_schema, record.value)
            return record.with_value(schema, value)

        return apply_to_key if self.is_key else apply_to_value


class PerSchema(Generic[T]):
    """What was worked out for a schema, kept: records of a topic mostly share one schema object.

    Args:
        build: Works it out.
    """

    __slots__ = ("_build", "_known", "_last", "_last_result")

    def __init__(self, build: Callable[[Schema], T]) -> None:
        self._build = build
        self._known: dict[Schema, T] = {}
        self._last: Schema | None = None
        self._last_result: T | None = None

    def __call__(self, schema: Schema) -> T:
        if schema is self._last:
            return self._last_result  # type: ignore[return-value]  # set together with _last
        found = self._known.get(schema)
        if found is None:
            if len(self._known) >= _MAX_SCHEMAS:
                self._known.clear()
            found = self._known[schema] = self._build(schema)
        self._last, self._last_result = schema, found
        return found


def require_map(value: Any, purpose: str) -> dict[str, Any]:
    """The value, which must be a dict."""
    if not isinstance(value, dict):
        raise DataError(f"Only Map objects supported in absence of schema for [{purpose}], found: {class_name(value)}")
    return value


def require_map_or_null(value: Any, purpose: str) -> dict[str, Any] | None:
    """The value, which must be a dict or None."""
    return None if value is None else require_map(value, purpose)


def require_struct(value: Any, purpose: str) -> Struct:
    """The value, which must be a Struct."""
    if not isinstance(value, Struct):
        raise DataError(f"Only Struct objects supported for [{purpose}], found: {class_name(value)}")
    return value


def require_struct_or_null(value: Any, purpose: str) -> Struct | None:
    """The value, which must be a Struct or None."""
    return None if value is None else require_struct(value, purpose)


def class_name(value: Any) -> str:
    """The class of a value, for messages."""
    return "null" if value is None else type(value).__name__


def stored_values(struct: Struct, *, replace_null_with_default: bool) -> list[Any]:
    """A copy of a struct's values in field order."""
    values = struct.values.copy()
    if replace_null_with_default and None in values:
        for index, field in enumerate(struct.schema.fields):
            if values[index] is None:
                values[index] = field.schema.default
    return values
