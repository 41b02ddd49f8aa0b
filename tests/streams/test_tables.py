"""Tables: when they are materialised, who gets old values, how they are read, how versions are inherited."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Materialized, Named, Serdes, Stores, StreamsBuilder, UnsupportedOperation, v
from penstock.topology.change_serde import ChangeSerde
from penstock.topology.operators import (
    StreamAggregate,
    StreamTableJoin,
    TableAggregate,
    TableFilter,
    TableJoin,
    TableMapValues,
    TableReduce,
    TableRepartitionMap,
    TableSource,
    TableToStream,
    TableTransformValues,
)
from penstock.topology.views import FilterView, JoinView, MapValuesView, StoreView, SuppressView, TransformValuesView
from tests.streams.building import operators, refused, says, sink, source, stores_of, the


class Echo:
    def transform(self, key: Any, value: Any) -> Any:
        return value


def joined(builder: StreamsBuilder, table: Any) -> StreamTableJoin:
    """How a stream that joins a table reads it."""
    builder.stream("stream").join(table, name="lookup").to("out")
    return operators(builder.build())["lookup"]  # type: ignore[no-any-return]


class TestMaterialisation:
    def test_a_table_that_nobody_reads_has_no_store(self) -> None:
        builder = StreamsBuilder()
        table = builder.table("in")
        table.to_stream().to("out")
        topology = builder.build()
        assert the(topology, TableSource) == TableSource(None, send_old=False)
        assert topology.stores == {}
        assert table.queryable_store_name is None

    def test_a_named_table_has_one(self) -> None:
        builder = StreamsBuilder()
        table = builder.table("in", Materialized.as_("rows"))
        assert the(builder.build(), TableSource).store == "rows"
        assert table.queryable_store_name == "rows"

    def test_a_table_that_a_join_reads_has_one(self) -> None:
        builder = StreamsBuilder()
        assert joined(builder, builder.table("in")).table == StoreView("in-STATE-STORE-0000000000")
        assert list(builder.build().stores) == ["in-STATE-STORE-0000000000"]

    def test_group_by_forces_one(self) -> None:
        builder = StreamsBuilder()
        builder.table("in").map_values(str).group_by(v.x).count()
        topology = builder.build()
        assert the(topology, TableSource) == TableSource("in-STATE-STORE-0000000000", send_old=True)
        assert the(topology, TableMapValues).send_old

    def test_a_stream_as_table(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in", value_serde="long").select_key(v.x).to_table(
            name="latest", key_serde="string", store="rows"
        )
        topology = builder.build()
        assert operators(topology)["latest"] == TableSource("rows")
        assert sink(topology, "latest-repartition").key_serde == Serdes.string()
        assert topology.stores["rows"].value_serde == Serdes.long()


class TestOldValues:
    def test_left_join_asks_the_left_side_outer_both(self) -> None:
        for kind, wanted in (("join", [False, False]), ("left_join", [True, False]), ("outer_join", [True, True])):
            builder = StreamsBuilder()
            left, right = builder.table("l"), builder.table("r")
            getattr(left, kind)(right)
            sources = [o for o in operators(builder.build()).values() if isinstance(o, TableSource)]
            assert [o.send_old for o in sources] == wanted

    def test_a_filter_takes_old_values_where_they_cost_nothing(self) -> None:
        builder = StreamsBuilder()
        builder.table("a").filter(bool, name="unnamed")
        builder.table("b", store="rows").filter(bool, name="named")
        builder.stream("c").group_by_key().count().filter(bool, name="counted")
        builder.table("d").join(builder.table("e")).map_values(str).filter(bool, name="joined")
        found = operators(builder.build())
        names = ("unnamed", "named", "counted", "joined")
        assert {name: found[name].send_old for name in names} == {
            "unnamed": False,
            "named": True,
            "counted": True,
            "joined": True,
        }
        assert [o.send_old for o in found.values() if isinstance(o, StreamAggregate)] == [True]

    def test_a_materialised_result_stops_the_question(self) -> None:
        builder = StreamsBuilder()
        builder.table("in").map_values(str, store="mapped").group_by(v.x).count()
        topology = builder.build()
        assert the(topology, TableSource) == TableSource(None, send_old=False)
        assert (the(topology, TableMapValues).store, the(topology, TableMapValues).send_old) == ("mapped", True)

    def test_a_transformer_without_store_computes_the_old_value_from_its_parent(self) -> None:
        builder = StreamsBuilder()
        builder.table("in").transform_values(Echo).group_by(v.x).count()
        transform = the(builder.build(), TableTransformValues)
        assert (transform.send_old, transform.parent) == (True, StoreView("in-STATE-STORE-0000000000"))


class TestViews:
    def test_up_to_the_nearest_store(self) -> None:
        builder = StreamsBuilder()
        table = builder.table("in").filter(bool).filter_not(len).map_values(str)
        view = joined(builder, table).table
        assert isinstance(view, MapValuesView)
        assert isinstance(view.parent, FilterView)
        assert view.parent.negate
        assert isinstance(view.parent.parent, FilterView)
        assert view.parent.parent.parent == StoreView("in-STATE-STORE-0000000000")
        assert stores_of(builder.build(), "lookup") == ("in-STATE-STORE-0000000000",)

    def test_a_materialised_result_is_read_itself(self) -> None:
        builder = StreamsBuilder()
        assert joined(builder, builder.table("in").filter(bool, store="rows")).table == StoreView("rows")

    def test_joins_and_transformers(self) -> None:
        builder = StreamsBuilder()
        builder.add_state_store(Stores.key_value_store_builder(Stores.persistent_key_value_store("own")))
        left = builder.table("l", store="left").transform_values(Echo, "own")
        view = joined(builder, left.outer_join(builder.table("r", store="right"))).table
        assert isinstance(view, JoinView)
        assert view.kind == "outer"
        assert isinstance(view.left, TransformValuesView)
        assert set(stores_of(builder.build(), "lookup")) == {"left", "own", "right"}

    def test_a_suppressed_table_shows_what_was_emitted(self) -> None:
        builder = StreamsBuilder()
        table = builder.table("in", store="rows").suppress(until="1m", name="quiet")
        assert joined(builder, table).table == SuppressView(StoreView("rows"), "quiet-store")


class TestVersions:
    def test_they_are_inherited_by_stateless_children(self) -> None:
        builder = StreamsBuilder()
        rows = builder.table("in", store="rows", versioned="1h")
        rows.map_values(str).filter(bool, name="inherits")
        rows.filter(bool, store="plain", name="first").filter(bool, name="second")
        found = operators(builder.build())
        assert {n: found[n].versioned for n in ("inherits", "first", "second")} == {
            "inherits": True,
            "first": True,
            "second": False,
        }

    def test_joins_and_groups_know_which_side_is_versioned(self) -> None:
        builder = StreamsBuilder()
        rows, plain = builder.table("a", versioned="1h"), builder.table("b")
        rows.join(plain)
        rows.group_by(v.x).count()
        topology = builder.build()
        sides = {o.side: o.versioned for o in operators(topology).values() if isinstance(o, TableJoin)}
        assert sides == {"left": True, "right": False}
        assert the(topology, TableRepartitionMap).versioned

    def test_a_versioned_table_is_always_materialised(self) -> None:
        builder = StreamsBuilder()
        builder.table("in", versioned="1h").to_stream().to("out")
        store = builder.build().stores["in-STATE-STORE-0000000000"]
        assert (store.kind, store.retention_ms, store.caching) == ("versioned", 3_600_000, False)

    def test_suppress_is_refused(self) -> None:
        builder = StreamsBuilder()
        builder.table("in", versioned="1h").filter(bool).suppress(until="1m", name="quiet")
        said = refused(builder.build)
        assert said.startswith("a versioned table cannot be suppressed (node quiet at test_tables.py:")
        assert said.endswith("Remove the suppress, or the history of the table (it is inherited from upstream).")


class TestGroupBy:
    def test_changes_travel_through_the_topic(self) -> None:
        builder = StreamsBuilder()
        groups = builder.table("in").group_by(lambda k, value: (value, k), key_serde="string", value_serde="long")
        groups.aggregate(0, _add, _add, name="sum", value_serde="long")
        topology = builder.build()
        assert sink(topology, "sum-repartition").value_serde == ChangeSerde(Serdes.long())
        assert source(topology, "sum-repartition").key_serde == Serdes.string()
        assert isinstance(the(topology, TableAggregate), TableAggregate)

    def test_reduce_and_count(self) -> None:
        builder = StreamsBuilder()
        groups = builder.table("in").group_by(v.x, name="groups")
        groups.reduce(max, min, name="a")
        groups.count(name="b")
        topology = builder.build()
        assert isinstance(operators(topology)["a"], TableReduce)
        counting = operators(topology)["b"]
        assert counting.adder.bind("key", "value", "aggregate")("k", "v", 4) == 5
        assert counting.subtractor.bind("key", "value", "aggregate")("k", "v", 4) == 3
        assert list(topology.internal_topics) == ["groups-repartition"]

    def test_an_expression_gives_the_key_and_keeps_the_value(self) -> None:
        builder = StreamsBuilder()
        builder.table("in", value_serde="json").group_by(v.region).count(name="n")
        topology = builder.build()
        assert the(topology, TableRepartitionMap).mapper.bind("key", "value")("k", {"region": "E"}) == (
            "E",
            {"region": "E"},
        )
        assert sink(topology, "n-repartition").value_serde == ChangeSerde(Serdes.json())

    def test_the_key_may_not_depend_on_time(self) -> None:
        from penstock import ts

        says(
            lambda: StreamsBuilder().table("in").group_by(ts + 1),
            "the key (ts + 1) of a table's group_by depends on the timestamp (at {}). "
            "Old and new value of an update must find the same group; use the value or the key.",
        )


def _add(value: Any, total: Any) -> Any:
    return total


def test_to_stream_with_a_new_key() -> None:
    builder = StreamsBuilder()
    builder.table("in").to_stream(Named.as_("changes"))
    builder.table("in2").to_stream(v.x, name="more").group_by_key().count(name="n")
    topology = builder.build()
    assert isinstance(operators(topology)["changes"], TableToStream)
    assert "n-repartition" in topology.internal_topics


@pytest.mark.parametrize("name", ["to", "select_key", "for_each", "group_by_key", "process"])
def test_operators_of_streams_are_named(name: str) -> None:
    said = refused(lambda: getattr(StreamsBuilder().table("in"), name), UnsupportedOperation)
    assert said == f"a table has no {name}(). Make it a stream first: to_stream().{name}(...)."


class TestFilter:
    def test_materialised(self) -> None:
        builder = StreamsBuilder()
        kept = builder.table("in", value_serde="long").filter(bool, store="kept", cache="off")
        topology = builder.build()
        assert the(topology, TableFilter).store == kept.queryable_store_name == "kept"
        assert (topology.stores["kept"].caching, topology.stores["kept"].value_serde) == (False, Serdes.long())

    def test_options_without_a_store_name_draw_a_number(self) -> None:
        builder = StreamsBuilder()
        builder.table("in").filter(bool, Materialized.with_("string", "long"))
        assert "KTABLE-FILTER-0000000004" in builder.build().nodes
