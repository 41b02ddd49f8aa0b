"""Values from text: the type is found by looking at the text. Headers are read like this."""

from __future__ import annotations

import math
from typing import Any

from penstock.connect.data.date_format import SimpleDateFormat
from penstock.connect.data.java_numbers import parse_decimal, to_float, to_float32
from penstock.connect.data.logical import (
    DATE_SCHEMA,
    TIME_SCHEMA,
    TIMESTAMP_SCHEMA,
    decimal_scale,
    decimal_schema,
    from_millis,
)
from penstock.connect.data.schema import (
    BOOLEAN_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    Schema,
    Type,
)
from penstock.connect.data.schema_and_value import NULL_SCHEMA_AND_VALUE, SchemaAndValue
from penstock.connect.data.schema_builder import SchemaBuilder
from penstock.connect.data.text import ISO_DATE, ISO_TIME, ISO_TIMESTAMP
from penstock.connect.data.tokens import Tokens, is_blank, trimmed
from penstock.connect.errors import DataError

_ISO_BY_LENGTH: dict[int, tuple[Schema, SimpleDateFormat]] = {
    len("HH:mm:ss.SSSZ"): (TIME_SCHEMA, ISO_TIME),
    len("yyyy-MM-ddTHH:mm:ss.SSSZ"): (TIMESTAMP_SCHEMA, ISO_TIMESTAMP),
    len("yyyy-MM-dd"): (DATE_SCHEMA, ISO_DATE),
}
_INTEGERS = ((7, INT8_SCHEMA), (15, INT16_SCHEMA), (31, INT32_SCHEMA), (63, INT64_SCHEMA))
_WIDENING = (Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.FLOAT32, Type.FLOAT64)
_LITERALS = {
    "null": NULL_SCHEMA_AND_VALUE,
    "true": SchemaAndValue(BOOLEAN_SCHEMA, True),
    "false": SchemaAndValue(BOOLEAN_SCHEMA, False),
}
_DIGITS = frozenset("0123456789")
_NUMBER_START = _DIGITS | {"+", "-"}


def parse_string(text: str | None) -> SchemaAndValue:
    """A value and its schema from text; text that is nothing else is a string.

    >>> parse_string("300"), parse_string("[1, 2]").value, parse_string("{a:1}").value
    (SchemaAndValue(schema=Schema{INT16}, value=300), [1, 2], '{a:1}')
    """
    if text is None:
        return NULL_SCHEMA_AND_VALUE
    if not text:
        return SchemaAndValue(STRING_SCHEMA, text)
    parser = _Parser(text)
    found = parser.parse(embedded=False)
    # What is left means that the text only begins like a number, list or map: "12:30" is not 12.
    return found if is_blank(parser.tokens.rest()) else SchemaAndValue(STRING_SCHEMA, text)


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.tokens = Tokens(text)

    def parse(self, *, embedded: bool) -> SchemaAndValue:
        """The next value; null has schema None."""
        tokens = self.tokens
        if not tokens.has_next():
            return NULL_SCHEMA_AND_VALUE
        if embedded and tokens.accept('"'):
            return self._quoted()
        for literal, result in _LITERALS.items():
            if self._accept_literal(literal, embedded=embedded):
                return result
        start = tokens.position
        try:
            if tokens.accept("["):
                return self._array()
            if tokens.accept("{"):
                return self._map()
        except DataError:
            # Not a list or map after all: the whole text is a string.
            tokens.position = start
        token = tokens.next()
        if is_blank(token) and not tokens.has_next():
            return SchemaAndValue(STRING_SCHEMA, token)
        while is_blank(token):
            token = tokens.next()
        return self._scalar(trimmed(token), embedded=embedded)

    def _accept_literal(self, literal: str, *, embedded: bool) -> bool:
        """Reads a literal; outside of lists and maps it must be the whole text: `true}` is a string."""
        start = self.tokens.position
        if self.tokens.accept(literal) and (embedded or not self.tokens.has_next()):
            return True
        self.tokens.position = start
        return False

    def _scalar(self, token: str, *, embedded: bool) -> SchemaAndValue:
        if token[0] in _DIGITS:
            # The colons of a time are delimiters: four more tokens may belong to it.
            start = self.tokens.position
            rest = self.tokens.next_joined(4)
            found = parse_temporal(token + rest) if rest is not None else None
            if found is not None:
                return found
            self.tokens.position = start
            found = parse_temporal(token)
            if found is not None:
                return found
        if token[0] in _NUMBER_START:
            number = parse_number(token)
            if number is not None:
                return number
        if embedded:
            raise DataError("Failed to parse embedded value")
        return SchemaAndValue(STRING_SCHEMA, self.text)

    def _quoted(self) -> SchemaAndValue:
        parts: list[str] = []
        while self.tokens.has_next() and not self.tokens.accept('"'):
            parts.append(self.tokens.next())
        content = "".join(parts)
        return parse_temporal(content) or SchemaAndValue(STRING_SCHEMA, content)

    def _array(self) -> SchemaAndValue:
        values: list[Any] = []
        common = _CommonSchema()
        while self.tokens.has_next():
            if self.tokens.accept("]"):
                return SchemaAndValue(SchemaBuilder.array(common.schema).build(), common.aligned(values))
            if self.tokens.accept(","):
                raise DataError(f"Unable to parse an empty array element: {self.text}")
            element = self.parse(embedded=True)
            common.merge(element.schema)
            values.append(element.value)
            self._separator("]", "Array elements")
        raise DataError(f"Array is missing terminating ']': {self.text}")

    def _separator(self, end: str, what: str) -> None:
        """Reads the comma after an element; none is needed before the end."""
        after = self.tokens.position
        if self.tokens.accept(end):
            self.tokens.position = after
        elif not self.tokens.accept(","):
            raise DataError(f"{what} missing ',' delimiter")

    def _map(self) -> SchemaAndValue:
        keys: list[Any] = []
        values: list[Any] = []
        common_key, common_value = _CommonSchema(), _CommonSchema()
        while self.tokens.has_next():
            if self.tokens.accept("}"):
                if common_key.schema is None:
                    return SchemaAndValue(SchemaBuilder.map(None, None).build(), _dict(keys, values))
                schema = SchemaBuilder.map(common_key.schema, common_value.schema).build()
                return SchemaAndValue(schema, _dict(common_key.aligned(keys), common_value.aligned(values)))
            if self.tokens.accept(","):
                raise DataError(f"Unable to parse a map entry with no key or value: {self.text}")
            key = self.parse(embedded=True)
            if key.value is None:
                raise DataError(f"Map entry may not have a null key: {self.text}")
            if not self.tokens.accept(":"):
                raise DataError(f"Map entry is missing ':' at {self.tokens.position} in {self.text}")
            value = self.parse(embedded=True)
            keys.append(key.value)
            values.append(value.value)
            common_key.merge(key.schema)
            common_value.merge(value.schema)
            self._separator("}", "Map entries")
        raise DataError(f"Map is missing terminating '}}': {self.text}")


def _dict(keys: list[Any], values: list[Any]) -> dict[Any, Any]:
    try:
        return dict(zip(keys, values, strict=True))
    except TypeError:
        raise DataError("a list or a map cannot be the key of a map") from None


def parse_number(token: str) -> SchemaAndValue | None:
    """A number in the smallest type that holds it, or None if the token is no number."""
    number = parse_decimal(token)
    if number is None:
        return None
    scale = decimal_scale(number)
    size = number.adjusted()
    # Exponents are looked at first, so that 1e999999999 is never written out.
    if size < 20 and (not number or (size >= 0 and number == number.to_integral_value())):
        whole = int(number)
        bits = whole.bit_length() if whole >= 0 else (whole + 1).bit_length()
        for width, schema in _INTEGERS:
            if bits <= width:
                return SchemaAndValue(schema, whole)
    if scale != 0:
        double = to_float(number)
        single = to_float32(double)
        if not math.isinf(single):
            return SchemaAndValue(FLOAT32_SCHEMA, single)
        if not math.isinf(double):
            return SchemaAndValue(FLOAT64_SCHEMA, double)
    return SchemaAndValue(decimal_schema(scale), number)


def parse_temporal(text: str) -> SchemaAndValue | None:
    """A date, time or timestamp in ISO form, or None. Colons may be escaped."""
    text = text.replace("\\:", ":")
    if len(text) not in _ISO_BY_LENGTH:
        return None
    schema, pattern = _ISO_BY_LENGTH[len(text)]
    millis = pattern.parse(text)
    return SchemaAndValue(schema, from_millis(millis)) if millis is not None else None


class _CommonSchema:
    """The schema that elements have in common: numbers widen, anything else must have the same type."""

    def __init__(self) -> None:
        self.schema: Schema | None = None
        self._mixed = False

    def merge(self, schema: Schema | None) -> None:
        if schema is None or self._mixed:
            return
        if self.schema is None or _same_kind(self.schema, schema):
            self.schema = schema
        elif _is_number(self.schema) and _is_number(schema):
            self.schema = max(self.schema, schema, key=lambda one: _WIDENING.index(one.type))
        else:
            self.schema = None
            self._mixed = True

    def aligned(self, values: list[Any]) -> list[Any]:
        """The values in the common type.

        Raises:
            DataError: One of them is null and the others are not.
        """
        if self.schema is None:
            return values
        from penstock.connect.data.conversions import convert_to

        return [convert_to(self.schema, None, value) for value in values]


def _same_kind(one: Schema, other: Schema) -> bool:
    return one.type is other.type and one.name == other.name and one.parameters == other.parameters


def _is_number(schema: Schema) -> bool:
    return schema.name is None and schema.type in _WIDENING
