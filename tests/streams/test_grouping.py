"""Groups, aggregations and their stores."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import (
    EmitStrategy,
    Grouped,
    Materialized,
    Named,
    Serdes,
    SessionWindows,
    SlidingWindows,
    Stores,
    StoreType,
    StreamsBuilder,
    TimeWindows,
    UnlimitedWindows,
    fn,
    v,
)
from penstock.functions import Constant
from penstock.serde.windowed import SessionWindowedSerde, TimeWindowedSerde
from penstock.topology.operators import (
    NullKeyFilter,
    SessionAggregate,
    SlidingAggregate,
    StreamAggregate,
    TableMapValues,
    WindowAggregate,
)
from penstock.topology.windowed_serdes import DefaultWindowedSerde
from tests.streams.building import operators, says, sink, source, stores_of, stream, the


def grouped(builder: StreamsBuilder | None = None) -> Any:
    return (builder or StreamsBuilder()).stream("in").group_by_key()


class TestNames:
    def test_a_name_names_node_and_store(self) -> None:
        builder = StreamsBuilder()
        table = grouped(builder).count(name="counts")
        topology = builder.build()
        assert table.queryable_store_name == "counts"
        assert stores_of(topology, "counts") == ("counts",)

    def test_the_store_may_be_named_apart(self) -> None:
        builder = StreamsBuilder()
        grouped(builder).count(Named.as_("counting"), Materialized.as_("counts"))
        assert stores_of(builder.build(), "counting") == ("counts",)

    def test_without_a_name_the_store_is_not_queryable(self) -> None:
        builder = StreamsBuilder()
        table = grouped(builder).count()
        assert table.queryable_store_name is None
        assert list(builder.build().stores) == ["KSTREAM-AGGREGATE-STATE-STORE-0000000001"]

    def test_a_named_group_is_repartitioned_once(self) -> None:
        builder = StreamsBuilder()
        groups = builder.stream("in").group_by(v.user, name="by-user")
        groups.count(name="a")
        groups.tumbling("1m").count(name="b")
        topology = builder.build()
        assert list(topology.internal_topics) == ["by-user-repartition"]
        assert set(topology.children("by-user-repartition-source")) == {"a", "b"}

    def test_unnamed_groups_are_repartitioned_for_each_table(self) -> None:
        builder = StreamsBuilder()
        groups = builder.stream("in").group_by(v.user)
        groups.count(name="a")
        groups.count(name="b")
        assert list(builder.build().internal_topics) == ["a-repartition", "b-repartition"]


class TestRepartition:
    def test_only_a_changed_key_is_repartitioned(self) -> None:
        builder = StreamsBuilder()
        grouped(builder).count(name="a")
        assert builder.build().internal_topics == {}

    def test_records_without_key_are_dropped_before(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").select_key(len).filter(bool).group_by_key().count(name="a")
        topology = builder.build()
        assert isinstance(operators(topology)["a-repartition-filter"], NullKeyFilter)
        assert sink(topology, "a-repartition").internal
        assert source(topology, "a-repartition").internal

    def test_serdes_of_the_topic(self) -> None:
        builder = StreamsBuilder()
        texts = builder.stream("in", value_serde="string")
        texts.group_by(len, Grouped.with_("int", None)).reduce(str.__add__, name="a")
        topology = builder.build()
        assert sink(topology, "a-repartition").key_serde == Serdes.integer()
        assert source(topology, "a-repartition").value_serde == Serdes.string()


class TestStores:
    def test_defaults(self) -> None:
        builder = StreamsBuilder()
        grouped(builder).count(name="a")
        store = builder.build().stores["a"]
        assert store.kind == "timestamped_key_value"
        assert (store.caching, store.logging, store.persistent) == (True, True, True)
        assert (store.key_serde, store.value_serde) == (None, Serdes.long())

    def test_options(self) -> None:
        builder = StreamsBuilder()
        grouped(builder).count(name="a", cache="off", logging={"min.insync.replicas": 2}, key_serde="string")
        grouped(builder).count(name="b", logging=False, store=Materialized.as_(StoreType.IN_MEMORY))
        stores = builder.build().stores
        assert (stores["a"].caching, stores["a"].log_config) == (False, (("min.insync.replicas", "2"),))
        assert stores["a"].key_serde == Serdes.string()
        assert (stores["b"].logging, stores["b"].persistent) == (False, False)

    def test_the_configuration_may_ask_for_memory(self) -> None:
        builder = StreamsBuilder({"dsl.store.suppliers.class": "in_memory"})
        grouped(builder).count(name="a")
        assert not builder.build().stores["a"].persistent

    def test_suppliers(self) -> None:
        builder = StreamsBuilder()
        grouped(builder).count(store=Stores.in_memory_key_value_store("a"))
        grouped(builder).reduce(max, store=Stores.persistent_versioned_key_value_store("b", "1h"))
        tumbling = builder.stream("in").group_by_key().tumbling("1m")
        tumbling.count(store=Stores.persistent_window_store("c", "5m", "1m"))
        builder.stream("in").group_by_key().session("1m").count(store=Stores.in_memory_session_store("d", "5m"))
        stores = builder.build().stores
        assert (stores["a"].kind, stores["a"].persistent) == ("timestamped_key_value", False)
        assert (stores["b"].kind, stores["b"].caching, stores["b"].retention_ms) == ("versioned", False, 3_600_000)
        assert (stores["c"].kind, stores["c"].retention_ms) == ("timestamped_window", 300_000)
        assert (stores["d"].kind, stores["d"].persistent) == ("session", False)

    @pytest.mark.parametrize(
        ("windows", "default"),
        [
            (TimeWindows("1m", grace="10s"), 70_000),
            (SlidingWindows("1m", "10s"), 130_000),
            (SessionWindows("1m", "10s"), 70_000),
        ],
    )
    def test_retention(self, windows: Any, default: int) -> None:
        builder = StreamsBuilder()
        grouped(builder).windowed_by(windows).count(name="a")
        grouped(builder).windowed_by(windows).count(name="b", retention=default + 1)
        stores = builder.build().stores
        assert (stores["a"].retention_ms, stores["b"].retention_ms) == (default, default + 1)
        says(
            lambda: grouped().windowed_by(windows).count(name="c", retention=default - 1),
            f"the retention of the store c is {default - 1} ms, but its windows need {default} ms (at {{}}). "
            "Give at least the window size plus the grace period (sliding windows: twice the difference).",
        )


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: grouped().aggregate([], lambda value, total: total),
            (
                "the initializer is the list [], which all keys would share and change (at {}). "
                "Pass a function that makes a new one: list."
            ),
        ),
        (lambda: grouped().aggregate({}, max), "{dict}"),
        (
            lambda: grouped().reduce(v.x),
            "the reducer cannot be an expression (at {}). Give a function of (aggregate, value).",
        ),
        (
            lambda: grouped().count(retention="1h"),
            "retention was given for a table without windows (at {}). Only windows are forgotten.",
        ),
        (
            lambda: grouped().count(store=Stores.persistent_session_store("s", "1h")),
            (
                "the store of this table is to be made by SessionBytesStoreSupplier s (at {}). "
                "It needs a key-value store: use the key-value suppliers of Stores."
            ),
        ),
        (
            lambda: grouped().tumbling("1m").count(store=Stores.persistent_key_value_store("s")),
            (
                "the store of this table is to be made by KeyValueBytesStoreSupplier s (at {}). "
                "It needs a window store: use the window suppliers of Stores."
            ),
        ),
        (
            lambda: grouped().reduce(max, store=Stores.persistent_versioned_key_value_store("s", "1h"), cache="batch"),
            "the versioned store s cannot be cached (at {}). Leave cache= out.",
        ),
        (
            lambda: grouped().windowed_by("1m"),
            "windowed_by was given '1m' (at {}). Give TimeWindows, SlidingWindows, SessionWindows or UnlimitedWindows.",
        ),
        (lambda: grouped().tumbling("1m").count(emit="end"), 'emit is \'end\' (at {}). Give "update" or "close".'),
        (
            lambda: grouped().tumbling("1m").emit_strategy(EmitStrategy.on_window_close()).count(emit="close"),
            "emit is given twice: by emit_strategy and by emit= (at {}). Keep one of them.",
        ),
        (
            lambda: grouped().tumbling("1m").emit_strategy("close"),
            "the emit strategy is 'close' (at {}). Give EmitStrategy.on_window_close().",
        ),
        (
            lambda: grouped().windowed_by(UnlimitedWindows()).count(emit="close"),
            "unlimited windows never close (at {}). Emit updates, or use other windows.",
        ),
        (
            lambda: grouped().cogroup(max).cogroup(stream(), max),
            "cogroup was given KStream(KSTREAM-SOURCE-0000000000) (at {}). Give a stream.group_by_key().",
        ),
        (
            lambda: grouped().cogroup(_one).cogroup(grouped(), _one),
            "cogroup was given groups of two builders (at {}). Build one topology with one StreamsBuilder.",
        ),
        (lambda: grouped().agg(), "agg() has no aggregate (at {}). Name at least one: agg(n=fn.count())."),
    ],
)
def test_refused(call: Any, message: str) -> None:
    if message == "{dict}":
        message = (
            "the initializer is the dict {{}}, which all keys would share and change (at {}). "
            "Pass a function that makes a new one: dict."
        )
    says(call, message)


def _one(value: Any, aggregate: Any) -> Any:
    return aggregate


class TestWindows:
    def test_each_kind_has_its_operator(self) -> None:
        builder = StreamsBuilder()
        groups = grouped(builder)
        groups.tumbling("1m", "1s").count(name="a")
        groups.hopping("1m", "10s").reduce(max, name="b")
        groups.sliding("1m").aggregate(0, _one, name="c", emit="close")
        groups.session("1m").aggregate(list, _one, lambda left, right: left, name="d")
        groups.windowed_by(UnlimitedWindows.of()).count(name="e")
        a, b, c, d, e = operators(builder.build()).values()
        assert isinstance(a, WindowAggregate)
        assert a.windows == TimeWindows("1m", grace="1s")
        assert b.windows.advance == 10_000
        assert isinstance(c, SlidingAggregate)
        assert c.emit_on_close
        assert isinstance(d, SessionAggregate)
        assert d.aggregation.merger is not None
        assert d.aggregation.merger.parameters == ("left", "right")
        assert isinstance(e, WindowAggregate)

    def test_a_session_reduce_merges_with_its_reducer(self) -> None:
        builder = StreamsBuilder()
        grouped(builder).session("1m").reduce(max, name="a")
        aggregation = the(builder.build(), SessionAggregate).aggregation
        assert aggregation.initializer is None
        assert aggregation.merger.bind("left", "right")(3, 5) == 5

    def test_stores_of_sliding_and_session_windows_are_not_cached_on_close(self) -> None:
        builder = StreamsBuilder()
        closing = EmitStrategy.on_window_close()
        grouped(builder).tumbling("1m").emit_strategy(closing).count(name="a")
        grouped(builder).sliding("1m").emit_strategy(closing).count(name="b")
        grouped(builder).session("1m").emit_strategy(closing).count(name="c")
        assert {name: s.caching for name, s in builder.build().stores.items()} == {"a": True, "b": False, "c": False}

    def test_windowed_keys_get_a_windowed_serde(self) -> None:
        builder = StreamsBuilder()
        texts = builder.stream("in", key_serde="string").group_by_key()
        texts.tumbling("1m").count().to_stream().to("time")
        texts.session("1m").count().to_stream().to("session")
        texts.sliding("2m").count().to_stream().to("sliding")
        grouped(builder).tumbling("1m").count().to_stream().to("default")
        topology = builder.build()
        string = Serdes.string()
        assert sink(topology, "time").key_serde == TimeWindowedSerde(string, 60_000)
        assert sink(topology, "session").key_serde == SessionWindowedSerde(string)
        assert sink(topology, "sliding").key_serde == TimeWindowedSerde(string, 120_000)
        pending = sink(topology, "default").key_serde
        assert pending == DefaultWindowedSerde(TimeWindows("1m"))
        assert pending.with_defaults(string, None) == TimeWindowedSerde(string, 60_000)


class TestAggregations:
    def test_count_reduce_aggregate(self) -> None:
        builder = StreamsBuilder()
        grouped(builder).count(name="a")
        grouped(builder).reduce(max, associative=True, name="b")
        grouped(builder).aggregate(0, lambda key, value, total: total, name="c")
        a, b, c = (o.aggregation for o in operators(builder.build()).values())
        assert (a.kind, a.associative, a.mutates) == ("count", True, False)
        assert (b.kind, b.initializer, b.associative) == ("reduce", None, True)
        assert (c.kind, c.initializer) == ("aggregate", Constant(0))

    def test_expressions_in_one_dict(self) -> None:
        builder = StreamsBuilder()
        stats = grouped(builder).agg(Named.as_("stats"), n=fn.count(), total=fn.sum(v.x))
        topology = builder.build()
        aggregation = the(topology, StreamAggregate).aggregation
        state = aggregation.aggregator.bind("key", "value", "timestamp", "aggregate")(
            "k", {"x": 3}, 0, aggregation.initializer()
        )
        assert state == {"n": 1, "total": 3}
        assert aggregation.merger.bind("left", "right")(state, state) == {"n": 2, "total": 6}
        assert stats.queryable_store_name == "stats"
        assert topology.stores["stats"].value_serde == Serdes.json()
        assert TableMapValues not in {type(o) for o in operators(topology).values()}

    def test_an_aggregate_that_needs_finishing_has_a_node_behind_its_store(self) -> None:
        builder = StreamsBuilder()
        grouped(builder).tumbling("1m").agg(Materialized.as_("averages"), mean=fn.avg(v.x)).to_stream().to("out")
        topology = builder.build()
        finish = the(topology, TableMapValues)
        assert finish.store is None
        aggregation = the(topology, WindowAggregate).aggregation
        advance = aggregation.aggregator.bind("key", "value", "timestamp", "aggregate")
        state = advance("k", {"x": 4}, 0, advance("k", {"x": 3}, 0, aggregation.initializer()))
        assert finish.mapper.bind("key", "value")("k", state) == {"mean": 3.5}

    def test_a_given_serde_keeps_the_state(self) -> None:
        builder = StreamsBuilder()
        grouped(builder).agg(Materialized.as_("a").with_value_serde("string"), n=fn.count())
        assert builder.build().stores["a"].value_serde == Serdes.string()


class TestCogroup:
    def test_parts_share_a_store(self) -> None:
        builder = StreamsBuilder()
        left, right = builder.stream("l").group_by_key(), builder.stream("r").group_by_key()
        left.cogroup(_one).cogroup(right, _one).aggregate(0, name="both")
        topology = builder.build()
        assert stores_of(topology, "both-cogroup-agg-0") == stores_of(topology, "both-cogroup-agg-1") == ("both",)
        assert topology.nodes["both-cogroup-merge"].parents == (  # type: ignore[union-attr]
            "both-cogroup-agg-0",
            "both-cogroup-agg-1",
        )
        assert topology.copartitioned == [("KSTREAM-SOURCE-0000000000", "KSTREAM-SOURCE-0000000001")]

    def test_the_same_group_twice_replaces_its_aggregator(self) -> None:
        builder = StreamsBuilder()
        left = builder.stream("l").group_by_key()
        left.cogroup(max).cogroup(left, _one).aggregate(0, name="a")
        (part,) = [o for o in operators(builder.build()).values() if isinstance(o, StreamAggregate)]
        assert part.aggregation.aggregator.call is _one

    def test_windows(self) -> None:
        builder = StreamsBuilder()
        left = builder.stream("l").group_by_key()
        left.cogroup(_one).windowed_by(TimeWindows("1m")).aggregate(0, name="a", retention="1h")
        left.cogroup(_one).windowed_by(SlidingWindows("1m")).aggregate(0, name="b")
        left.cogroup(_one).windowed_by(SessionWindows("1m")).aggregate(0, lambda left, right: left, name="c")
        topology = builder.build()
        kinds = {type(o) for name, o in operators(topology).items() if "agg" in name}
        assert kinds == {WindowAggregate, SlidingAggregate, SessionAggregate}
        assert topology.stores["a"].retention_ms == 3_600_000
        says(
            lambda: left.cogroup(_one).windowed_by(5),  # type: ignore[arg-type]
            "windowed_by was given 5 (at {}). Give TimeWindows, SlidingWindows, SessionWindows or UnlimitedWindows.",
        )

    def test_downstream_old_values_reach_every_part(self) -> None:
        builder = StreamsBuilder()
        left, right = builder.stream("l").group_by_key(), builder.stream("r").group_by_key()
        left.cogroup(_one).cogroup(right, _one).aggregate(0, name="a").group_by(v.x).count(name="b")
        parts = [o for o in operators(builder.build()).values() if isinstance(o, StreamAggregate)]
        assert [part.send_old for part in parts] == [True, True]
