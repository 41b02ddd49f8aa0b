"""Connect data as JSON values that orjson can write."""

from __future__ import annotations

import base64
import decimal
import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from operator import attrgetter, countOf
from typing import Any

import orjson

from penstock.connect.data import DECIMAL_NAME, Schema, Struct, Type
from penstock.connect.data.java_numbers import float_text, shortest_float32
from penstock.connect.data.logical import TEMPORAL_NAMES, check_scale, decimal_to_bytes, encoded, scale_of
from penstock.connect.data.validation import validate_value
from penstock.connect.errors import DataError

Step = Callable[[Any], Any]
_schema_of, _values_of = attrgetter("schema"), attrgetter("values")
_OPTIONS = orjson.OPT_PASSTHROUGH_DATETIME | orjson.OPT_PASSTHROUGH_DATACLASS


class JsonWriter:
    """Writes Connect values as JSON.

    Args:
        numeric_decimals: Whether decimals are numbers; else they are base64 of their digits.
        replace_null_with_default: Whether null is written as the schema's default.
    """

    def __init__(self, *, numeric_decimals: bool = False, replace_null_with_default: bool = True) -> None:
        self._numeric = numeric_decimals
        self._replace = replace_null_with_default

    def writer(self, schema: Schema) -> Callable[[Any], bytes]:
        """A function that writes values of one schema."""
        is_struct = schema.type is Type.STRUCT
        step = self.step(schema)
        special = self.step(schema, special_floats=True) if _has_floats(schema) else None

        def write(value: Any) -> bytes:
            if is_struct and value is not None:
                if not isinstance(value, Struct) or (value.schema is not schema and value.schema != schema):
                    raise DataError("Mismatching schema." if isinstance(value, Struct) else _invalid(schema, value))
            elif value is not None:
                validate_value(schema, value)
            written = orjson.dumps(step(value) if step is not None else value)
            if special is not None and b"null" in written:
                # orjson writes NaN and infinity as null. Where there is a null at all, look again.
                written = orjson.dumps(special(value))
            return written

        return write

    def lines_writer(self, schema: Schema) -> Callable[[Sequence[Any]], bytes]:
        """A function that writes many values of one schema, each on a line: what `writer` gives, in a third of the time."""
        write = self.writer(schema)
        if schema.type is not Type.STRUCT:
            return lambda values: b"".join([write(value) + b"\n" for value in values])
        make_lines = self._struct_lines(schema)
        is_exact = not _has_floats(schema) and all(field.schema.optional for field in schema.fields)

        def write_all(values: Sequence[Any]) -> bytes:
            count = len(values)
            if countOf(map(type, values), Struct) != count or countOf(map(_schema_of, values), schema) != count:
                return b"".join([write(value) + b"\n" for value in values])
            lines = make_lines(values)
            # A null may stand for a default, must not be there, or is no null: see `writer`.
            return lines if is_exact or b"null" not in lines else _again_where_null(lines, values, write)

        return write_all

    def _struct_lines(self, schema: Schema) -> Callable[[Sequence[Any]], bytes]:
        """What makes lines of structs; nulls may stay what they are."""
        if any(self._plain_step(field.schema, special_floats=False) is not None for field in schema.fields):
            step = self._plain_step(schema, special_floats=False)
            assert step is not None
            return lambda values: _lines(values, lambda piece: list(map(step, piece)))
        names = [field.name for field in schema.fields]
        fill = _fill_dicts(names)

        def make_lines(values: Sequence[Any]) -> bytes:
            # The same few dicts for all pieces: a new one for each row takes longer than all else.
            dicts: list[dict[str, Any]] = [dict.fromkeys(names) for _ in range(min(len(values), _PIECE))]

            def rows(piece: Sequence[Any]) -> list[dict[str, Any]]:
                fill(dicts, map(_values_of, piece))
                return dicts[: len(piece)]

            return _lines(values, rows)

        return make_lines

    def json_value(self, schema: Schema, value: Any) -> Any:
        """A value as something orjson writes, for the defaults of schemas."""
        step = self.step(schema, special_floats=True)
        return value if step is None else step(value)

    def step(self, schema: Schema, *, special_floats: bool = False) -> Step | None:
        """What turns a value of the schema into a JSON value; None if nothing has to be done."""
        step = self._plain_step(schema, special_floats=special_floats)
        if schema.default is not None and self._replace:
            default = schema.default if step is None else step(schema.default)
            return lambda value: default if value is None else value if step is None else step(value)
        if schema.optional:
            return None if step is None else lambda value: None if value is None else step(value)

        def required(value: Any) -> Any:
            if value is None:
                raise DataError("Conversion error: null value for field that is required and has no default value")
            return value if step is None else step(value)

        return required

    def _plain_step(self, schema: Schema, *, special_floats: bool) -> Step | None:
        """The step for values that are not null."""
        kind = schema.type
        if schema.name in TEMPORAL_NAMES:
            return lambda value: encoded(schema, value)
        if kind is Type.BYTES:
            return self._decimal(schema) if schema.name == DECIMAL_NAME else _base64
        if kind is Type.FLOAT32:
            return _special_float32 if special_floats else shortest_float32
        if kind is Type.FLOAT64:
            return _special_float if special_floats else None
        if kind is Type.STRUCT:
            return self._struct(schema, special_floats=special_floats)
        if kind is Type.ARRAY:
            return self._array(schema.value_schema, special_floats=special_floats)
        if kind is Type.MAP:
            return self._map(schema, special_floats=special_floats)
        return None

    def _decimal(self, schema: Schema) -> Step:
        if not self._numeric:
            return lambda value: base64.b64encode(decimal_to_bytes(schema, value)).decode()
        scale = scale_of(schema)

        def number(value: decimal.Decimal) -> Any:
            check_scale(value, scale)
            return orjson.Fragment(format(value, "f").encode())

        return number

    def _struct(self, schema: Schema, *, special_floats: bool) -> Step:
        fields = schema.fields
        as_dict = _dict_of([field.name for field in fields])
        every = [(field.name, self.step(field.schema, special_floats=special_floats)) for field in fields]
        always = [
            (index, step)
            for index, field in enumerate(fields)
            if (step := self._plain_step(field.schema, special_floats=special_floats)) is not None
        ]

        def write(value: Struct) -> dict[str, Any]:
            values = value.values
            if None in values:
                return {name: _write_field(name, step, one) for (name, step), one in zip(every, values, strict=True)}
            if always:
                values = values.copy()
                for index, step in always:
                    values[index] = step(values[index])
            return as_dict(values)

        return write

    def _array(self, element: Schema | None, *, special_floats: bool) -> Step | None:
        if element is None:
            return lambda values: [schemaless_value(value) for value in values]
        step = self.step(element, special_floats=special_floats)
        return None if step is None else lambda values: [step(value) for value in values]

    def _map(self, schema: Schema, *, special_floats: bool) -> Step | None:
        write_keys = self._array(schema.key_schema, special_floats=special_floats)
        write_values = self._array(schema.value_schema, special_floats=special_floats)
        as_object = schema.key_schema is not None and schema.key_schema.type is Type.STRING

        def write(value: dict[Any, Any]) -> Any:
            keys, values = list(value), list(value.values())
            keys = keys if write_keys is None else write_keys(keys)
            values = values if write_values is None else write_values(values)
            pairs = zip(keys, values, strict=True)
            return dict(pairs) if as_object else [list(pair) for pair in pairs]

        return write


def _dict_of(names: Sequence[str]) -> Callable[[Sequence[Any]], dict[str, Any]]:
    """What makes a dict of values: `{'id': v[0], 'name': v[1]}`, in half the time of `dict(zip(names, values))`."""
    source = f"lambda v: {{{', '.join(f'{name!r}: v[{index}]' for index, name in enumerate(names))}}}"
    make: Callable[[Sequence[Any]], dict[str, Any]] = eval(source, {})  # noqa: S307 - names are in it as literals only
    return make


def _fill_dicts(names: Sequence[str]) -> Callable[[Sequence[dict[str, Any]], Iterable[Sequence[Any]]], object]:
    """What puts rows of values into dicts: `for d, [d['id'], d['name']] in zip(dicts, rows)`, without a call for each."""
    targets = ", ".join(f"d[{name!r}]" for name in names)
    source = f"lambda dicts, rows: [None for d, [{targets}] in zip(dicts, rows)]"
    fill: Callable[[Sequence[dict[str, Any]], Iterable[Sequence[Any]]], object] = eval(source, {})  # noqa: S307 - likewise
    return fill


def _write_field(name: str, step: Step | None, value: Any) -> Any:
    if step is None:
        return value
    try:
        return step(value)
    except DataError as error:
        raise DataError(f'{error.message} (field "{name}")', hint=error.hint) from error


def _base64(value: Any) -> str:
    return base64.b64encode(value).decode()


def _special_float(value: float) -> Any:
    return value if math.isfinite(value) else float_text(value)


def _special_float32(value: float) -> Any:
    return shortest_float32(value) if math.isfinite(value) else float_text(value)


def _has_floats(schema: Schema) -> bool:
    if schema.type in {Type.FLOAT32, Type.FLOAT64}:
        return True
    if schema.type is Type.STRUCT:
        return any(_has_floats(field.schema) for field in schema.fields)
    return any(_has_floats(part) for part in (schema.key_schema, schema.value_schema) if part is not None)


def _invalid(schema: Schema, value: Any) -> str:
    return f"Invalid type for {schema.type}: {type(value).__name__}"


def write_schemaless_lines(values: Sequence[Any]) -> bytes:
    """What `write_schemaless` gives for each of many values, each on a line.

    Raises:
        DataError: One of them has no JSON form.
    """
    try:
        lines = _lines(values)
    except TypeError:
        return b"".join([write_schemaless(value) + b"\n" for value in values])
    return lines if b"null" not in lines else _again_where_null(lines, values, write_schemaless)


# Long, so that the search for it takes long steps; orjson writes no other line ends, those in texts are escaped.
_LINE_END = b"\n" * 14
_BETWEEN = orjson.Fragment(_LINE_END)
_PIECE = 128  # so many lines stay in the processor's cache


def _lines(values: Sequence[Any], rows: Callable[[Sequence[Any]], Sequence[Any]] | None = None) -> bytes:
    """Values, each on a line, written in large pieces: line ends are put between the elements of a list.

    Args:
        values: The values.
        rows: Makes JSON values of a piece of them, good until the next piece; None if they are JSON values.
    """
    pieces: list[bytes] = []
    for begin in range(0, len(values), _PIECE):
        piece = values[begin : begin + _PIECE]
        between: list[Any] = [_BETWEEN] * (2 * len(piece) - 1)
        between[::2] = piece if rows is None else rows(piece)
        pieces.append(orjson.dumps(between, None, _OPTIONS)[1:-1].replace(b",%b," % _LINE_END, b"\n"))
    pieces.append(b"")
    return b"\n".join(pieces)


def _again_where_null(lines: bytes, values: Sequence[Any], write: Callable[[Any], bytes]) -> bytes:
    found = zip(lines.split(b"\n"), values, strict=False)
    return b"".join([(line if b"null" not in line else write(value)) + b"\n" for line, value in found])


def write_schemaless(value: Any) -> bytes:
    """A value without schema as JSON.

    Raises:
        DataError: There is no JSON form: decimals and dates need a schema.
    """
    try:
        written = orjson.dumps(value, option=_OPTIONS)
    except TypeError:
        return orjson.dumps(schemaless_value(value))
    # orjson writes NaN and infinity as null. Where there is a null at all, look again.
    return orjson.dumps(schemaless_value(value)) if b"null" in written else written


def schemaless_value(value: Any) -> Any:
    """A value without schema as something orjson writes: maps become objects if all keys are texts, else lists of pairs."""
    if value is None or isinstance(value, (str, bool)):
        return value
    if isinstance(value, int):
        if not -(2**63) <= value < 2**64:
            raise DataError(f"{value} has more than 64 bits and cannot be written without a schema")
        return value
    if isinstance(value, float):
        return _special_float(value)
    if isinstance(value, (bytes, bytearray, memoryview)):
        return _base64(value)
    if isinstance(value, (list, tuple)):
        return [schemaless_value(element) for element in value]
    if isinstance(value, dict):
        pairs = [[schemaless_value(key), schemaless_value(entry)] for key, entry in value.items()]
        return dict(pairs) if all(isinstance(key, str) for key in value) else pairs
    if isinstance(value, Struct):
        return JsonWriter().json_value(value.schema, value)
    hint = "Give the value a schema." if isinstance(value, (decimal.Decimal, datetime)) else ""
    raise DataError(f"Class {type(value).__name__} does not have corresponding schema type.", hint=hint)
