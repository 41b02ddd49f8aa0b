from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from penstock.errors import SerdeError
from penstock.serde import Serde, Serdes, names, register_serde, resolve_serde
from penstock.serde.primitives import StringSerde

SHORT_NAMES = ["string", "bytes", "long", "int", "short", "double", "float", "bool", "uuid", "json", "void"]


def test_short_names_and_factories_give_the_same_serdes() -> None:
    made: list[Serde[Any]] = [
        Serdes.string(),
        Serdes.bytes(),
        Serdes.long(),
        Serdes.integer(),
        Serdes.short(),
        Serdes.double(),
        Serdes.float(),
        Serdes.boolean(),
        Serdes.uuid(),
        Serdes.json(),
        Serdes.void(),
    ]
    assert [resolve_serde(name) for name in SHORT_NAMES] == made
    assert [serde.name for serde in made] == SHORT_NAMES
    assert Serdes.byte_array() == Serdes.bytes()


def test_none_means_not_given() -> None:
    assert resolve_serde(None) is None


def test_java_names_of_settings_files() -> None:
    assert resolve_serde("org.apache.kafka.common.serialization.Serdes$StringSerde") == Serdes.string()
    assert resolve_serde("org.apache.kafka.common.serialization.Serdes$UUIDSerde") == Serdes.uuid()


@pytest.mark.parametrize(
    ("name", "message"),
    [
        (
            "jsn",
            (
                'no serde is called "jsn". Did you mean "json"? Known names: avro, bool, byte_buffer, bytes, double, '
                "float, int, json, long, protobuf, short, string, uuid, void."
            ),
        ),
        (
            "avro",
            (
                'the avro serde is not available in this version. Use "json" or Serdes.from_functions(...), '
                'or add one with register_serde("avro", factory).'
            ),
        ),
    ],
)
def test_unknown_names(name: str, message: str) -> None:
    with pytest.raises(SerdeError) as caught:
        resolve_serde(name)
    assert str(caught.value) == message


def test_an_unknown_java_class_is_named() -> None:
    with pytest.raises(SerdeError, match=r"Serdes\$ListSerde"):
        resolve_serde("org.apache.kafka.common.serialization.Serdes$ListSerde")


def test_things_that_are_no_serde() -> None:
    with pytest.raises(SerdeError, match=r"StringSerde is a class, not a serde. Call it: StringSerde\(\)."):
        resolve_serde(StringSerde)  # type: ignore[call-overload]
    with pytest.raises(SerdeError, match="5 is no serde"):
        resolve_serde(5)  # type: ignore[call-overload]


@pytest.fixture
def own_names() -> Iterator[None]:
    before = dict(names._FACTORIES)
    yield
    names._FACTORIES.clear()
    names._FACTORIES.update(before)


@pytest.mark.usefixtures("own_names")
def test_a_name_can_be_registered() -> None:
    serde = Serdes.from_functions(str.encode, bytes.decode, name="mine")
    register_serde("mine", lambda: serde)
    assert resolve_serde("mine") is serde
    register_serde("avro", lambda: serde)
    assert resolve_serde("avro") is serde


def test_a_name_needs_a_factory() -> None:
    with pytest.raises(SerdeError, match="needs a name and a factory"):
        register_serde("mine", 5)  # type: ignore[arg-type]
