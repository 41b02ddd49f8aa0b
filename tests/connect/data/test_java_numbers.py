from __future__ import annotations

import math
import struct
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connect.data import Type
from penstock.connect.data.java_numbers import (
    float32_text,
    float_text,
    narrow,
    parse_decimal,
    parse_float,
    parse_int,
    shortest_float32,
    to_float,
    to_float32,
    wrap,
)


@pytest.mark.parametrize(
    ("number", "target", "narrowed"),
    [
        (300, Type.INT8, 44),
        (-129, Type.INT8, 127),
        (70000, Type.INT16, 4464),
        (2**31, Type.INT32, -(2**31)),
        (2**63, Type.INT64, -(2**63)),
        (1e10, Type.INT32, 2**31 - 1),
        (1e10, Type.INT8, -1),
        (-1e10, Type.INT64, -10_000_000_000),
        (-1e300, Type.INT64, -(2**63)),
        (-1e300, Type.INT32, -(2**31)),
        (math.nan, Type.INT32, 0),
        (math.inf, Type.INT64, 2**63 - 1),
        (-1.9, Type.INT32, -1),
        (Decimal("42.9"), Type.INT8, 42),
        (Decimal("-0.9"), Type.INT8, 0),
        (Decimal("1e100"), Type.INT64, 0),
        (True, Type.INT8, 1),
    ],
)
def test_numbers_narrow_as_java_casts(number: float | Decimal, target: Type, narrowed: int) -> None:
    assert narrow(number, target) == narrowed


@given(st.integers())
def test_wrapping_keeps_the_low_bits(number: int) -> None:
    assert wrap(number, 64) & (2**64 - 1) == number & (2**64 - 1)
    assert -(2**63) <= wrap(number, 64) < 2**63


@pytest.mark.parametrize(
    ("number", "text"),
    [
        (0.0, "0.0"),
        (-0.0, "-0.0"),
        (1.0, "1.0"),
        (0.001, "0.001"),
        (0.00099, "9.9E-4"),
        (9999999.0, "9999999.0"),
        (1e7, "1.0E7"),
        (1.5e300, "1.5E300"),
        (-123456789.125, "-1.23456789125E8"),
        (math.nan, "NaN"),
        (math.inf, "Infinity"),
        (-math.inf, "-Infinity"),
    ],
)
def test_doubles_print_as_in_java(number: float, text: str) -> None:
    assert float_text(number) == text


@given(st.floats(allow_nan=False))
def test_printed_doubles_read_back(number: float) -> None:
    assert parse_float(float_text(number)) == number


@given(st.floats(width=32, allow_nan=False))
def test_printed_32_bit_floats_read_back(number: float) -> None:
    assert to_float32(parse_float(float32_text(number))) == number


def test_32_bit_floats_print_few_digits() -> None:
    assert float32_text(to_float32(300.01)) == "300.01"
    assert shortest_float32(to_float32(0.1)) == 0.1
    assert shortest_float32(math.inf) == math.inf
    assert float32_text(3.4028234663852886e38) == "3.4028235E38"


def test_doubles_that_are_too_large_become_infinite() -> None:
    assert to_float32(1e300) == math.inf
    assert to_float32(-1e300) == -math.inf
    assert to_float(10**400) == math.inf
    assert to_float(-(10**400)) == -math.inf
    assert to_float32(0.1) == struct.unpack(">f", struct.pack(">f", 0.1))[0]


@pytest.mark.parametrize("text", ["", " 1", "1 ", "1.0", "1_0", "0x1", "abc", "+", "\u0661"])
def test_ints_are_read_strictly(text: str) -> None:
    with pytest.raises(ValueError, match="For input string"):
        parse_int(text, Type.INT32)


def test_ints_have_a_range() -> None:
    assert parse_int("-128", Type.INT8) == -128
    assert parse_int("+7", Type.INT64) == 7
    with pytest.raises(ValueError, match="out of range"):
        parse_int("128", Type.INT8)


@pytest.mark.parametrize(
    ("text", "number"), [(" 1.5 ", 1.5), ("1e3", 1000.0), (".5f", 0.5), ("3d", 3.0), ("-Infinity", -math.inf)]
)
def test_floats_are_read_as_in_java(text: str, number: float) -> None:
    assert parse_float(text) == number


@pytest.mark.parametrize("text", ["", "inf", "nan", "1_0", "1e", "f"])
def test_other_texts_are_no_floats(text: str) -> None:
    with pytest.raises(ValueError, match="For input string"):
        parse_float(text)


def test_decimals_are_read_with_their_digits() -> None:
    assert parse_decimal("1.500") == Decimal("1.500")
    for text in ("", "NaN", "Infinity", "1_0", " 1", "0x1", "1e99999999999999999999999"):
        assert parse_decimal(text) is None
