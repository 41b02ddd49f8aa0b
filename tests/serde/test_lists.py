"""The bytes of Kafka's ListSerde, written out by hand from its format."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import SerdeError
from penstock.serde import Serdes

CASES: list[tuple[str, list[Any], bytes]] = [
    ("int", [], b"\0" + b"\0\0\0\0" + b"\0\0\0\0"),
    ("int", [1, 2], b"\0" + b"\0\0\0\0" + b"\0\0\0\2" + b"\0\0\0\1\0\0\0\2"),
    ("int", [1, None, None, 4], b"\0" + b"\0\0\0\2\0\0\0\1\0\0\0\2" + b"\0\0\0\4" + b"\0\0\0\1\0\0\0\4"),
    ("string", [], b"\1" + b"\0\0\0\0"),
    (
        "string",
        ["a", None, "", "bc"],
        b"\1" + b"\0\0\0\4" + b"\0\0\0\1a" + b"\xff\xff\xff\xff" + b"\0\0\0\0" + b"\0\0\0\2bc",
    ),
]


@pytest.mark.parametrize(("inner", "value", "data"), CASES)
def test_bytes_are_those_of_kafka(inner: str, value: list[Any], data: bytes) -> None:
    serde = Serdes.list(inner)
    assert serde.serialize("t", value) == data
    assert serde.deserialize("t", data) == value


@pytest.mark.parametrize(
    ("inner", "strategy"),
    [(name, 0) for name in ("short", "int", "float", "long", "double", "uuid")]
    + [(name, 1) for name in ("string", "bytes", "bool", "json")],
)
def test_the_strategy_depends_on_the_inner_serde_as_in_java(inner: str, strategy: int) -> None:
    data = Serdes.list(inner).serialize("t", [])
    assert data is not None
    assert data[0] == strategy


@given(st.lists(st.none() | st.integers(-(2**15), 2**15 - 1)), st.lists(st.none() | st.text()))
def test_round_trips(numbers: list[int | None], texts: list[str | None]) -> None:
    short, string = Serdes.list("short"), Serdes.list(Serdes.string())
    assert short.deserialize("t", short.serialize("t", numbers)) == numbers
    assert string.deserialize("t", string.serialize("t", texts)) == texts


@pytest.mark.parametrize(
    ("inner", "data", "why"),
    [
        ("int", b"", "it is empty"),
        ("int", b"\x07", "the first byte is 7, not 0 or 1"),
        ("string", b"\0\0\0\0\0\0\0\0\0", "it was written with an inner serde of fixed size"),
        ("int", b"\0\0\0", "it ends too early"),
        ("int", b"\0\0\0\0\0\0\0\0\2\0\0\0\1", "it cannot have 2 entries|it ends too early"),
        ("int", b"\0\x7f\xff\xff\xff", "it cannot have 2147483647 null entries"),
        ("int", b"\0\0\0\0\0\0\0\0\1\0\0\0\1x", "1 bytes are left over"),
        ("string", b"\1\0\0\0\1\0\0\0\5ab", "an entry cannot have 5 bytes"),
        ("string", b"\1\x7f\0\0\0", "it cannot have"),
        ("string", b"\1\0\0\0\1\0\0", "it ends too early"),
    ],
)
def test_bytes_that_no_list_has(inner: str, data: bytes, why: str) -> None:
    with pytest.raises(SerdeError, match=f"the list\\({inner}\\) serde cannot read .* of topic x: ({why})"):
        Serdes.list(inner).deserialize("x", data)


def test_an_entry_of_the_wrong_type_is_named() -> None:
    with pytest.raises(SerdeError, match="the int serde cannot write str 'a' to topic x"):
        Serdes.list("int").serialize("x", [1, "a"])
    with pytest.raises(SerdeError, match=r"the list\(int\) serde cannot write int 5"):
        Serdes.list("int").serialize("x", 5)  # type: ignore[arg-type]


def test_fixed_size_entries_also_read_as_variable_ones() -> None:
    assert Serdes.list("short").deserialize("t", b"\1\0\0\0\1\0\0\0\2\0\7") == [7]
