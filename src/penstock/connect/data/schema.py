"""Schemas of Connect data: twelve types, and what may be said about each use of one."""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from types import MappingProxyType
from typing import Any, NoReturn

from penstock.connect.errors import DataError


class Type(Enum):
    """The type of a value, without any meaning attached to it."""

    INT8 = "int8"
    INT16 = "int16"
    INT32 = "int32"
    INT64 = "int64"
    FLOAT32 = "float32"
    FLOAT64 = "float64"
    BOOLEAN = "boolean"
    STRING = "string"
    BYTES = "bytes"
    ARRAY = "array"
    MAP = "map"
    STRUCT = "struct"

    @property
    def is_primitive(self) -> bool:
        """Whether values have no parts."""
        return self not in {Type.ARRAY, Type.MAP, Type.STRUCT}

    def __str__(self) -> str:
        return self.name


class Field:
    """A field of a struct: its name, its place and its schema."""

    __slots__ = ("index", "name", "schema")

    def __init__(self, name: str, index: int, schema: Schema) -> None:
        self.name = name
        self.index = index
        self.schema = schema

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Field):
            return NotImplemented
        return self.name == other.name and self.index == other.index and self.schema == other.schema

    def __hash__(self) -> int:
        return hash((self.name, self.index))

    def __repr__(self) -> str:
        return f"Field(name={self.name!r}, index={self.index}, schema={self.schema!r})"


class Schema:
    """A type with its name, version, default and the like. Immutable; made by `SchemaBuilder`.

    Attributes:
        type: The type of values.
        optional: Whether null is a value.
        default: What stands for a missing value; None is no default.
        name: Name of the schema; the names of logical types give values another Python type.
        version: Version of the schema, compared by sinks that evolve their files.
        doc: What the schema is for.
        parameters: Further properties, such as the scale of a decimal; None if there are none.
        key_schema: Schema of the keys of a map.
        value_schema: Schema of the values of a map or the elements of an array; None if they have none in common.
    """

    __slots__ = (
        "_fields",
        "_hash",
        "_index",
        "default",
        "doc",
        "key_schema",
        "name",
        "optional",
        "parameters",
        "type",
        "value_schema",
        "version",
    )

    type: Type
    optional: bool
    default: Any
    name: str | None
    version: int | None
    doc: str | None
    parameters: Mapping[str, str] | None
    key_schema: Schema | None
    value_schema: Schema | None
    _fields: tuple[Field, ...]
    _index: dict[str, Field]
    _hash: int | None

    def __init__(
        self,
        type: Type,  # noqa: A002 - the attribute's name
        *,
        optional: bool = False,
        default: Any = None,
        name: str | None = None,
        version: int | None = None,
        doc: str | None = None,
        parameters: Mapping[str, str] | None = None,
        fields: tuple[Field, ...] = (),
        key_schema: Schema | None = None,
        value_schema: Schema | None = None,
    ) -> None:
        put = object.__setattr__
        put(self, "type", type)
        put(self, "optional", optional)
        put(self, "default", default)
        put(self, "name", name)
        put(self, "version", version)
        put(self, "doc", doc)
        put(self, "parameters", MappingProxyType(dict(parameters)) if parameters is not None else None)
        put(self, "key_schema", key_schema)
        put(self, "value_schema", value_schema)
        put(self, "_fields", fields)
        put(self, "_index", {field.name: field for field in fields})
        put(self, "_hash", None)

    def __setattr__(self, name: str, value: object) -> NoReturn:
        raise AttributeError(f"a schema cannot be changed; build another one to set {name}")

    @property
    def fields(self) -> tuple[Field, ...]:
        """The fields of a struct, in order.

        Raises:
            DataError: The schema is not one of structs.
        """
        if self.type is not Type.STRUCT:
            raise DataError("Cannot list fields on non-struct type")
        return self._fields

    def field(self, name: str) -> Field | None:
        """The field of that name, or None.

        Raises:
            DataError: The schema is not one of structs.
        """
        if self.type is not Type.STRUCT:
            raise DataError("Cannot look up fields on non-struct type")
        return self._index.get(name)

    def _key(self) -> tuple[object, ...]:
        return (
            self.type,
            self.optional,
            self.name,
            self.version,
            self.doc,
            self.default,
            self._fields,
            self.key_schema,
            self.value_schema,
            self.parameters,
        )

    def __eq__(self, other: object) -> bool:
        if self is other:
            return True
        if not isinstance(other, Schema):
            return NotImplemented
        return hash(self) == hash(other) and self._key() == other._key()

    def __hash__(self) -> int:
        cached = self._hash
        if cached is None:
            names = tuple(field.name for field in self._fields)
            types = tuple(field.schema.type for field in self._fields)
            cached = hash((self.type, self.optional, self.name, self.version, self.doc, names, types))
            object.__setattr__(self, "_hash", cached)
        return cached

    def __reduce__(self) -> tuple[object, ...]:
        *rest, _ = self._key()  # a mapping proxy cannot be pickled
        return (_rebuild, (*rest, dict(self.parameters) if self.parameters is not None else None))

    def __repr__(self) -> str:
        shown = [f"Schema{{{self.name}:{self.type}}}" if self.name else f"Schema{{{self.type}}}"]
        if self.optional:
            shown.append("optional")
        if self.default is not None:
            shown.append(f"default={self.default!r}")
        return " ".join(shown)


def _rebuild(
    type_: Type,
    optional: bool,  # noqa: FBT001 - the order of Schema._key
    name: str | None,
    version: int | None,
    doc: str | None,
    default: Any,
    fields: tuple[Field, ...],
    key_schema: Schema | None,
    value_schema: Schema | None,
    parameters: Mapping[str, str] | None,
) -> Schema:
    return Schema(
        type_,
        optional=optional,
        default=default,
        name=name,
        version=version,
        doc=doc,
        parameters=parameters,
        fields=fields,
        key_schema=key_schema,
        value_schema=value_schema,
    )


INT8_SCHEMA = Schema(Type.INT8)
INT16_SCHEMA = Schema(Type.INT16)
INT32_SCHEMA = Schema(Type.INT32)
INT64_SCHEMA = Schema(Type.INT64)
FLOAT32_SCHEMA = Schema(Type.FLOAT32)
FLOAT64_SCHEMA = Schema(Type.FLOAT64)
BOOLEAN_SCHEMA = Schema(Type.BOOLEAN)
STRING_SCHEMA = Schema(Type.STRING)
BYTES_SCHEMA = Schema(Type.BYTES)

OPTIONAL_INT8_SCHEMA = Schema(Type.INT8, optional=True)
OPTIONAL_INT16_SCHEMA = Schema(Type.INT16, optional=True)
OPTIONAL_INT32_SCHEMA = Schema(Type.INT32, optional=True)
OPTIONAL_INT64_SCHEMA = Schema(Type.INT64, optional=True)
OPTIONAL_FLOAT32_SCHEMA = Schema(Type.FLOAT32, optional=True)
OPTIONAL_FLOAT64_SCHEMA = Schema(Type.FLOAT64, optional=True)
OPTIONAL_BOOLEAN_SCHEMA = Schema(Type.BOOLEAN, optional=True)
OPTIONAL_STRING_SCHEMA = Schema(Type.STRING, optional=True)
OPTIONAL_BYTES_SCHEMA = Schema(Type.BYTES, optional=True)
