"""SchemaBuilder: schemas step by step."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.connect.data.schema import Field, Schema, Type
from penstock.connect.data.validation import validate_value
from penstock.connect.errors import DataError, SchemaBuilderError


class SchemaBuilder:
    """Builds a schema by calls that can be chained. Each property can be set once.

    >>> SchemaBuilder.int32().name("age").optional().build()
    Schema{age:INT32} optional
    """

    def __init__(self, type: Type) -> None:  # noqa: A002 - Kafka's name
        self._type = type
        self._set: dict[str, Any] = {}
        self._parameters: dict[str, str] | None = None
        self._fields: dict[str, Field] = {}
        self._key_schema: Schema | None = None
        self._value_schema: Schema | None = None

    @classmethod
    def int8(cls) -> SchemaBuilder:
        return cls(Type.INT8)

    @classmethod
    def int16(cls) -> SchemaBuilder:
        return cls(Type.INT16)

    @classmethod
    def int32(cls) -> SchemaBuilder:
        return cls(Type.INT32)

    @classmethod
    def int64(cls) -> SchemaBuilder:
        return cls(Type.INT64)

    @classmethod
    def float32(cls) -> SchemaBuilder:
        return cls(Type.FLOAT32)

    @classmethod
    def float64(cls) -> SchemaBuilder:
        return cls(Type.FLOAT64)

    @classmethod
    def bool(cls) -> SchemaBuilder:
        return cls(Type.BOOLEAN)

    @classmethod
    def string(cls) -> SchemaBuilder:
        return cls(Type.STRING)

    @classmethod
    def bytes(cls) -> SchemaBuilder:
        return cls(Type.BYTES)

    @classmethod
    def struct(cls) -> SchemaBuilder:
        return cls(Type.STRUCT)

    @classmethod
    def array(cls, value_schema: Schema | None) -> SchemaBuilder:
        """An array; None where the elements have no schema in common."""
        builder = cls(Type.ARRAY)
        builder._value_schema = value_schema
        return builder

    @classmethod
    def map(cls, key_schema: Schema | None, value_schema: Schema | None) -> SchemaBuilder:
        """A map; None where keys or values have no schema in common."""
        builder = cls(Type.MAP)
        builder._key_schema = key_schema
        builder._value_schema = value_schema
        return builder

    def optional(self) -> SchemaBuilder:
        """Null is a value."""
        return self._once("optional", True)

    def required(self) -> SchemaBuilder:
        """Null is not a value."""
        return self._once("optional", False)

    def name(self, name: str) -> SchemaBuilder:
        return self._once("name", name)

    def version(self, version: int) -> SchemaBuilder:
        return self._once("version", version)

    def doc(self, doc: str) -> SchemaBuilder:
        return self._once("doc", doc)

    def default(self, value: Any) -> SchemaBuilder:
        """What stands for a missing value.

        Raises:
            SchemaBuilderError: It does not fit what was said so far.
        """
        try:
            validate_value(self.build(), value, "default")
        except DataError as error:
            raise SchemaBuilderError(f"Invalid default value: {error.message}") from error
        return self._once("default", value)

    def parameter(self, name: str, value: str) -> SchemaBuilder:
        self._parameters = {**(self._parameters or {}), name: value}
        return self

    def parameters(self, parameters: Mapping[str, str]) -> SchemaBuilder:
        for name, value in parameters.items():
            self.parameter(name, value)
        return self

    def field(self, name: str, schema: Schema) -> SchemaBuilder:
        """Adds a field to a struct schema.

        Raises:
            SchemaBuilderError: The schema is no struct, or has such a field already.
        """
        if self._type is not Type.STRUCT:
            raise SchemaBuilderError(f"Cannot create fields on type {self._type}")
        if not name:
            raise SchemaBuilderError("fieldName cannot be null.")
        if name in self._fields:
            raise SchemaBuilderError(f"Cannot create field because of field name duplication {name}")
        self._fields[name] = Field(name, len(self._fields), schema)
        return self

    def build(self) -> Schema:
        """The schema."""
        return Schema(
            self._type,
            parameters=self._parameters,
            fields=tuple(self._fields.values()),
            key_schema=self._key_schema,
            value_schema=self._value_schema,
            **self._set,
        )

    def _once(self, name: str, value: Any) -> SchemaBuilder:
        if name in self._set:
            raise SchemaBuilderError(f"Invalid SchemaBuilder call: {name} has already been set.")
        self._set[name] = value
        return self


def copy_basics(source: Schema, builder: SchemaBuilder) -> SchemaBuilder:
    """Name, version, doc and parameters of one schema for another: not whether it is optional, not its default."""
    if source.name is not None:
        builder.name(source.name)
    if source.version is not None:
        builder.version(source.version)
    if source.doc is not None:
        builder.doc(source.doc)
    if source.parameters is not None:
        builder.parameters(source.parameters)
    return builder
