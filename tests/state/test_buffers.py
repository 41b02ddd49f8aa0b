from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.durations import MAX_LONG
from penstock.errors import ProcessorStateError
from penstock.records import NO_HEADERS, Headers, ValueAndTimestamp
from penstock.state import join_buffer
from penstock.state.grace_buffer import GraceBuffer, Waiting
from penstock.state.internal_builders import (
    GraceBufferBuilder,
    JoinBufferBuilder,
    SubscriptionStoreBuilder,
    SuppressBufferBuilder,
)
from penstock.state.join_buffer import JoinBuffer
from penstock.state.subscription_store import SubscriptionStore
from penstock.state.suppress_buffer import SuppressBuffer
from tests.state.environment import Environment

H = Headers([("h", b"1"), ("n", None)])


def suppress_buffer(environment: Environment) -> SuppressBuffer:
    store = SuppressBufferBuilder(name="suppress").build(environment)
    assert isinstance(store, SuppressBuffer)
    return store


def test_suppress_keeps_the_first_time_and_old_value_and_the_last_update() -> None:
    buffer = suppress_buffer(Environment())
    assert (buffer.min_time, buffer.pop_oldest(), buffer.last_emitted("a")) == (MAX_LONG, None, (False, None))
    buffer.put(10, "b", 1, None, 10, NO_HEADERS)
    buffer.put(10, "a", 2, 7, 11, NO_HEADERS)
    buffer.put(20, "a", 3, 2, 5, H)
    buffer.put(5, "c", None, 9, 12, NO_HEADERS)
    assert (buffer.num_records, buffer.min_time) == (3, 5)
    assert buffer.last_emitted("a") == (True, (7, -1))
    assert buffer.last_emitted("b") == (True, None)
    assert [tuple(entry) for entry in buffer.pop_until(10)] == [
        (5, "c", None, 9, 12, NO_HEADERS),
        (10, "a", 3, 7, 5, H),
        (10, "b", 1, None, 10, NO_HEADERS),
    ]
    assert (buffer.num_records, buffer.buffer_size, buffer.min_time) == (0, 0, MAX_LONG)


def test_suppress_counts_bytes_as_kafka_does() -> None:
    environment = Environment()
    buffer = suppress_buffer(environment)
    origin = 8 + 8 + 4 + len("input")
    buffer.put(1, "key", 1, None, 1, NO_HEADERS)
    assert buffer.buffer_size == 8 + 3 + 8 + origin
    buffer.put(1, "key", 2, 1, 1, H)  # now an old value beside the first, which is none
    assert buffer.buffer_size == 8 + 3 + 8 + 8 + origin + 3
    buffer.flush()
    again = suppress_buffer(environment.restarted())
    assert (again.num_records, again.buffer_size, again.min_time) == (1, buffer.buffer_size, 1)


def test_a_buffer_refuses_records_without_a_key() -> None:
    with pytest.raises(ProcessorStateError, match="buffer suppress"):
        suppress_buffer(Environment()).put(1, None, 1, None, 1, NO_HEADERS)


suppress_steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "pop", "oldest", "restart"]),
        st.sampled_from(["", "a", "a\0", "b"]),
        st.integers(0, 20),
        st.one_of(st.none(), st.integers(0, 5)),
    ),
    max_size=30,
)


@given(suppress_steps)
def test_suppress_buffer_and_model_agree(steps: list[Any]) -> None:
    environment = Environment()
    buffer = suppress_buffer(environment)
    model: dict[str, list[Any]] = {}
    for name, key, time, value in steps:
        if name == "put":
            buffer.put(time, key, value, 99, time, H)
            entry = model.setdefault(key, [time, key, None, 99, None, H])
            entry[2], entry[4] = value, time
        elif name == "restart":
            buffer.flush()
            environment = environment.restarted()
            buffer = suppress_buffer(environment)
        else:
            due = sorted(model.values(), key=lambda entry: (entry[0], entry[1].encode()))
            if name == "pop":
                due = [entry for entry in due if entry[0] <= time]
                assert [list(entry) for entry in buffer.pop_until(time)] == due
            else:
                oldest = buffer.pop_oldest()
                due = due[:1]
                assert ([] if oldest is None else [list(oldest)]) == due
            for entry in due:
                del model[entry[1]]
        assert buffer.num_records == len(model)
        assert buffer.min_time == min((entry[0] for entry in model.values()), default=MAX_LONG)
        assert buffer.last_emitted(key)[0] == (key in model)
    list(buffer.pop_until(MAX_LONG - 1))
    assert buffer.buffer_size == 0


grace_steps = st.lists(
    st.tuples(st.sampled_from(["put", "put", "pop", "restart"]), st.sampled_from(["", "a", "a\0"]), st.integers(0, 9)),
    max_size=30,
)


@given(grace_steps)
def test_grace_buffer_gives_records_by_time_key_and_arrival(steps: list[Any]) -> None:
    environment = Environment()

    def build() -> GraceBuffer:
        store = GraceBufferBuilder(name="grace").build(environment)
        assert isinstance(store, GraceBuffer)
        return store

    buffer = build()
    model: list[Waiting] = []
    for number, (name, key, time) in enumerate(steps):
        if name == "put":
            headers = H if number % 2 else NO_HEADERS
            buffer.put(key, number, time, headers)
            model.append(Waiting(key, number, time, headers))
        elif name == "restart":
            buffer.flush()
            environment = environment.restarted()
            buffer = build()
        else:
            due = sorted(
                (record for record in model if record.timestamp <= time),
                key=lambda record: (record.timestamp, record.key.encode(), record.value),
            )
            assert list(buffer.pop_until(time)) == due
            model = [record for record in model if record.timestamp > time]
        assert buffer.min_time == min((record.timestamp for record in model), default=MAX_LONG)


join_steps = st.lists(
    st.tuples(
        st.sampled_from(["put", "put", "remove", "restart"]),
        st.integers(0, 5),
        st.booleans(),
        st.sampled_from(["", "a", "a\0"]),
    ),
    max_size=30,
)


@given(join_steps)
def test_join_buffer_walks_by_time_right_before_left_key_and_arrival(steps: list[Any]) -> None:
    environment = Environment()

    def build() -> JoinBuffer:
        store = JoinBufferBuilder(name="outer", value_serde="long", other_value_serde="json").build(environment)
        assert isinstance(store, JoinBuffer)
        return store

    buffer = build()
    model: dict[Any, list[Any]] = {}
    for number, (name, time, is_left, key) in enumerate(steps):
        value = number if is_left else {"n": number}
        if name == "put":
            buffer.put(time, is_left, key, value)
            model.setdefault((time, is_left, key), []).append(value)
        elif name == "remove":
            buffer.remove(time, is_left, key)
            model.pop((time, is_left, key), None)
        else:
            buffer.flush()
            environment = environment.restarted()
            buffer = build()
    expected = [(*at, model[at]) for at in sorted(model)]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(join_buffer, "_CHUNK", 2)
        assert [tuple(row) for row in buffer.walk()] == expected
        for row in buffer.walk():
            buffer.remove(row.timestamp, row.is_left, row.key)
        assert list(buffer.walk()) == []


def test_subscribers_of_a_foreign_key_are_not_mixed_with_those_of_a_longer_one() -> None:
    environment = Environment()
    store = SubscriptionStoreBuilder(name="subscriptions").build(environment)
    assert isinstance(store, SubscriptionStore)
    changes: list[Any] = []
    store.on_change = lambda *change: changes.append(change)
    for foreign_key, primary_key in [(b"f", b"b"), (b"fa", b""), (b"f", b"a"), (b"f", b"ab"), (b"\xff", b"x")]:
        store.put(foreign_key, primary_key, b"sub " + primary_key, 5)
    assert store.subscribers(b"f") == [
        (b"a", ValueAndTimestamp(b"sub a", 5)),
        (b"ab", ValueAndTimestamp(b"sub ab", 5)),
        (b"b", ValueAndTimestamp(b"sub b", 5)),
    ]
    assert [key for key, _ in store.subscribers(b"fa")] == [b""]
    assert store.subscribers(b"") == []
    assert store.get(b"f", b"ab") == (b"sub ab", 5)
    store.put(b"f", b"ab", None, 6)
    assert store.get(b"f", b"ab") is None
    assert changes[0] == (b"\0\0\0\x01fb", b"sub b", 5)
    assert changes[-1] == (b"\0\0\0\x01fab", None, 6)
