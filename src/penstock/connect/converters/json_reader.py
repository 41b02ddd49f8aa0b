"""JSON values as Connect data.

What has to be done to a JSON value depends on its schema and on its Python type. Both are the same for most records of a
topic, so the steps are found once for a schema and the types of a record's values, and kept: a struct of strings and
floats then costs one dictionary lookup, not a check of each field.
"""

from __future__ import annotations

import base64
import binascii
import decimal
import math
import re
from collections.abc import Callable, Iterable
from operator import itemgetter
from typing import Any

from penstock.connect.data import DATE_NAME, DECIMAL_NAME, TIME_NAME, TIMESTAMP_NAME, Schema, Struct, Type
from penstock.connect.data.java_numbers import to_float32
from penstock.connect.data.logical import (
    LOGICAL_NAMES,
    date_from_days,
    decimal_of,
    decimal_scale,
    from_millis,
    scale_of,
    time_from_millis,
    unscaled,
)
from penstock.connect.data.validation import INT_RANGES
from penstock.connect.errors import DataError, shown

Step = Callable[[Any], Any]
# Ranges of ints, and what else is to be done, by the index of the field.
_Plan = tuple[list[tuple[int, int, int]], list[tuple[int, Step]]]

_MAX_PLANS = 1000
_JSON_NAMES = {
    dict: "object", list: "array", str: "string", bool: "boolean",
    int: "number", float: "number", decimal.Decimal: "number", type(None): "null",
}  # fmt: skip
_SPECIAL_FLOATS = {"NaN": math.nan, "Infinity": math.inf, "-Infinity": -math.inf}
_BLANKS = re.compile(r"\s+")


class InexactNumberError(Exception):
    """A decimal came as a float: it has to be read again without losing digits."""


class JsonReader:
    """Reads JSON values by schema.

    Args:
        replace_null_with_default: Whether null is read as the schema's default.
    """

    def __init__(self, *, replace_null_with_default: bool = True) -> None:
        self._replace = replace_null_with_default

    def read(self, schema: Schema, value: Any) -> Any:
        """The Connect value of a JSON value."""
        step = self.step(schema, type(value), "value")
        return value if step is None else step(value)

    def reader(self, schema: Schema) -> Step:
        """A function that reads JSON values of one schema."""
        if schema.type is Type.STRUCT and schema.name not in LOGICAL_NAMES:
            return self._struct(schema)
        steps: dict[type, Step | None] = {}

        def read(value: Any) -> Any:
            kind = type(value)
            try:
                step = steps[kind]
            except KeyError:
                step = steps[kind] = self.step(schema, kind, "value")
            return value if step is None else step(value)

        return read

    def step(self, schema: Schema, kind: type, where: str) -> Step | None:
        """What turns a JSON value of one Python type into a value of the schema; None if nothing has to be done.

        Raises:
            DataError: Values of that type do not fit the schema.
        """
        if kind is type(None):
            return self._null(schema, where)
        if schema.name in LOGICAL_NAMES:
            step = _logical(schema, kind)
        elif schema.type is Type.STRUCT and kind is dict:
            return self._struct(schema)
        elif schema.type is Type.ARRAY and kind is list:
            return self._array(schema.value_schema, where)
        elif schema.type is Type.MAP:
            return self._map(schema, kind, where)
        else:
            step = _primitive(schema, kind)
        if step is _REFUSED:
            raise _wrong_type(schema, kind, where)
        return step if step is None or step is _inexact or isinstance(step, _IntRange) else _located(step, where)

    def _null(self, schema: Schema, where: str) -> Step | None:
        if schema.default is not None and self._replace:
            default = schema.default
            return lambda _: default
        if schema.optional:
            return None
        raise DataError(f"Invalid null value for required {schema.type} field: {where}")

    def _struct(self, schema: Schema) -> Step:
        fields = schema.fields
        names = [field.name for field in fields]
        get = _getter(names)
        plans: dict[tuple[type, ...], _Plan] = {}
        new = Struct.of

        def plan_of(kinds: tuple[type, ...]) -> _Plan:
            if len(plans) >= _MAX_PLANS:
                plans.clear()
            steps = [self.step(f.schema, kind, f'"{f.name}"') for f, kind in zip(fields, kinds, strict=True)]
            ranges = [(i, step.low, step.high) for i, step in enumerate(steps) if isinstance(step, _IntRange)]
            others = [(i, step) for i, step in enumerate(steps) if step and not isinstance(step, _IntRange)]
            plan = plans[kinds] = (ranges, others)
            return plan

        def read(value: Any) -> Any:
            try:
                values = list(get(value))
            except (KeyError, TypeError):
                if not isinstance(value, dict):
                    step = self.step(schema, type(value), "value")
                    return value if step is None else step(value)
                values = [value.get(name) for name in names]
            kinds = tuple(map(type, values))
            ranges, others = plans.get(kinds) or plan_of(kinds)
            # Ints are most of what is in records: their ranges are checked here, without a call for each.
            for index, low, high in ranges:
                if not low <= values[index] <= high:
                    raise _out_of_range(values[index], fields[index].schema.type, f'"{names[index]}"')
            for index, step in others:
                values[index] = step(values[index])
            return new(schema, values)

        return read

    def _array(self, element: Schema | None, where: str) -> Step | None:
        if element is None:
            return None
        steps: dict[type, Step | None] = {}

        def read(values: list[Any]) -> list[Any]:
            kinds = set(map(type, values))
            for kind in kinds:
                if kind not in steps:
                    steps[kind] = self.step(element, kind, f"element of {where}")
            if not any(steps[kind] for kind in kinds):
                return values
            return [value if (step := steps[type(value)]) is None else step(value) for value in values]

        return read

    def _map(self, schema: Schema, kind: type, where: str) -> Step | None:
        key, entry = schema.key_schema, schema.value_schema
        read_keys, read_values = self._array(key, f"key of {where}"), self._array(entry, f"map value of {where}")
        if key is not None and key.type is Type.STRING:
            if kind is not dict:
                raise DataError(
                    f"Maps with string fields should be encoded as JSON objects, but found {_JSON_NAMES[kind]}"
                )
            if read_values is None:
                return None
            return lambda value: dict(zip(value, read_values(list(value.values())), strict=True))
        if kind is not list:
            raise DataError(
                f"Maps with non-string fields should be encoded as JSON array of tuples, but found {_JSON_NAMES[kind]}"
            )

        def read(pairs: list[Any]) -> dict[Any, Any]:
            for pair in pairs:
                if not isinstance(pair, list):
                    raise DataError(f"Found invalid map entry instead of array tuple: {_JSON_NAMES[type(pair)]}")
                if len(pair) != 2:
                    raise DataError(f"Found invalid map entry, expected length 2 but found :{len(pair)}")
            keys, values = [pair[0] for pair in pairs], [pair[1] for pair in pairs]
            return dict(
                zip(
                    read_keys(keys) if read_keys is not None else keys,
                    read_values(values) if read_values is not None else values,
                    strict=True,
                )
            )

        return read


def _getter(names: list[str]) -> Callable[[Any], Iterable[Any]]:
    """A function for the values of all names; KeyError or TypeError if there are none."""
    if len(names) > 1:
        return itemgetter(*names)

    # itemgetter gives a tuple only for two and more names.
    def get(value: Any) -> Iterable[Any]:
        if not isinstance(value, dict):
            raise TypeError
        return [value[name] for name in names]

    return get


def _refused(_: Any) -> Any:
    """Stands for "does not fit" among steps."""
    raise AssertionError


_REFUSED: Step = _refused


def _primitive(schema: Schema, kind: type) -> Step | None:
    """The step for a type without logical name."""
    wanted = schema.type
    if wanted is Type.STRING and kind is str:
        return None
    if wanted is Type.BOOLEAN and kind is bool:
        return None
    if wanted in INT_RANGES and kind in {int, float, decimal.Decimal}:
        return _IntRange(wanted) if kind is int else _whole(wanted)
    if wanted in {Type.FLOAT32, Type.FLOAT64}:
        if kind in {float, int, decimal.Decimal}:
            return _float32 if wanted is Type.FLOAT32 else (None if kind is float else float)
        return _special_float if kind is str else _REFUSED
    if wanted is Type.BYTES and kind is str:
        return _base64
    return _REFUSED


class _IntRange:
    """Checks that an int fits its type."""

    __slots__ = ("high", "low", "wanted")

    def __init__(self, wanted: Type) -> None:
        self.wanted = wanted
        self.low, self.high = INT_RANGES[wanted]

    def __call__(self, value: int) -> int:
        if self.low <= value <= self.high:
            return value
        raise _out_of_range(value, self.wanted, "value")


def _out_of_range(value: int, wanted: Type, where: str) -> DataError:
    low, high = INT_RANGES[wanted]
    return DataError(f"{value} does not fit {wanted}, which holds {low} to {high} (field {where})")


# A few letters, 1e2000000, are a number whose digits take minutes to write: it is refused before they are.
_INT_DIGITS, _DECIMAL_DIGITS = 20, 4000


def _whole(wanted: Type) -> Step:
    check = _IntRange(wanted)

    def convert(value: Any) -> int:
        if isinstance(value, decimal.Decimal) and value.adjusted() > _INT_DIGITS:
            raise DataError(f"{value} does not fit {wanted}")
        whole = int(value)
        if whole != value:
            raise DataError(f"{value} is not a whole number, as {wanted} asks for")
        return check(whole)

    return convert


def _float32(value: Any) -> float:
    return to_float32(float(value))


def _special_float(value: str) -> float:
    if value not in _SPECIAL_FLOATS:
        raise DataError(f"{shown(value)} is not a number")
    return _SPECIAL_FLOATS[value]


def _base64(value: str) -> bytes:
    try:
        return base64.b64decode(value, validate=True)
    except binascii.Error:
        try:
            return base64.b64decode(_BLANKS.sub("", value), validate=True)
        except binascii.Error:
            raise DataError(f"Invalid bytes field: {shown(value)} is not base64") from None


def _logical(schema: Schema, kind: type) -> Step | None:
    """The step for a logical type."""
    if schema.name == DECIMAL_NAME and schema.type is Type.BYTES:
        return _decimal(schema, kind)
    if kind is not int:
        return _REFUSED
    if schema.name == DATE_NAME:
        return date_from_days
    if schema.name == TIME_NAME:
        return time_from_millis
    return from_millis if schema.name == TIMESTAMP_NAME else _REFUSED


def _decimal(schema: Schema, kind: type) -> Step | None:
    scale = scale_of(schema)
    if kind is str:
        return lambda value: decimal_of(int.from_bytes(_base64(value), "big", signed=True), scale)
    if kind is float:
        return _inexact
    if kind in {int, decimal.Decimal}:
        return lambda value: _scaled(decimal.Decimal(value), scale)
    return _REFUSED


def _inexact(value: float) -> Any:
    raise InexactNumberError


def _scaled(value: decimal.Decimal, scale: int) -> decimal.Decimal:
    """A decimal with zeros added up to the scale; digits are never cut off."""
    missing = scale - decimal_scale(value)
    if value.adjusted() + max(scale, 0) > _DECIMAL_DIGITS:
        raise DataError(f"Decimal {shown(value)} with scale {scale} has more than {_DECIMAL_DIGITS} digits")
    if missing == 0:
        return value
    if missing < 0:
        raise DataError(f"Decimal {value} has more than the {scale} digits after the point its schema allows")
    return decimal_of(unscaled(value) * 10**missing, scale)


def _located(step: Step, where: str) -> Step:
    """A step whose errors say where. Dates and numbers out of range know nothing of fields."""

    def located(value: Any) -> Any:
        try:
            return step(value)
        except DataError as error:
            raise DataError(f"{error.message} (field {where})", hint=error.hint) from error

    return located if where != "value" else step


def _wrong_type(schema: Schema, kind: type, where: str) -> DataError:
    expected = schema.name.rpartition(".")[2] if schema.name in LOGICAL_NAMES and schema.name else str(schema.type)
    if schema.type is Type.STRUCT:
        return DataError(f"Structs should be encoded as JSON objects, but found {_JSON_NAMES[kind]} for field {where}")
    return DataError(f"Invalid type for {expected}, the JSON {_JSON_NAMES[kind]} does not fit field {where}")
