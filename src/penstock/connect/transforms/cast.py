"""Cast: fields, or the whole key or value, as another type."""

from __future__ import annotations

import base64
import decimal
from collections.abc import Callable, Mapping
from datetime import datetime
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import Check
from penstock.connect.data import ConnectRecord, Schema, SchemaBuilder, Struct, Type, java_text
from penstock.connect.data.java_numbers import narrow, parse_float, parse_int, to_float, to_float32
from penstock.connect.data.logical import TEMPORAL_NAMES, encoded
from penstock.connect.data.plain_type import plain_type
from penstock.connect.data.schema_builder import copy_basics
from penstock.connect.errors import ConfigError, DataError, invalid_value, shown
from penstock.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    KeyOrValue,
    PerSchema,
    require_map,
    require_struct,
    stored_values,
)

_PURPOSE = "cast types"
_INTEGERS = (Type.INT8, Type.INT16, Type.INT32, Type.INT64)
_TARGETS = {kind.value: kind for kind in (*_INTEGERS, Type.FLOAT32, Type.FLOAT64, Type.BOOLEAN, Type.STRING)}
_WHOLE = ""


def _spec(key: str, value: Any) -> None:
    try:
        _parse_spec(value)
    except ConfigError as error:
        raise invalid_value(key, value, error.message) from error


def _parse_spec(mappings: list[str]) -> dict[str, Type]:
    """Target types by field; the empty name is the whole value."""
    if not mappings:
        raise ConfigError("Must specify at least one field to cast.")
    casts: dict[str, Type] = {}
    for mapping in mappings:
        parts = mapping.split(":")
        if len(parts) > 2:
            raise ConfigError(f"Invalid cast mapping: {mapping}")
        name = parts[0].strip() if len(parts) == 2 else _WHOLE
        target = _TARGETS.get(parts[-1].strip().lower())
        if target is None:
            raise ConfigError(
                f"Cast transformation does not support casting to {parts[-1].strip() or 'nothing'}; "
                f"supported types are {', '.join(_TARGETS)}"
            )
        casts[name] = target
    if _WHOLE in casts and len(mappings) > 1:
        raise ConfigError(
            "Cast transformations that specify a type to cast the entire value to "
            "may only specify a single cast in their spec"
        )
    return casts


class Cast(KeyOrValue):
    """Fields, or the whole key or value, as another type."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="spec",
            type=ConfigType.LIST,
            validator=Check(_spec, "list of colon-delimited pairs, e.g. foo:bar,abc:xyz"),
            importance=Importance.HIGH,
            doc="Fields and the type to cast them to, field1:type,field2:type, or one type for the whole value. "
            "Types: int8, int16, int32, int64, float32, float64, boolean, string. Bytes can only become strings.",
        ),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._casts = _parse_spec(self.settings["spec"])
        self._whole = self._casts.get(_WHOLE)
        self._replace: bool = self.settings["replace.null.with.default"]
        self._schemas = PerSchema(self._updated_schema)

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if value is None:
            return schema, value
        if schema is None:
            return None, self._schemaless(value)
        if self._whole is not None:
            return self._schemas(schema), cast_value(schema, value, self._whole)
        struct = require_struct(value, _PURPOSE)
        updated = self._schemas(schema)
        values = stored_values(struct, replace_null_with_default=self._replace)
        for name, target in self._casts.items():
            field = schema.field(name)
            if field is not None:
                values[field.index] = cast_value(field.schema, values[field.index], target, name)
        return updated, Struct.of(updated, values)

    def _schemaless(self, value: Any) -> Any:
        if self._whole is not None:
            return cast_value(None, value, self._whole)
        updated = dict(require_map(value, _PURPOSE))
        for name, target in self._casts.items():
            updated[name] = cast_value(None, updated.get(name), target, name)
        return updated

    def _updated_schema(self, schema: Schema) -> Schema:
        if self._whole is not None:
            builder = copy_basics(schema, SchemaBuilder(self._whole))
        else:
            builder = copy_basics(schema, SchemaBuilder.struct())
            for field in schema.fields:
                target = self._casts.get(field.name)
                builder.field(field.name, field.schema if target is None else _cast_schema(field.schema, target))
        if schema.optional:
            builder.optional()
        if schema.default is not None:
            if self._whole is not None:
                builder.default(cast_value(schema, schema.default, self._whole))
            else:
                _, default = self._cast_default(schema, builder.build())
                builder.default(default)
        return builder.build()

    def _cast_default(self, schema: Schema, updated: Schema) -> tuple[Schema, Struct]:
        values = schema.default.values.copy()
        for field in schema.fields:
            if field.name in self._casts:
                values[field.index] = cast_value(field.schema, values[field.index], self._casts[field.name], field.name)
        return updated, Struct.of(updated, values)


def _cast_schema(schema: Schema, target: Type) -> Schema:
    builder = SchemaBuilder(target)
    if schema.optional:
        builder.optional()
    if schema.default is not None:
        builder.default(cast_value(schema, schema.default, target))
    return builder.build()


def cast_value(schema: Schema | None, value: Any, target: Type, name: str = "") -> Any:
    """A value as another type.

    Raises:
        DataError: The value's type cannot be cast, or its text is no such number.
    """
    if value is None:
        return None
    kind = schema.type if schema is not None else plain_type(value)
    if kind is None and not isinstance(value, (decimal.Decimal, datetime)):
        raise DataError(f"Cast transformation was passed a value of type {type(value).__name__} which is not supported")
    if kind is not None and not kind.is_primitive:
        raise DataError(f"Cast transformation does not support casting from {kind}{_where(name)}")
    if target is Type.STRING:
        return _to_string(schema, value)
    if schema is not None and schema.name in TEMPORAL_NAMES:
        value = encoded(schema, value)
    try:
        return _CASTS[target](value)
    except ValueError:
        raise DataError(
            f"Value ({shown(value)}) was out of range for requested data type {target}{_where(name)}"
        ) from None
    except TypeError:
        raise DataError(f"Unexpected type in Cast transformation: {type(value).__name__}{_where(name)}") from None


def _where(name: str) -> str:
    return f' (field "{name}")' if name else ""


def _to_string(schema: Schema | None, value: Any) -> str:
    if isinstance(value, decimal.Decimal):
        return format(value, "f")
    if isinstance(value, (bytes, bytearray, memoryview)):
        return base64.b64encode(value).decode()
    return java_text(schema, value)


def _number(value: Any) -> float | decimal.Decimal:
    if not isinstance(value, (int, float, decimal.Decimal)):
        raise TypeError
    return value


def _to_integer(target: Type) -> Callable[[Any], int]:
    def cast(value: Any) -> int:
        return parse_int(value, target) if isinstance(value, str) else narrow(_number(value), target)

    return cast


def _to_float64(value: Any) -> float:
    return parse_float(value) if isinstance(value, str) else to_float(_number(value))


def _to_float32(value: Any) -> float:
    return to_float32(_to_float64(value))


def _to_boolean(value: Any) -> bool:
    return value.lower() == "true" if isinstance(value, str) else narrow(_number(value), Type.INT64) != 0


_CASTS: dict[Type, Callable[[Any], Any]] = {
    **{kind: _to_integer(kind) for kind in _INTEGERS},
    Type.FLOAT32: _to_float32,
    Type.FLOAT64: _to_float64,
    Type.BOOLEAN: _to_boolean,
}


class CastKey(Cast):
    """Casts keys."""

    is_key = True


class CastValue(Cast):
    """Casts values."""
