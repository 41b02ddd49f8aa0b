from __future__ import annotations

import pickle
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import errors
from penstock.serde import Serdes, WindowedSerdes
from penstock.topology.foreign_key_serdes import (
    Instruction,
    Response,
    ResponseSerde,
    Subscription,
    SubscriptionSerde,
    to_left_partition,
    value_hash,
)

HASHES = st.none() | st.binary(min_size=16, max_size=16)
PARTITIONS = st.integers(0, 2**31 - 1)


@given(st.sampled_from(Instruction), HASHES, st.text(), PARTITIONS)
def test_a_subscription_survives_its_bytes(instruction: int, left_hash: bytes | None, key: str, partition: int) -> None:
    serde = SubscriptionSerde(Serdes.string())
    subscription = Subscription(instruction, left_hash, key, partition)
    assert serde.deserialize("t", serde.serialize("t", subscription)) == subscription


@given(HASHES, st.none() | st.text(), PARTITIONS)
def test_a_response_survives_its_bytes(left_hash: bytes | None, value: str | None, partition: int) -> None:
    serde = ResponseSerde(Serdes.string())
    response = Response(left_hash, value, partition)
    assert serde.deserialize("t", serde.serialize("t", response)) == response


def test_the_bytes_are_fixed_because_topics_outlive_a_version() -> None:
    subscription = Subscription(Instruction.PROPAGATE_ONLY_IF_FK_VAL_AVAILABLE, b"h" * 16, "pk", 7)
    assert SubscriptionSerde("string").serialize("t", subscription) == b"\x1b\0\0\0\x07" + b"h" * 16 + b"pk"
    unsubscription = Subscription(Instruction.DELETE_KEY_AND_PROPAGATE, None, "pk", 7)
    assert SubscriptionSerde("string").serialize("t", unsubscription) == b"\x11\0\0\0\x07pk"
    assert ResponseSerde("string").serialize("t", Response(b"h" * 16, "", 1)) == b"\x1c\0\0\0\x01" + b"h" * 16
    assert ResponseSerde("string").serialize("t", Response(None, None, 1)) == b"\x10\0\0\0\x01"
    assert value_hash(b"value") == bytes.fromhex("b9593f9e1096b5482cd35ed7e15d1f18")


def test_an_empty_right_value_is_not_a_missing_one() -> None:
    serde = ResponseSerde(Serdes.string())
    assert serde.deserialize("t", serde.serialize("t", Response(None, "", 0))) == Response(None, "", 0)


def test_null_is_null() -> None:
    for serde in (SubscriptionSerde("string"), ResponseSerde("string")):
        assert serde.serialize("t", None) is None
        assert serde.deserialize("t", None) is None


def test_windowed_primary_keys() -> None:
    from penstock.records import Window, Windowed

    serde = SubscriptionSerde(WindowedSerdes.time_windowed("string", 10))
    subscription = Subscription(0, None, Windowed("a", Window(0, 10)), 3)
    assert serde.deserialize("t", serde.serialize("t", subscription)) == subscription


def test_hashes_tell_values_apart_and_null_has_none() -> None:
    assert value_hash(b"a") != value_hash(b"b")
    assert value_hash(b"a") == value_hash(b"a")
    assert value_hash(None) is None


@pytest.mark.parametrize(
    ("data", "text"),
    [
        (b"\x10\0", "shorter than its head"),
        (b"\x18\0\0\0\0short", "its hash is cut off"),
        (b"\x20\0\0\0\0pk", "format version 2"),
    ],
)
def test_bytes_that_are_no_subscription(data: bytes, text: str) -> None:
    with pytest.raises(errors.SerdeError, match=text):
        SubscriptionSerde("string").deserialize("subscriptions", data)


def test_a_null_primary_key_cannot_be_written() -> None:
    with pytest.raises(errors.SerdeError, match="primary key is null"):
        SubscriptionSerde("string").serialize("t", Subscription(0, None, None, 0))


def test_serdes_that_were_not_given_come_from_the_defaults() -> None:
    for empty in (SubscriptionSerde(None), ResponseSerde(None)):
        with pytest.raises(errors.SerdeError, match="no serde for what it wraps"):
            empty.encoder("t")
    assert SubscriptionSerde(None).with_defaults("long", "string") == SubscriptionSerde("long")
    assert ResponseSerde(None).with_defaults("long", "string") == ResponseSerde("string")
    given_one: Any = SubscriptionSerde("uuid")
    assert given_one.with_defaults("long", "string") is given_one


def test_answers_go_to_the_partition_that_asked() -> None:
    assert to_left_partition("t", "pk", Response(None, None, 5), 8) == 5
    assert pickle.loads(pickle.dumps(to_left_partition)) is to_left_partition
