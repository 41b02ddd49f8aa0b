from __future__ import annotations

from typing import Any

import pytest

from penstock.cli.errors import InputError
from penstock.cli.record_formats import Format, as_text, decoder, from_text, from_value

CASES: list[tuple[Format, bytes, Any, bytes]] = [
    (Format.STRING, b"caf\xc3\xa9", "café", b"caf\xc3\xa9"),
    (Format.JSON, b'{"a": [1, null]}', {"a": [1, None]}, b'{"a": [1, null]}'),
    (Format.LONG, b"-2", -2, b"\xff\xff\xff\xff\xff\xff\xff\xfe"),
    (Format.INT, b"258", 258, b"\x00\x00\x01\x02"),
    (Format.SHORT, b"1", 1, b"\x00\x01"),
    (Format.DOUBLE, b"0.5", 0.5, b"\x3f\xe0\x00\x00\x00\x00\x00\x00"),
    (Format.FLOAT, b"0.5", 0.5, b"\x3f\x00\x00\x00"),
    (Format.HEX, b"00ff", "00ff", b"\x00\xff"),
]


@pytest.mark.parametrize(("kind", "typed", "shown", "data"), CASES)
def test_what_is_typed_is_written_and_shown(kind: Format, typed: bytes, shown: Any, data: bytes) -> None:
    assert from_text(kind, typed) == data
    assert decoder(kind)(data) == shown
    assert decoder(kind)(from_value(kind, shown)) == shown


def test_null_stays_null() -> None:
    assert decoder(Format.LONG)(None) is None
    assert from_value(Format.LONG, None) is None
    assert as_text(None) == "null"


def test_bytes_that_are_no_text_are_shown_escaped() -> None:
    assert decoder(Format.STRING)(b"a\xffb") == "a\\xffb"


@pytest.mark.parametrize(
    ("kind", "typed", "message"),
    [
        (Format.LONG, b"x1", "'x1' is not a long"),
        (Format.LONG, b"1.5", "'1.5' is not a long"),
        (Format.SHORT, b"40000", "40000 does not fit into a short"),
        (Format.FLOAT, b"1e300", "1e+300 does not fit into a float"),
        (Format.HEX, b"0g", "'0g' is not hex"),
        (Format.JSON, b'{"a": }', "this is no JSON"),
    ],
)
def test_what_cannot_be_written_is_refused(kind: Format, typed: bytes, message: str) -> None:
    with pytest.raises(InputError, match=message.replace("+", r"\+")):
        from_text(kind, typed)


@pytest.mark.parametrize("value", [True, 1.5, [1], {"a": 1}])
def test_json_values_of_another_type_are_refused(value: Any) -> None:
    with pytest.raises(InputError, match="is not a long"):
        from_value(Format.LONG, value)


@pytest.mark.parametrize(
    ("kind", "data", "message"),
    [(Format.LONG, b"abc", "3 bytes, where a long has 8"), (Format.JSON, b"{", r"no JSON \(.* at column")],
)
def test_bytes_of_another_format_say_so(kind: Format, data: bytes, message: str) -> None:
    with pytest.raises(ValueError, match=message):
        decoder(kind)(data)
