"""Bytes must be those of Kafka's Java serdes; errors must tell what to do."""

from __future__ import annotations

import pickle
import struct
from enum import IntEnum
from typing import Any
from uuid import UUID

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.errors import SerdeError
from penstock.serde import Serde, Serdes, resolve_serde

ID = UUID("12345678-1234-5678-1234-567812345678")

ROUND_TRIPS: list[tuple[str, Any, bytes]] = [
    ("string", "", b""),
    ("string", "grüß 🎉", b"gr\xc3\xbc\xc3\x9f \xf0\x9f\x8e\x89"),
    ("bytes", b"\x00\xff", b"\x00\xff"),
    ("long", 1, b"\x00\x00\x00\x00\x00\x00\x00\x01"),
    ("long", -2, b"\xff\xff\xff\xff\xff\xff\xff\xfe"),
    ("long", 2**63 - 1, b"\x7f" + b"\xff" * 7),
    ("int", 1, b"\x00\x00\x00\x01"),
    ("int", -(2**31), b"\x80\x00\x00\x00"),
    ("short", 258, b"\x01\x02"),
    ("double", 1.5, b"\x3f\xf8\x00\x00\x00\x00\x00\x00"),
    ("float", 1.5, b"\x3f\xc0\x00\x00"),
    ("bool", True, b"\x01"),
    ("bool", False, b"\x00"),
    ("uuid", ID, b"12345678-1234-5678-1234-567812345678"),
    ("byte_buffer", memoryview(b"abc"), b"abc"),
]


@pytest.mark.parametrize(("name", "value", "data"), ROUND_TRIPS)
def test_bytes_are_those_of_kafka(name: str, value: Any, data: bytes) -> None:
    serde = resolve_serde(name)
    assert serde.serialize("t", value) == data
    assert serde.deserialize("t", data) == value
    assert serde.encoder("t")(value) == data
    assert serde.decoder("t")(data) == value
    assert type(serde.deserialize("t", data)) is type(value)


ALL = ["string", "bytes", "long", "int", "short", "double", "float", "bool", "uuid", "byte_buffer", "void", "json"]


@pytest.mark.parametrize("name", ALL)
def test_null_is_none_on_both_sides(name: str) -> None:
    serde = resolve_serde(name)
    assert serde.serialize("t", None) is None
    assert serde.deserialize("t", None) is None


@pytest.mark.parametrize("name", ALL)
def test_serdes_are_values_and_travel(name: str) -> None:
    serde = resolve_serde(name)
    copy = pickle.loads(pickle.dumps(serde))
    assert copy == serde
    assert copy.decoder("t")(None) is None


WRONG_TYPES: list[tuple[str, Any, str]] = [
    (
        "string",
        5,
        'the string serde cannot write int 5 to topic x. Set key_serde or value_serde="long", or map it to str first.',
    ),
    (
        "string",
        b"a",
        (
            "the string serde cannot write bytes b'a' to topic x. "
            'Set key_serde or value_serde="bytes", or map it to str first.'
        ),
    ),
    (
        "long",
        "5",
        "the long serde cannot write str '5' to topic x. Set key_serde or value_serde=\"string\", or map it to int first.",
    ),
    (
        "long",
        True,
        'the long serde cannot write bool True to topic x. Set key_serde or value_serde="bool", or map it to int first.',
    ),
    (
        "long",
        1.0,
        'the long serde cannot write float 1.0 to topic x. Set key_serde or value_serde="double", or map it to int first.',
    ),
    (
        "double",
        "1",
        "the double serde cannot write str '1' to topic x. Set key_serde or value_serde=\"string\", or map it to float first.",
    ),
    ("double", object, "the double serde cannot write type <class 'object'> to topic x. Map it to float first."),
    (
        "bool",
        1,
        'the bool serde cannot write int 1 to topic x. Set key_serde or value_serde="long", or map it to bool first.',
    ),
    (
        "bytes",
        bytearray(b"a"),
        "the bytes serde cannot write bytearray bytearray(b'a') to topic x. Map it to bytes first.",
    ),
    (
        "uuid",
        str(ID),
        (
            "the uuid serde cannot write str '12345678-1234-5678-1234-567812345678' to topic x. "
            'Set key_serde or value_serde="string", or map it to uuid.UUID first.'
        ),
    ),
    (
        "void",
        {},
        'the void serde cannot write dict {} to topic x. Set key_serde or value_serde="json", or map it to None first.',
    ),
    (
        "byte_buffer",
        "a",
        (
            "the byte_buffer serde cannot write str 'a' to topic x. "
            'Set key_serde or value_serde="string", or map it to memoryview first.'
        ),
    ),
]


@pytest.mark.parametrize(("name", "value", "message"), WRONG_TYPES)
def test_wrong_type_says_what_to_do(name: str, value: Any, message: str) -> None:
    with pytest.raises(SerdeError) as caught:
        resolve_serde(name).serialize("x", value)
    assert str(caught.value) == message


OTHER_SERDE = "The topic was probably written with another serde; use the one of its producer."
WRONG_BYTES: list[tuple[str, Any, str]] = [
    ("long", b"12345", "the long serde reads 8 bytes, but a record of topic x has 5: b'12345'. " + OTHER_SERDE),
    ("int", b"", "the int serde reads 4 bytes, but a record of topic x has 0: b''. " + OTHER_SERDE),
    ("double", b"1", "the double serde reads 8 bytes, but a record of topic x has 1: b'1'. " + OTHER_SERDE),
    ("bool", b"ab", "the bool serde reads 1 bytes, but a record of topic x has 2: b'ab'. " + OTHER_SERDE),
    (
        "bool",
        b"\x02",
        "the bool serde cannot read 1 bytes of topic x: the byte is neither 0 nor 1: b'\\x02'. " + OTHER_SERDE,
    ),
    (
        "string",
        b"a\xff",
        "the string serde cannot read 2 bytes of topic x: no UTF-8 at byte 1: b'a\\xff'. " + OTHER_SERDE,
    ),
    ("uuid", b"abc", "the uuid serde reads 36 bytes, but a record of topic x has 3: b'abc'. " + OTHER_SERDE),
    ("void", b"a", "the void serde cannot read 1 bytes of topic x: it reads null only: b'a'. " + OTHER_SERDE),
    (
        "string",
        5,
        "the string serde reads bytes, but got int 5 for topic x. Pass serialised data, or serialise the value first.",
    ),
    (
        "long",
        "abcdefgh",
        (
            "the long serde reads bytes, but got str 'abcdefgh' for topic x. "
            "Pass serialised data, or serialise the value first."
        ),
    ),
]


@pytest.mark.parametrize(("name", "data", "message"), WRONG_BYTES)
def test_wrong_bytes_say_what_was_there(name: str, data: Any, message: str) -> None:
    with pytest.raises(SerdeError) as caught:
        resolve_serde(name).deserialize("x", data)
    assert str(caught.value) == message


def test_uuid_text_that_is_none() -> None:
    with pytest.raises(SerdeError, match="no UUID text"):
        Serdes.uuid().deserialize("x", b"z" * 36)


@pytest.mark.parametrize(
    ("name", "value", "limits"),
    [("short", 2**15, "-32768 to 32767"), ("int", -(2**31) - 1, "-2147483648 to 2147483647"), ("long", 2**63, "")],
)
def test_numbers_out_of_range(name: str, value: int, limits: str) -> None:
    with pytest.raises(SerdeError, match=f"cannot write {value} to topic x: it holds {limits}"):
        resolve_serde(name).serialize("x", value)


def test_float_serdes_take_exact_ints_only() -> None:
    assert Serdes.double().serialize("x", 3) == struct.pack(">d", 3.0)
    for value in (2**53 + 1, 10**400):
        with pytest.raises(SerdeError, match="no float of 64 bits has exactly this value"):
            Serdes.double().serialize("x", value)
    with pytest.raises(SerdeError, match="no float of 32 bits has exactly this value"):
        Serdes.float().serialize("x", 2**24 + 1)
    with pytest.raises(SerdeError, match="32 bits"):
        Serdes.float().serialize("x", 1e300)


def test_int_subclasses_are_ints() -> None:
    class Colour(IntEnum):
        RED = 1

    assert Serdes.long().serialize("x", Colour.RED) == Serdes.long().serialize("x", 1)


def test_surrogates_have_no_bytes() -> None:
    with pytest.raises(SerdeError, match="surrogate at position 1"):
        Serdes.string().serialize("x", "a\ud800")


def test_long_values_are_cut_in_messages() -> None:
    with pytest.raises(SerdeError) as caught:
        Serdes.long().serialize("x", "a" * 10_000)  # type: ignore[arg-type]
    assert len(str(caught.value)) < 300


def test_identity_and_mutability_flags() -> None:
    identity = {name for name in ALL if resolve_serde(name).key_identity}
    assert identity == {"string", "bytes", "long", "int", "short", "uuid", "void"}
    assert {name for name in ALL if resolve_serde(name).mutable} == {"json"}
    assert not any(resolve_serde(name).uses_headers for name in ALL)


VALUES: dict[str, st.SearchStrategy[Any]] = {
    "string": st.text(),
    "bytes": st.binary(),
    "long": st.integers(-(2**63), 2**63 - 1),
    "int": st.integers(-(2**31), 2**31 - 1),
    "short": st.integers(-(2**15), 2**15 - 1),
    "uuid": st.uuids(),
}


@given(st.data(), st.sampled_from(sorted(VALUES)))
def test_key_identity_means_equal_values_are_equal_bytes(data: st.DataObject, name: str) -> None:
    serde = resolve_serde(name)
    a, b = data.draw(VALUES[name]), data.draw(VALUES[name])
    assert serde.key_identity
    assert (a == b) == (serde.serialize("t", a) == serde.serialize("t", b))
    assert serde.deserialize("t", serde.serialize("t", a)) == a


@given(st.floats(allow_nan=False))
def test_doubles_round_trip(value: float) -> None:
    serde = Serdes.double()
    assert serde.deserialize("t", serde.serialize("t", value)) == value


class _Upper(Serde[str]):
    def serialize(self, topic: str, value: str | None, headers: Any = None) -> bytes | None:
        return None if value is None else f"{topic}:{value.upper()}".encode()

    def deserialize(self, topic: str, data: bytes | None, headers: Any = None) -> str | None:
        return None if data is None else f"{topic}:{data.decode().lower()}"


def test_a_serde_of_ones_own_gets_encoder_and_decoder() -> None:
    serde = _Upper()
    assert serde.encoder("t")("a") == b"t:A"
    assert serde.decoder("t")(b"A") == "t:a"
    assert serde.encoder("t")(None) is None
    assert serde.name == "_Upper"
    assert resolve_serde(serde) is serde
