"""Does a value fit a schema?"""

from __future__ import annotations

import decimal
from datetime import datetime
from typing import Any

from penstock.connect.data.logical import DECIMAL_NAME, TEMPORAL_NAMES
from penstock.connect.data.schema import Schema, Type
from penstock.connect.errors import DataError, shown

INT_RANGES = {
    Type.INT8: (-(2**7), 2**7 - 1),
    Type.INT16: (-(2**15), 2**15 - 1),
    Type.INT32: (-(2**31), 2**31 - 1),
    Type.INT64: (-(2**63), 2**63 - 1),
}
_CLASSES: dict[Type, tuple[type, ...]] = {
    Type.FLOAT32: (float,),
    Type.FLOAT64: (float,),
    Type.BOOLEAN: (bool,),
    Type.STRING: (str,),
    Type.BYTES: (bytes, bytearray, memoryview),
    Type.ARRAY: (list, tuple),
    Type.MAP: (dict,),
}


def validate_value(schema: Schema, value: Any, location: str = "value") -> None:
    """Checks that a value fits a schema, with all its parts.

    Args:
        schema: What the value must fit.
        value: The value.
        location: What the value is, for the message: `field: "price"`.

    Raises:
        DataError: It does not fit.
    """
    if value is None:
        if schema.optional:
            return
        raise DataError(f"Invalid value: null used for required {location}, schema type: {schema.type}")
    kind = schema.type
    if kind is Type.STRUCT:
        _validate_struct(schema, value, location)
    elif schema.name in TEMPORAL_NAMES:
        _validate_instant(schema, value, location)
    elif schema.name == DECIMAL_NAME and kind is Type.BYTES:
        if not isinstance(value, decimal.Decimal):
            raise mismatch(schema, value, location)
    elif kind in INT_RANGES:
        low, high = INT_RANGES[kind]
        if not isinstance(value, int) or isinstance(value, bool):
            raise mismatch(schema, value, location)
        if not low <= value <= high:
            raise mismatch(schema, value, location, hint=f"{kind} holds {low} to {high}.")
    elif not isinstance(value, _CLASSES[kind]):
        raise mismatch(schema, value, location)
    else:
        _validate_parts(schema, value, location)


def _validate_parts(schema: Schema, value: Any, location: str) -> None:
    if schema.type is Type.ARRAY and schema.value_schema is not None:
        for element in value:
            validate_value(schema.value_schema, element, f"element of {location}")
    elif schema.type is Type.MAP:
        for key, entry in value.items():
            if schema.key_schema is not None:
                validate_value(schema.key_schema, key, f"map key of {location}")
            if schema.value_schema is not None:
                validate_value(schema.value_schema, entry, f"map value of {location}")


def _validate_struct(schema: Schema, value: Any, location: str) -> None:
    from penstock.connect.data.struct import Struct

    if not isinstance(value, Struct):
        raise mismatch(schema, value, location, hint="Give a Struct of that schema.")
    if value.schema != schema:
        raise DataError(f"Struct schemas do not match for {location}.")
    value.validate()


def _validate_instant(schema: Schema, value: Any, location: str) -> None:
    if not isinstance(value, datetime):
        raise mismatch(schema, value, location, hint="Give a datetime in UTC.")
    if value.tzinfo is None:
        hint = "Add one: value.replace(tzinfo=timezone.utc)."
        raise DataError(f"The datetime {value.isoformat()} for {location} has no time zone", hint=hint)


def mismatch(schema: Schema, value: Any, location: str, *, hint: str = "") -> DataError:
    """The error for a value of the wrong Python type."""
    name = f' "{schema.name}"' if schema.name else ""
    return DataError(
        f"Invalid object for schema{name} with type {schema.type}: {type(value).__name__} {shown(value)} for {location}",
        hint=hint,
    )
