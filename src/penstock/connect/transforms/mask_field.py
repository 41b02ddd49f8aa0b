"""MaskField: fields replaced by a null-like value, or by a text of your choice."""

from __future__ import annotations

import decimal
from collections.abc import Mapping
from datetime import datetime
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import NonEmpty, NonEmptyList
from penstock.connect.data import DECIMAL_NAME, ConnectRecord, Schema, Struct, Type
from penstock.connect.data.java_numbers import parse_decimal, parse_float, parse_int, to_float32
from penstock.connect.data.logical import EPOCH, decimal_of, decimal_scale, scale_of, unscaled
from penstock.connect.data.plain_type import plain_type
from penstock.connect.data.validation import INT_RANGES
from penstock.connect.errors import DataError, shown
from penstock.connect.transforms.transformation import (
    REPLACE_NULL_WITH_DEFAULT,
    KeyOrValue,
    PerSchema,
    require_map,
    require_struct,
    stored_values,
)

_PURPOSE = "mask fields"
_MASKS: dict[Type, Any] = {
    **dict.fromkeys(INT_RANGES, 0),
    Type.FLOAT32: 0.0,
    Type.FLOAT64: 0.0,
    Type.BOOLEAN: False,
    Type.STRING: "",
}


class MaskField(KeyOrValue):
    """Replaces fields: 0, false, empty texts, lists and maps, or a fixed replacement."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="fields",
            type=ConfigType.LIST,
            validator=NonEmptyList(),
            importance=Importance.HIGH,
            doc="Fields to mask.",
        ),
        ConfigKey(
            name="replacement",
            default=None,
            validator=NonEmpty(),
            importance=Importance.LOW,
            doc="What to write instead: a text, or a number for fields that are numbers.",
        ),
        REPLACE_NULL_WITH_DEFAULT,
    )

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        super().__init__(settings)
        self._names: list[str] = self.settings["fields"]
        self._replacement: str | None = self.settings["replacement"]
        self._replace: bool = self.settings["replace.null.with.default"]
        self._masked_fields = PerSchema(lambda schema: [f for f in schema.fields if f.name in self._names])

    def change(self, record: ConnectRecord, schema: Schema | None, value: Any) -> tuple[Schema | None, Any]:
        if schema is None:
            updated = dict(require_map(value, _PURPOSE))
            for name in self._names:
                updated[name] = self._masked(None, updated.get(name))
            return None, updated
        struct = require_struct(value, _PURPOSE)
        values = stored_values(struct, replace_null_with_default=self._replace)
        for field in self._masked_fields(struct.schema):
            values[field.index] = self._masked(field.schema, values[field.index])
        return schema, Struct.of(struct.schema, values)

    def _masked(self, schema: Schema | None, value: Any) -> Any:
        if value is None:
            return None
        return mask(schema, value) if self._replacement is None else replaced(schema, value, self._replacement)


def mask(schema: Schema | None, value: Any) -> Any:
    """The null-like value of a value's type.

    Raises:
        DataError: There is none: bytes and structs.
    """
    if isinstance(value, datetime):
        return EPOCH
    if isinstance(value, decimal.Decimal):
        return decimal_of(0, scale_of(schema) if schema is not None and schema.name == DECIMAL_NAME else 0)
    if isinstance(value, (list, tuple)):
        return []
    if isinstance(value, dict):
        return {}
    kind = plain_type(value)
    if kind not in _MASKS:
        raise DataError(f"Cannot mask value of type: {type(value).__name__}")
    return _MASKS[kind]


def replaced(schema: Schema | None, value: Any, replacement: str) -> Any:
    """The replacement in a value's type.

    Raises:
        DataError: The value is neither text nor number, or the replacement is no such number.
    """
    if isinstance(value, str):
        return replacement
    try:
        if isinstance(value, decimal.Decimal):
            return _replaced_decimal(schema, replacement)
        kind = schema.type if schema is not None else plain_type(value)
        if isinstance(value, int) and not isinstance(value, bool):
            return parse_int(replacement, kind if kind in INT_RANGES and kind is not None else Type.INT64)
        if isinstance(value, float):
            return to_float32(parse_float(replacement)) if kind is Type.FLOAT32 else parse_float(replacement)
    except ValueError:
        raise DataError(
            f"Unable to convert {shown(replacement)} to the type of the masked field: {type(value).__name__}"
        ) from None
    raise DataError(f"Cannot mask value of type {type(value).__name__} with custom replacement.")


def _replaced_decimal(schema: Schema | None, replacement: str) -> decimal.Decimal:
    number = parse_decimal(replacement)
    if number is None:
        raise ValueError
    if schema is None or schema.name != DECIMAL_NAME:
        return number
    scale = scale_of(schema)
    missing = scale - decimal_scale(number)
    if missing < 0:
        raise ValueError
    return decimal_of(unscaled(number) * 10**missing, scale)


class MaskFieldKey(MaskField):
    """Masks fields of keys."""

    is_key = True


class MaskFieldValue(MaskField):
    """Masks fields of values."""
