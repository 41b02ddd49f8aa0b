from __future__ import annotations

from datetime import datetime, timedelta, timezone
from decimal import Decimal

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connect.data import DATE_SCHEMA, INT32_SCHEMA, TIME_SCHEMA, TIMESTAMP_SCHEMA, Schema, Type, decimal_schema
from penstock.connect.data.logical import (
    EPOCH,
    date_from_days,
    date_to_days,
    decimal_from_bytes,
    decimal_of,
    decimal_scale,
    decimal_to_bytes,
    encoded,
    from_millis,
    int_to_bytes,
    scale_of,
    time_from_millis,
    time_to_millis,
    to_millis,
    unscaled,
)
from penstock.connect.errors import DataError


@pytest.mark.parametrize(
    ("number", "data"),
    [(0, "00"), (1, "01"), (127, "7f"), (128, "0080"), (-1, "ff"), (-128, "80"), (-129, "ff7f"), (156, "009c")],
)
def test_ints_take_as_few_bytes_as_in_java(number: int, data: str) -> None:
    assert int_to_bytes(number).hex() == data


@given(st.integers(min_value=-(10**60), max_value=10**60), st.integers(min_value=-20, max_value=40))
def test_decimals_keep_every_digit(number: int, scale: int) -> None:
    value = decimal_of(number, scale)
    assert (unscaled(value), decimal_scale(value)) == (number, scale)
    schema = decimal_schema(scale)
    again = decimal_from_bytes(schema, decimal_to_bytes(schema, value))
    assert again.as_tuple() == value.as_tuple()


def test_a_decimal_has_the_scale_of_its_schema() -> None:
    assert decimal_to_bytes(decimal_schema(2), Decimal("1.56")) == b"\x00\x9c"
    with pytest.raises(DataError, match="Schema has scale 2, value has scale 1") as caught:
        decimal_to_bytes(decimal_schema(2), Decimal("1.5"))
    assert "quantize" in caught.value.hint
    with pytest.raises(DataError, match="must be finite"):
        decimal_to_bytes(decimal_schema(0), Decimal("NaN"))


def test_a_decimal_schema_names_its_scale() -> None:
    assert scale_of(decimal_schema(3)) == 3
    with pytest.raises(DataError, match="scale parameter not found"):
        scale_of(Schema(Type.BYTES))
    with pytest.raises(DataError, match="Invalid scale parameter"):
        scale_of(Schema(Type.BYTES, parameters={"scale": "two"}))


@given(st.integers(min_value=-62135596800000, max_value=253402300799999))
def test_instants_are_whole_milliseconds(millis: int) -> None:
    assert to_millis(from_millis(millis)) == millis


def test_microseconds_are_cut_off() -> None:
    assert to_millis(EPOCH + timedelta(microseconds=1999)) == 1
    assert to_millis(EPOCH - timedelta(microseconds=1)) == -1


def test_other_time_zones_are_the_same_instant() -> None:
    assert to_millis(datetime(1970, 1, 1, 2, tzinfo=timezone(timedelta(hours=2)))) == 0


def test_instants_beyond_the_calendar_are_refused() -> None:
    with pytest.raises(DataError, match="not within the years 1 to 9999") as caught:
        from_millis(2**62)
    assert "microseconds" in caught.value.hint


def test_a_date_is_midnight() -> None:
    assert date_to_days(datetime(1970, 1, 11, tzinfo=timezone.utc)) == 10
    assert date_from_days(-1) == datetime(1969, 12, 31, tzinfo=timezone.utc)
    with pytest.raises(DataError, match="should not have any time fields"):
        date_to_days(datetime(1970, 1, 11, 1, tzinfo=timezone.utc))


def test_a_time_is_on_the_first_day() -> None:
    assert time_to_millis(from_millis(1234)) == 1234
    with pytest.raises(DataError, match="should not have any date fields"):
        time_to_millis(datetime(1970, 1, 3, tzinfo=timezone.utc))
    with pytest.raises(DataError, match="Time values must use number of milliseconds"):
        time_from_millis(-1)


def test_values_are_encoded_by_the_name_of_their_schema() -> None:
    day = datetime(1970, 1, 2, tzinfo=timezone.utc)
    assert encoded(DATE_SCHEMA, day) == 1
    assert encoded(TIMESTAMP_SCHEMA, day) == 86_400_000
    assert encoded(TIME_SCHEMA, from_millis(5)) == 5
    assert encoded(decimal_schema(0), Decimal(7)) == b"\x07"
    assert encoded(INT32_SCHEMA, 7) == 7
