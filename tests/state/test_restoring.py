"""Every kind of store comes back from its changelog as it was."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Stores, Window, Windowed
from penstock.errors import ProcessorStateError
from penstock.records import NO_HEADERS, Headers, ValueAndTimestamp
from penstock.state.buffer_changelogs import changed_records
from penstock.state.builders import (
    CustomStoreBuilder,
    KeyValueStoreBuilder,
    SessionStoreBuilder,
    StoreBuilder,
    TimestampedKeyValueStoreBuilder,
    TimestampedWindowStoreBuilder,
    VersionedKeyValueStoreBuilder,
    WindowStoreBuilder,
)
from penstock.state.header_builders import (
    SessionStoreWithHeadersBuilder,
    TimestampedKeyValueStoreWithHeadersBuilder,
    TimestampedWindowStoreWithHeadersBuilder,
)
from penstock.state.internal_builders import (
    GraceBufferBuilder,
    JoinBufferBuilder,
    SubscriptionStoreBuilder,
    SuppressBufferBuilder,
)
from penstock.state.restoring import restorer, set_store_time, store_time
from penstock.state.store import StateStore
from penstock.state.with_headers import AggregationWithHeaders, ValueTimestampHeaders
from tests.state.environment import Environment

Record = tuple[bytes, "bytes | None", int, Headers]
KEYS = st.sampled_from(["a", "b", "ab", "", "a\0"])
VALUES = st.one_of(st.none(), st.integers(0, 9))
TIMES = st.integers(0, 400_000)


def logged(store: Any) -> list[Record]:
    """From here on the changes of a store, as its changelog gets them."""
    found: list[Record] = []
    has_headers = store.kind.endswith("_with_headers")

    def on_change(key: bytes, value: bytes | None, timestamp: int) -> None:
        found.append((key, value, timestamp, store._context.headers if has_headers else NO_HEADERS))

    store.on_change = on_change
    return found


def compacted(records: list[Record]) -> list[Record]:
    """The topic after compaction: the last record of each key."""
    last = {key: i for i, (key, *_) in enumerate(records)}
    return [record for i, record in enumerate(records) if last[record[0]] == i]


def rebuilt(builder: StoreBuilder, records: list[Record], time: int | None = None) -> Any:
    """A store restored from records, opened anew over its rows."""
    environment = Environment(caching=False)
    store = builder.build(environment)
    restore = restorer(store)
    for record in records:
        restore(*record)
    if time is not None:
        set_store_time(store, time)
    store.flush()
    assert not environment.dropped
    return builder.build(environment.restarted())


def rows(store: Any) -> list[tuple[bytes, bytes]]:
    return list(store._rows.items())


def content(store: Any) -> list[Any]:
    return [(entry.key, entry.value) for entry in store.all()]


@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize("kind", [KeyValueStoreBuilder, TimestampedKeyValueStoreBuilder])
@given(changes=st.lists(st.tuples(KEYS, VALUES, TIMES, st.booleans())))
def test_key_value(kind: type[StoreBuilder], caching: bool, changes: list[Any]) -> None:
    builder = kind(name="s", caching=caching)
    store: Any = builder.build(Environment())
    log = logged(store)
    for key, value, time, flush in changes:
        store.write(key, value, time)
        if flush:
            store.flush()
    store.flush()
    assert rows(rebuilt(builder, log)) == rows(store)
    assert rows(rebuilt(builder, compacted(log))) == rows(store)


@given(changes=st.lists(st.tuples(KEYS, VALUES)))
def test_lru_map(changes: list[Any]) -> None:
    builder = KeyValueStoreBuilder(name="s", max_entries=2)
    store: Any = builder.build(Environment())
    log = logged(store)
    for key, value in changes:
        store.put(key, value)
    assert rows(rebuilt(builder, log)) == rows(store)


@given(changes=st.lists(st.tuples(KEYS, VALUES, TIMES)))
def test_versioned(changes: list[Any]) -> None:
    builder = VersionedKeyValueStoreBuilder(name="s", history_retention=100_000)
    store: Any = builder.build(Environment())
    log = logged(store)
    for key, value, time in changes:
        store.put(key, value, time)
    store.flush()
    back = rebuilt(builder, log)
    assert rows(back) == rows(store)
    assert back.observed_time == store.observed_time


@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize("on_close", [False, True])
@pytest.mark.parametrize("kind", [WindowStoreBuilder, TimestampedWindowStoreBuilder])
@given(changes=st.lists(st.tuples(KEYS, st.integers(0, 40), VALUES, TIMES, st.booleans())))
def test_windows(kind: Any, on_close: bool, caching: bool, changes: list[Any]) -> None:
    builder = kind(name="s", retention=200_000, window_size=10_000, caching=caching, on_close=on_close)
    store: Any = builder.build(Environment())
    log = logged(store)
    for key, window, value, time, flush in changes:
        store.write(key, window * 10_000, value, time)
        if flush:
            store.flush()
    store.flush()
    # A cache does not log what was not there before and is not there now, but it moves the store's time.
    back = rebuilt(builder, log, store_time(store) if caching else None)
    assert content(back) == content(store)
    assert back.observed_time == store.observed_time
    if on_close and not caching:
        assert list(back.find_closed(0, 400_000)) == list(store.find_closed(0, 400_000))


@given(changes=st.lists(st.tuples(KEYS, st.integers(0, 400_000), st.integers(0, 9))))
def test_windows_that_keep_duplicates(changes: list[Any]) -> None:
    builder = WindowStoreBuilder(name="s", retention=100_000, window_size=10, retain_duplicates=True)
    store: Any = builder.build(Environment())
    log = logged(store)
    for key, start, value in changes:
        store.write(key, start, value, start)
    store.flush()
    back = rebuilt(builder, log)
    assert rows(back) == rows(store), "sequence numbers included: the next record goes behind the last"


@pytest.mark.parametrize("caching", [False, True])
@pytest.mark.parametrize("on_close", [False, True])
@given(changes=st.lists(st.tuples(KEYS, TIMES, st.integers(0, 20_000), VALUES, st.booleans())))
def test_sessions(on_close: bool, caching: bool, changes: list[Any]) -> None:
    builder = SessionStoreBuilder(name="s", retention=150_000, caching=caching, on_close=on_close)
    store: Any = builder.build(Environment())
    log = logged(store)
    for key, start, length, value, flush in changes:
        store.write(key, start, start + length, value)
        if flush:
            store.flush()
    store.flush()
    assert content(rebuilt(builder, log, store_time(store) if caching else None)) == content(store)


def test_subscriptions() -> None:
    builder = SubscriptionStoreBuilder(name="s")
    store: Any = builder.build(Environment())
    log = logged(store)
    store.put(b"fk", b"1", b"sub1", 5)
    store.put(b"f", b"k2", b"sub2", 6)
    store.put(b"fk", b"2", b"sub3", 7)
    store.put(b"fk", b"1", None, 8)
    assert rows(rebuilt(builder, log)) == rows(store)


# ---------------------------------------------------------------------- headers


@pytest.mark.parametrize("caching", [False, True])
def test_headers_travel_beside_values(caching: bool) -> None:
    first, second = Headers([("h", b"1")]), Headers([("h", b"2"), ("g", None)])
    cases: list[tuple[Any, Callable[[Any], object]]] = [
        (
            TimestampedKeyValueStoreWithHeadersBuilder(name="s", caching=caching),
            lambda s: (s.put("a", ValueTimestampHeaders(1, 5, first)), s.put("b", ValueTimestampHeaders(2, 6, second))),
        ),
        (
            TimestampedWindowStoreWithHeadersBuilder(name="s", caching=caching, retention=1000, window_size=10),
            lambda s: (
                s.put("a", ValueTimestampHeaders(1, 5, first), 0),
                s.put("b", ValueTimestampHeaders(2, 6, second), 10),
            ),
        ),
        (
            SessionStoreWithHeadersBuilder(name="s", caching=caching, retention=1000),
            lambda s: (
                s.put(Windowed("a", Window(1, 2)), AggregationWithHeaders(1, first)),
                s.put(Windowed("b", Window(1, 3)), AggregationWithHeaders(2, second)),
            ),
        ),
    ]
    for builder, change in cases:
        environment = Environment()
        environment.record.headers = Headers([("of", b"another record")])
        store = builder.build(environment)
        log = logged(store)
        change(store)
        store.flush()
        assert [headers for *_, headers in log] == [first, second]
        assert content(rebuilt(builder, log)) == content(store)
        assert environment.record.headers == Headers([("of", b"another record")])


# ---------------------------------------------------------------------- buffers


class Tracked(dict[bytes, "bytes | None"]):
    """Changes of a buffer's rows since the last look."""


def buffer_log(kind: str, before: list[tuple[bytes, bytes]], after: list[tuple[bytes, bytes]]) -> list[Record]:
    """What a batch logs: the rows it changed."""
    old, new = dict(before), dict(after)
    changed: dict[bytes, bytes | None] = {k: v for k, v in new.items() if old.get(k) != v}
    changed |= {k: None for k in old if k not in new}
    return list(changed_records(kind, changed, 77))


def play_buffer(builder: StoreBuilder, batches: list[Callable[[Any], object]]) -> tuple[Any, list[Record]]:
    environment = Environment(default_value_serde="string")
    store: Any = builder.build(environment)
    log: list[Record] = []
    for batch in batches:
        before = rows(store)
        batch(store)
        store.flush()
        log += buffer_log(store.kind, before, rows(store))
    return store, log


def restored_rows(builder: StoreBuilder, records: list[Record]) -> list[tuple[bytes, bytes]]:
    environment = Environment(default_value_serde="string")
    store: Any = builder.build(environment)
    restore = restorer(store)
    for record in records:
        restore(*record)
    store.flush()
    return rows(store)


def test_the_buffer_of_an_outer_join() -> None:
    builder = JoinBufferBuilder(name="s", value_serde="string", other_value_serde="string")
    store, log = play_buffer(
        builder,
        [
            lambda s: (s.put(5, True, "a", "x"), s.put(5, False, "a", "y"), s.put(6, True, "b", "z")),
            lambda s: (s.put(5, True, "a", "xx"), s.remove(5, False, "a")),
        ],
    )
    assert restored_rows(builder, log) == rows(store)
    key, value, timestamp, _ = next(record for record in log if record[0][8:] == b"\1b")
    assert key == bytes.fromhex("0000000000000006 01 62")
    assert value == bytes.fromhex("01 00000001 00000002 01 7a"), "a list of one value with its side in front"
    assert timestamp == 6


def test_the_buffer_of_a_stream_table_join() -> None:
    builder = GraceBufferBuilder(name="s")
    store, log = play_buffer(
        builder,
        [
            lambda s: (
                s.put("a", "x", 5, NO_HEADERS),
                s.put("a", "y", 5, Headers([("h", b"1")])),
                s.put("b", "z", 9, NO_HEADERS),
            ),
            lambda s: list(s.pop_until(5)),
        ],
    )
    assert restored_rows(builder, log) == rows(store)
    assert len(rows(store)) == 1


def test_the_buffer_of_suppress() -> None:
    builder = SuppressBufferBuilder(name="s")
    store, log = play_buffer(
        builder,
        [
            lambda s: (
                s.put(10, "a", "x", None, 5, Headers([("h", b"1"), ("n", None)])),
                s.put(20, "b", "y", "old", 6, NO_HEADERS),
            ),
            lambda s: (s.put(30, "a", "xx", "x", 7, NO_HEADERS), s.put(15, "c", None, "gone", 8, NO_HEADERS)),
            lambda s: s.pop_until(10).__next__(),
        ],
    )
    assert restored_rows(builder, log) == rows(store)
    assert restored_rows(builder, compacted(log)) == rows(store)
    assert (b"a", None, 77, NO_HEADERS) in log, "deletions have the stream time"


def test_kafkas_format_of_suppress_buffers() -> None:
    builder = SuppressBufferBuilder(name="s")
    _, log = play_buffer(builder, [lambda s: s.put(10, "k", "new", "old", 5, Headers([("h", b"1")]))])
    ((key, value, timestamp, headers),) = log
    context = "0000000000000005 ffffffffffffffff 00000000 ffffffff 00000001 00000001 68 00000001 31"
    values = "00000003 6f6c64 fffffffe 00000003 6e6577"
    assert key == b"k"
    assert value == bytes.fromhex(f"{context} {values} 000000000000000a")
    assert timestamp == 5
    assert headers.last("v") == b"\3"


# ---------------------------------------------------------------------- bytes


def changes_of(builder: StoreBuilder, change: Callable[[Any], object]) -> list[tuple[str, str | None, int]]:
    environment = Environment(caching=False)
    environment.record.timestamp = 7
    store: Any = builder.build(environment)
    log = logged(store)
    change(store)
    return [(key.hex(" "), None if value is None else value.hex(), time) for key, value, time, _ in log]


def test_the_bytes_are_those_of_kafka_streams() -> None:
    """A Java consumer of the changelogs sees what Kafka Streams would have written."""
    one = "0000000000000001"
    plain = KeyValueStoreBuilder(name="s")
    assert changes_of(plain, lambda s: (s.put("k", 1), s.delete("k"))) == [("6b", one, 7), ("6b", None, 7)]

    table = TimestampedKeyValueStoreBuilder(name="s")
    put = changes_of(table, lambda s: s.put("k", ValueAndTimestamp(1, 42)))
    assert put == [("6b", one, 42)], "the value alone; its timestamp is the record's"

    window = TimestampedWindowStoreBuilder(name="s", retention=1000, window_size=10)
    put = changes_of(window, lambda s: s.put("k", ValueAndTimestamp(1, 42), 256))
    assert put == [("6b 00 00 00 00 00 00 01 00 00 00 00 00", one, 42)], "key, start, sequence number"

    join = WindowStoreBuilder(name="s", retention=1000, window_size=10, retain_duplicates=True)
    keys = [key for key, _, _ in changes_of(join, lambda s: (s.put("k", 1, 256), s.put("k", 1, 256)))]
    assert keys == [f"6b 00 00 00 00 00 00 01 00 00 00 00 0{n}" for n in (1, 2)]

    session = SessionStoreBuilder(name="s", retention=1000)
    put = changes_of(session, lambda s: s.put(Windowed("k", Window(256, 512)), 1))
    assert put == [("6b 00 00 00 00 00 00 02 00 00 00 00 00 00 00 01 00", one, 7)], "key, end, start"

    versioned = VersionedKeyValueStoreBuilder(name="s", history_retention=1000)
    put = changes_of(versioned, lambda s: (s.put("k", 1, 42), s.put("k", None, 43)))
    assert put == [("6b", one, 42), ("6b", None, 43)]

    subscription = SubscriptionStoreBuilder(name="s")
    put = changes_of(subscription, lambda s: s.put(b"fk", b"pk", b"x", 42))
    assert put == [("00 00 00 02 66 6b 70 6b", "78", 42)], "length of the foreign key, foreign key, primary key"


def test_a_store_of_ones_own_has_no_changelog() -> None:
    builder = CustomStoreBuilder(name="mine", factory=lambda: StateStore("mine"))
    with pytest.raises(ProcessorStateError) as raised:
        restorer(builder.build(Environment()))
    assert str(raised.value) == (
        "the store mine, a StateStore, cannot be rebuilt from a changelog. Give its builder with_logging_disabled(), so "
        "that it needs no changelog, or set penstock.restore=empty to start lost stores empty."
    )


def test_stores_made_by_hand_are_restored_like_others() -> None:
    builder = Stores.key_value_store_builder(Stores.persistent_key_value_store("mine"), "string", "long")
    store: Any = builder.build(Environment())
    log = logged(store)
    store.put("a", 1)
    assert content(rebuilt(builder, log)) == [("a", 1)]
