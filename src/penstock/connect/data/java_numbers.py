"""Numbers as Java converts, parses and prints them."""

from __future__ import annotations

import decimal
import math
import re
import struct

from penstock.connect.data.logical import decimal_scale
from penstock.connect.data.schema import Type

_BITS = {Type.INT8: 8, Type.INT16: 16, Type.INT32: 32, Type.INT64: 64}
_INTEGER = re.compile(r"[+-]?[0-9]+")
_FLOAT = re.compile(r"\s*([+-]?(?:NaN|Infinity|(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?[fFdD]?))\s*")
_DECIMAL = re.compile(r"[+-]?(?:[0-9]+\.?[0-9]*|\.[0-9]+)(?:[eE][+-]?[0-9]+)?")
_FLOAT32 = struct.Struct(">f")


def wrap(number: int, bits: int) -> int:
    """The low bits of an int as a signed number: what Java keeps when it narrows.

    >>> wrap(200, 8), wrap(-129, 8), wrap(127, 8)
    (-56, 127, 127)
    """
    low = number & ((1 << bits) - 1)
    return low - (1 << bits) if low >> (bits - 1) else low


def narrow(number: float | decimal.Decimal, target: Type) -> int:
    """A number as an int type, the way Java casts: wrapped, or for floats cut off and limited to the range.

    >>> narrow(300, Type.INT8), narrow(1e20, Type.INT64), narrow(-1.9, Type.INT32)
    (44, 9223372036854775807, -1)
    """
    bits = _BITS[target]
    if isinstance(number, float):
        # A float becomes an int or a long first, with saturation; byte and short are cut from the int.
        number = _saturate(number, 64 if bits == 64 else 32)
    elif isinstance(number, decimal.Decimal):
        # A power of ten from 64 on has no low bits; writing it out could take all memory.
        number = 0 if number.adjusted() < 0 or -decimal_scale(number) >= 64 else int(number)
    return wrap(number, bits)


def _saturate(number: float, bits: int) -> int:
    if math.isnan(number):
        return 0
    limit = 1 << (bits - 1)
    if number >= limit:
        return limit - 1
    if number <= -limit:
        return -limit
    return int(number)


def to_float32(number: float) -> float:
    """The nearest 32 bit float.

    >>> to_float32(0.1)
    0.10000000149011612
    """
    try:
        rounded: float = _FLOAT32.unpack(_FLOAT32.pack(number))[0]
    except OverflowError:
        return math.copysign(math.inf, number)
    return rounded


def to_float(number: float | decimal.Decimal) -> float:
    """A number as a double; infinite where it is too large, as in Java."""
    try:
        return float(number)
    except OverflowError:
        return math.inf if number > 0 else -math.inf


def shortest_float32(number: float) -> float:
    """The double with the fewest digits that still means the same 32 bit float.

    >>> shortest_float32(12.34000015258789)
    12.34
    """
    if not math.isfinite(number):
        return number
    try:
        data = _FLOAT32.pack(number)
    except OverflowError:
        return number
    for digits in (6, 7, 8, 9):
        candidate = float(f"{number:.{digits}g}")
        try:
            if _FLOAT32.pack(candidate) == data:
                return candidate
        except OverflowError:
            continue
    return number


def parse_int(text: str, target: Type) -> int:
    """Reads an int, strictly.

    Raises:
        ValueError: The text is no int, or too large for the type.
    """
    if not _INTEGER.fullmatch(text):
        raise ValueError(f'For input string: "{text}"')
    number = int(text)
    limit = 1 << (_BITS[target] - 1)
    if not -limit <= number < limit:
        raise ValueError(f'Value out of range. Value:"{text}"')
    return number


def parse_decimal(text: str) -> decimal.Decimal | None:
    """Reads a decimal with all its digits; None if the text is no number.

    >>> parse_decimal("1.50"), parse_decimal("NaN"), parse_decimal("1_0")
    (Decimal('1.50'), None, None)
    """
    if not _DECIMAL.fullmatch(text):
        return None
    try:
        number = decimal.Decimal(text)
    except decimal.InvalidOperation:
        return None
    return number if number.is_finite() else None


def parse_float(text: str) -> float:
    """Reads a float as Java's `Double.parseDouble`: blanks around it and a closing `f` or `d` are allowed.

    Raises:
        ValueError: The text is no number.
    """
    match = _FLOAT.fullmatch(text)
    if match is None:
        raise ValueError(f'For input string: "{text}"')
    return float(match[1] if match[1].endswith(("NaN", "Infinity")) else match[1].rstrip("fFdD"))


def float_text(number: float) -> str:
    """A double as Java prints it.

    >>> float_text(1.0), float_text(1e7), float_text(0.0001), float_text(float("nan"))
    ('1.0', '1.0E7', '1.0E-4', 'NaN')
    """
    if math.isnan(number):
        return "NaN"
    if math.isinf(number):
        return "Infinity" if number > 0 else "-Infinity"
    if number == 0 or 1e-3 <= abs(number) < 1e7:
        text = repr(number)
        return text if "e" not in text else format(decimal.Decimal(text), "f")
    sign, digits, exponent = decimal.Decimal(repr(number)).normalize().as_tuple()
    assert isinstance(exponent, int)
    fraction = "".join(map(str, digits[1:])) or "0"
    return f"{'-' if sign else ''}{digits[0]}.{fraction}E{len(digits) - 1 + exponent}"


def float32_text(number: float) -> str:
    """A 32 bit float as Java prints it, without the digits it gains as a double."""
    return float_text(shortest_float32(number))
