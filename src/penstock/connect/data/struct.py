"""Struct: a row of values that fit the fields of a schema."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.connect.data.schema import Field, Schema, Type
from penstock.connect.data.validation import validate_value
from penstock.connect.errors import DataError, IllegalArgumentError


class Struct:
    """Values for the fields of a schema.

    >>> from penstock.connect.data import SchemaBuilder, INT32_SCHEMA, OPTIONAL_STRING_SCHEMA
    >>> schema = SchemaBuilder.struct().field("id", INT32_SCHEMA).field("name", OPTIONAL_STRING_SCHEMA).build()
    >>> row = Struct(schema).put("id", 7).put("name", "tap")
    >>> row["id"], row
    (7, Struct{id=7,name=tap})

    Args:
        schema: The schema; its type must be STRUCT.
        values: Values by field name, each checked as by `put`; fields left out are null.
    """

    __slots__ = ("schema", "values")

    def __init__(self, schema: Schema, values: Mapping[str, Any] | None = None) -> None:
        if schema.type is not Type.STRUCT:
            raise DataError(f"Not a struct schema: {schema!r}")
        self.schema = schema
        self.values: list[Any] = [None] * len(schema.fields)
        for name, value in (values or {}).items():
            self.put(name, value)

    @classmethod
    def of(cls, schema: Schema, values: list[Any]) -> Struct:
        """A struct of values in field order that are known to fit: nothing is checked.

        For converters and transforms, which check once for a schema instead of once for a record.
        """
        struct = _new(cls)
        struct.schema = schema
        struct.values = values
        return struct

    def put(self, name: str, value: Any) -> Struct:
        """Sets a field.

        Returns:
            The struct itself, so that calls can be chained.

        Raises:
            DataError: There is no such field, or the value does not fit it.
        """
        field = self._field(name)
        validate_value(field.schema, value, f'field: "{name}"')
        self.values[field.index] = value
        return self

    def get(self, name: str) -> Any:
        """The value of a field, or the field's default if it is null.

        Raises:
            DataError: There is no such field.
        """
        field = self._field(name)
        value = self.values[field.index]
        return field.schema.default if value is None else value

    __getitem__ = get

    def __setitem__(self, name: str, value: Any) -> None:
        self.put(name, value)

    def __contains__(self, name: object) -> bool:
        return isinstance(name, str) and self.schema.field(name) is not None

    def get_without_default(self, name: str) -> Any:
        """The value of a field as it was put: None if it is null, whatever the default."""
        return self.values[self._field(name).index]

    def validate(self) -> None:
        """Checks every field.

        Raises:
            DataError: A field is null that must not be, or a value does not fit.
        """
        for field, value in zip(self.schema.fields, self.values, strict=True):
            if value is None and (field.schema.optional or field.schema.default is not None):
                continue
            validate_value(field.schema, value, f'field: "{field.name}"')

    def to_dict(self) -> dict[str, Any]:
        """The values by field name, nested structs as dicts, defaults filled in."""
        return {field.name: _plain(self.get(field.name)) for field in self.schema.fields}

    def _field(self, name: str) -> Field:
        field = self.schema.field(name)
        if field is None:
            raise DataError(
                f"{name} is not a valid field name", hint=f"Fields: {', '.join(f.name for f in self.schema.fields)}."
            )
        return field

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Struct):
            return NotImplemented
        return self.values == other.values and self.schema == other.schema

    __hash__ = None  # type: ignore[assignment]  # structs can be changed

    def __repr__(self) -> str:
        shown = (
            f"{field.name}={value}"
            for field, value in zip(self.schema.fields, self.values, strict=True)
            if value is not None
        )
        return f"Struct{{{','.join(shown)}}}"


_new = Struct.__new__


def _plain(value: Any) -> Any:
    if isinstance(value, Struct):
        return value.to_dict()
    if isinstance(value, (list, tuple)):
        return [_plain(element) for element in value]
    if isinstance(value, dict):
        return {key: _plain(entry) for key, entry in value.items()}
    return value


def require_field(schema: Schema, name: str) -> Field:
    """The field of that name.

    Raises:
        IllegalArgumentError: There is none.
    """
    field = schema.field(name)
    if field is None:
        raise IllegalArgumentError(f"Unknown field: {name}")
    return field
