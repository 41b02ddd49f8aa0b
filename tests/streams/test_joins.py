"""Joins of streams with streams, tables and global tables."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Joined, JoinWindows, Named, Serdes, Stores, StreamJoined, StreamsBuilder, v
from penstock.topology.operators import (
    NullKeyFilter,
    PassThrough,
    StreamGlobalJoin,
    StreamJoinWindow,
    StreamStreamJoin,
    StreamTableJoin,
)
from penstock.topology.views import StoreView
from tests.streams.building import operators, refused, says, sink, stores_of, stream, the


def pair(builder: StreamsBuilder | None = None) -> tuple[Any, Any]:
    builder = builder or StreamsBuilder()
    return builder.stream("left"), builder.stream("right")


class TestStreams:
    def test_both_sides(self) -> None:
        builder = StreamsBuilder()
        left, right = pair(builder)
        left.join(right, lambda a, b: a + b, within="10s", after="5s", grace="1s", name="j", store="s").to("out")
        topology = builder.build()
        found = operators(topology)
        assert found["j-this-windowed"] == StreamJoinWindow("s-this-join-store")
        this, other = found["j-this-join"], found["j-other-join"]
        assert (this.kind, this.side, this.other_store, this.outer_store) == (
            "inner",
            "left",
            "s-other-join-store",
            None,
        )
        assert (other.side, other.other_store) == ("right", "s-this-join-store")
        assert this.windows == other.windows == JoinWindows("10s", "5s", "1s")
        assert this.tracker == other.tracker
        assert isinstance(found["j-merge"], PassThrough)
        store = topology.stores["s-this-join-store"]
        assert (store.kind, store.retention_ms, store.caching) == ("window", 16_000, False)
        assert topology.copartitioned == [("KSTREAM-SOURCE-0000000000", "KSTREAM-SOURCE-0000000001")]

    @pytest.mark.parametrize(
        ("kind", "shared"), [("left_join", "s-left-shared-join-store"), ("outer_join", "s-outer-shared-join-store")]
    )
    def test_unmatched_records_share_a_buffer(self, kind: str, shared: str) -> None:
        builder = StreamsBuilder()
        left, right = pair(builder)
        getattr(left, kind)(right, within="1s", store="s")
        topology = builder.build()
        sides = [o for o in operators(topology).values() if isinstance(o, StreamStreamJoin)]
        assert {o.outer_store for o in sides} == {shared}
        assert topology.stores[shared].kind == "join_buffer"

    def test_without_a_joiner_values_become_pairs(self) -> None:
        builder = StreamsBuilder()
        left, right = pair(builder)
        left.join(right, JoinWindows(1, 1), Named.as_("j"))
        joiner = operators(builder.build())["j-this-join"].joiner
        assert joiner.bind("key", "left", "right")("k", 1, 2) == (1, 2)

    def test_repartition_topics_are_named_after_the_join_or_the_stream(self) -> None:
        builder = StreamsBuilder()
        left = builder.stream("left").select_key(len, name="by-len")
        left.join(builder.stream("right").select_key(len), within=1, name="j")
        left.join(builder.stream("third"), within=1)
        left.join(builder.stream("fourth"), within=1)
        topics = builder.build().internal_topics
        assert list(topics) == ["j-left-repartition", "j-right-repartition"]  # the step of the named join serves again

    def test_serdes(self) -> None:
        builder = StreamsBuilder()
        left = builder.stream("left", value_serde="string").select_key(len)
        joined = left.join(
            builder.stream("right"),
            JoinWindows(1, 1),
            StreamJoined.with_("int", None, "long").with_store_name("s").with_name("j").with_logging_disabled(),
        )
        joined.to("out")
        topology = builder.build()
        this, other = topology.stores["s-this-join-store"], topology.stores["s-other-join-store"]
        assert (this.key_serde, this.value_serde, this.logging) == (Serdes.integer(), Serdes.string(), False)
        assert other.value_serde == Serdes.long()
        assert sink(topology, "j-left-repartition").key_serde == Serdes.integer()
        assert (sink(topology, "out").key_serde, sink(topology, "out").value_serde) == (Serdes.integer(), None)

    def test_supplied_stores(self) -> None:
        builder = StreamsBuilder()
        left, right = pair(builder)
        mine = Stores.in_memory_window_store("mine", "21s", "20s", retain_duplicates=True)
        left.join(right, JoinWindows("10s", "10s", "1s"), StreamJoined.with_(mine))
        topology = builder.build()
        assert not topology.stores["mine"].persistent
        assert list(topology.stores) == ["mine", "KSTREAM-JOINOTHER-0000000005-store"]


def _supplied(**changes: Any) -> Any:
    options: dict[str, Any] = {"retention": "21s", "window_size": "20s", "retain_duplicates": True} | changes
    left, right = pair()
    windows, stores = (
        JoinWindows("10s", "10s", "1s"),
        StreamJoined.with_(Stores.persistent_window_store("a", **options)),
    )
    return lambda: left.join(right, windows, stores)


@pytest.mark.parametrize(
    ("changes", "setting", "given", "wanted"),
    [
        ({"retain_duplicates": False}, "retain_duplicates", False, True),
        ({"window_size": "10s"}, "window_size", 10000, 20000),
        ({"retention": "30s"}, "retention", 30000, 21000),
    ],
)
def test_a_supplied_store_must_fit(changes: Any, setting: str, given: Any, wanted: Any) -> None:
    said = refused(_supplied(**changes))
    assert said.startswith(f"the store supplier a of the join has {setting} {given} (at test_joins.py:")
    assert said.endswith(f"Its window (before + after = 20000 ms, grace 1000 ms) needs {setting} {wanted}.")


def test_supplied_stores_need_different_names() -> None:
    one = Stores.persistent_window_store("a", 2, 2, retain_duplicates=True)
    left, right = pair()
    both = StreamJoined().with_this_store_supplier(one).with_other_store_supplier(one)
    says(
        lambda: left.join(right, JoinWindows(1, 1), both),
        "both sides of the join were given the store a (at {}). Each side needs a store of its own name.",
    )


class TestTables:
    def test_reads_the_store(self) -> None:
        builder = StreamsBuilder()
        builder.stream("s", key_serde="string").left_join(builder.table("t", store="rows"), name="j").to("out")
        topology = builder.build()
        operator = operators(topology)["j"]
        assert isinstance(operator, StreamTableJoin)
        assert (operator.left, operator.table, operator.grace) == (True, StoreView("rows"), None)
        assert stores_of(topology, "j") == ("rows",)
        assert sink(topology, "out").key_serde == Serdes.string()
        assert topology.copartitioned == [("KSTREAM-SOURCE-0000000000", "KSTREAM-SOURCE-0000000001")]

    def test_a_changed_key_is_repartitioned_with_the_joins_name(self) -> None:
        builder = StreamsBuilder()
        builder.stream("s").select_key(len).join(builder.table("t"), Joined.as_("j").with_key_serde("int"))
        topology = builder.build()
        assert sink(topology, "j-repartition").key_serde == Serdes.integer()
        assert isinstance(operators(topology)["j-repartition-filter"], NullKeyFilter)

    def test_a_left_join_keeps_records_without_key(self) -> None:
        builder = StreamsBuilder()
        builder.stream("s").select_key(len).filter(bool).left_join(builder.table("t"), name="j")
        assert isinstance(operators(builder.build())["j-repartition-filter"], PassThrough)

    def test_grace_buffers_the_stream(self) -> None:
        builder = StreamsBuilder()
        builder.stream("s").join(builder.table("t", versioned="1h"), grace="1m", name="j")
        topology = builder.build()
        operator = operators(topology)["j"]
        assert (operator.grace, operator.buffer_store) == (60_000, "j-Buffer")
        assert set(stores_of(topology, "j")) == {"t-STATE-STORE-0000000001", "j-Buffer"}

    def test_grace_longer_than_the_history(self) -> None:
        builder = StreamsBuilder()
        builder.stream("s").join(builder.table("t", store="rows", versioned="10s"), grace="1m", name="j")
        said = refused(builder.build)
        assert said.startswith(
            "the grace period of 60000 ms is longer than the history of 10000 ms of the store rows ("
        )
        assert said.endswith("Make the grace shorter or the history longer.")


class TestGlobalTables:
    def test_looks_any_key_up(self) -> None:
        builder = StreamsBuilder()
        users = builder.global_table("users", store="users")
        assert users.queryable_store_name == "users"
        builder.stream("s").left_join(users, lambda stream_key, key, left, right: 1, on=v.user, name="j")
        operator = the(builder.build(), StreamGlobalJoin)
        assert (operator.left, operator.table) == (True, StoreView("users"))
        assert operator.selector.bind("key", "value")("k", {"user": 7}) == 7
        assert operator.joiner.parameters == ("stream_key", "key", "left", "right")


def tables() -> tuple[Any, Any, Any]:
    builder = StreamsBuilder()
    return builder.stream("s"), builder.table("t"), builder.global_table("g")


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda left, right: left.join(right),
            'join of two streams has no window (at {}). Say how far apart records may be: within="10s".',
        ),
        (
            lambda left, right: left.join(right, JoinWindows(1, 1), within=5),
            "the window of join is given twice: by JoinWindows and by keywords (at {}). Keep one of them.",
        ),
        (
            lambda left, right: left.join(right, JoinWindows(1, 1), JoinWindows(1, 1)),
            "join was given two windows (at {}). Keep one of them.",
        ),
        (
            lambda left, right: left.left_join(right, before="-10s", after="5s"),
            (
                "the join window ends before it starts: before is -10000 ms, after is 5000 ms (at {}). "
                "before + after must be 0 or more."
            ),
        ),
        (
            lambda left, right: left.join(right, within=1, on=str),
            "join of two streams was given on= (at {}). Records of two streams join by key.",
        ),
        (
            lambda: stream().join(stream(), within=1),
            "join was given streams of two builders (at {}). Build one topology with one StreamsBuilder.",
        ),
        (
            lambda stream, table, everywhere: stream.join(table, within="1s"),
            "join with a table was given a window (at {}). Only joins of two streams have windows.",
        ),
        (
            lambda stream, table, everywhere: stream.join(table, store="x"),
            "join with a table was given store= (at {}). It keeps no stream records.",
        ),
        (
            lambda stream, table, everywhere: stream.join(table, on=str),
            "join with a KTable was given on= (at {}). Use a global table, or select_key first.",
        ),
        (
            lambda stream, table, everywhere: stream.left_join(table, grace="1s", name="j"),
            (
                "a grace period needs a versioned table (node j at {}). "
                'Give the table a history: builder.table(topic, versioned="1h").'
            ),
        ),
        (
            lambda stream, table, everywhere: stream.outer_join(table),
            (
                "a stream has no outer join with a table (at {}). Only stream records give results there: use left_join, "
                "or make the stream a table (to_table)."
            ),
        ),
        (
            lambda stream, table, everywhere: stream.join(everywhere),
            "join with a global table needs on= (at {}). Say which key to look up: on=v.user_id.",
        ),
        (
            lambda stream, table, everywhere: stream.join(everywhere, on=str, grace=1),
            "join with a global table was given grace= (at {}). It has no notion of time.",
        ),
        (
            lambda: stream().join(tables()[2], on=str),
            "join was given a global table of another builder (at {}). Build one topology with one StreamsBuilder.",
        ),
        (
            lambda: stream().join(tables()[1]),
            "join was given a stream and a table of two builders (at {}). Build one topology with one StreamsBuilder.",
        ),
        (
            lambda: stream().join("other"),
            "join was given 'other' (at {}). Give a KStream, a KTable or a GlobalKTable.",
        ),
        (
            lambda stream, table, everywhere: stream.join(table, str.upper),
            "the joiner of join str.upper takes 1 argument (at {}). It must take (left, right) or (key, left, right).",
        ),
        (
            lambda stream, table, everywhere: stream.join(table, max, min),
            (
                "join was given <built-in function min>, a builtin_function_or_method (at {}). "
                "It takes Joined or StreamJoined or Named there; give options as keywords."
            ),
        ),
    ],
)
def test_refused(call: Any, message: str) -> None:
    arguments: dict[int, Any] = {0: tuple, 2: pair, 3: tables}
    says(call, message, *arguments[call.__code__.co_argcount]())
