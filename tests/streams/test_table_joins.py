"""Joins of tables: on the same key and by foreign key."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Materialized, Named, Serdes, StreamsBuilder, TableJoined, v
from penstock.topology.foreign_key_serdes import ResponseSerde, SubscriptionSerde, to_left_partition
from penstock.topology.operators import (
    ForeignTableJoin,
    ResponseResolver,
    SubscriptionJoin,
    SubscriptionReceive,
    SubscriptionSend,
    TableJoin,
    TableJoinMerge,
    TableSource,
)
from penstock.topology.views import StoreView
from tests.streams.building import operators, says, sink, source, stores_of, stream, the


def two(builder: StreamsBuilder | None = None) -> tuple[Any, Any]:
    builder = builder or StreamsBuilder()
    return builder.table("l", store="left"), builder.table("r", store="right")


class TestSameKey:
    def test_each_side_reads_the_other(self) -> None:
        builder = StreamsBuilder()
        left, right = two(builder)
        left.left_join(right, max, Named.as_("j"))
        topology = builder.build()
        this, other = operators(topology)["j-join-this"], operators(topology)["j-join-other"]
        assert isinstance(this, TableJoin)
        assert (this.kind, this.side, this.other) == ("left", "left", StoreView("right"))
        assert (other.side, other.other) == ("right", StoreView("left"))
        assert stores_of(topology, "j-join-this") == ("right",)
        assert operators(topology)["j"] == TableJoinMerge(None, send_old=False)
        assert topology.copartitioned == [("KSTREAM-SOURCE-0000000000", "KSTREAM-SOURCE-0000000002")]

    def test_materialised(self) -> None:
        builder = StreamsBuilder()
        left, right = two(builder)
        joined = left.join(right, max, Materialized.as_("both").with_value_serde("long"))
        topology = builder.build()
        assert joined.queryable_store_name == the(topology, TableJoinMerge).store == "both"
        assert topology.stores["both"].value_serde == Serdes.long()

    def test_a_table_joins_itself(self) -> None:
        builder = StreamsBuilder()
        table = builder.table("t")
        table.join(table, name="j")
        assert stores_of(builder.build(), "j-join-other") == ("t-STATE-STORE-0000000000",)

    def test_old_values_of_a_join_come_from_both_sides(self) -> None:
        builder = StreamsBuilder()
        left, right = two(builder)
        left.join(right).group_by(v.x).count()
        found = operators(builder.build()).values()
        assert {o.send_old for o in found if isinstance(o, (TableSource, TableJoin, TableJoinMerge))} == {True}


class TestForeignKey:
    def test_the_five_steps(self) -> None:
        builder = StreamsBuilder()
        left = builder.table("l", store="left", key_serde="string", value_serde="json")
        right = builder.table("r", store="right", key_serde="long", value_serde="double")
        joined = left.join(right, max, TableJoined.as_("fk"), on=v.owner, store="result", value_serde="json")
        topology = builder.build()
        found = operators(topology)
        send = found["fk-subscription-registration-processor"]
        assert isinstance(send, SubscriptionSend)
        assert (send.left_join, send.foreign_key_serde, send.primary_key_serde, send.value_serde) == (
            False,
            Serdes.long(),
            Serdes.string(),
            Serdes.json(),
        )
        receive = found["fk-subscription-receive"]
        assert isinstance(receive, SubscriptionReceive)
        assert receive.store == "fk-subscription-store"
        answer, foreign = found["fk-subscription-join-foreign"], found["fk-foreign-join-subscription"]
        assert isinstance(answer, SubscriptionJoin)
        assert answer.right == StoreView("right")
        assert isinstance(foreign, ForeignTableJoin)
        assert foreign.store == "fk-subscription-store"
        resolver = found["fk-subscription-response-resolver"]
        assert isinstance(resolver, ResponseResolver)
        assert resolver.left == StoreView("left")
        assert found["fk-result"] == TableSource("result")
        assert joined.queryable_store_name == "result"
        assert [o.send_old for o in found.values() if isinstance(o, TableSource)] == [True, True, False]

    def test_topics(self) -> None:
        builder = StreamsBuilder()
        left = builder.table("l", key_serde="string", value_serde="json")
        left.left_join(builder.table("r", key_serde="long", value_serde="double"), on=v.owner, name="fk")
        topology = builder.build()
        out, back = "fk-subscription-registration-topic", "fk-subscription-response-topic"
        assert list(topology.internal_topics) == [out, back]
        assert sink(topology, out).key_serde == source(topology, out).key_serde == Serdes.long()
        assert sink(topology, out).value_serde == SubscriptionSerde(Serdes.string())
        assert source(topology, back).value_serde == ResponseSerde(Serdes.double())
        assert sink(topology, back).partitioner is to_left_partition
        assert sink(topology, back).internal
        assert {frozenset(group) for group in topology.copartitioned} == {
            frozenset({"KSTREAM-SOURCE-0000000004", "fk-subscription-registration-source"}),
            frozenset({"KSTREAM-SOURCE-0000000001", "fk-subscription-response-source"}),
        }

    def test_subscriptions_follow_the_right_tables_partitioner(self) -> None:
        seen: list[Any] = []

        def mine(topic: str, key: Any, value: Any, partitions: int) -> int:
            seen.append((topic, key, value, partitions))
            return 1

        builder = StreamsBuilder()
        left, right = two(builder)
        left.join(right, on=v.owner, name="fk", other_partitioner=mine)
        chosen = sink(builder.build(), "fk-subscription-registration-topic").partitioner
        assert chosen("t", "k", object(), 4) == 1
        assert seen == [("t", "k", None, 4)]

    def test_an_unmaterialised_result_is_materialised_when_it_is_read(self) -> None:
        builder = StreamsBuilder()
        left, right = two(builder)
        left.join(right, on=v.owner, name="fk").group_by(v.x).count(name="n")
        topology = builder.build()
        (store,) = stores_of(topology, "fk-result")
        assert operators(topology)["fk-result"] == TableSource(store, send_old=True)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda left, right: left.outer_join(right, on=v.x),
            "there is no outer join by foreign key (at {}). Use left_join(..., on=...).",
        ),
        (
            lambda left, right: left.join(right, partitioner=max),
            "join on the same key was given a partitioner (at {}). Partitioners are for on=.",
        ),
        (
            lambda: two()[0].join(stream()),
            (
                "join of a table was given KStream(KSTREAM-SOURCE-0000000000) (at {}). "
                "Join it with a KTable; a stream joins a table, not the other way round."
            ),
        ),
        (
            lambda: two()[0].join(two()[1]),
            "join was given tables of two builders (at {}). Build one topology with one StreamsBuilder.",
        ),
        (
            lambda left, right: left.join(right, TableJoined.as_("fk")),
            (
                "join was given TableJoined(partitioner=None, other_partitioner=None, name='fk'), a TableJoined (at {}). "
                "It takes Materialized or Named there; give options as keywords."
            ),
        ),
        (
            lambda left, right: left.join(right, on=3),
            "the foreign key (on=) is 3, not a function (at {}). Give a function of (value) or (key, value).",
        ),
    ],
)
def test_refused(call: Any, message: str) -> None:
    says(call, message, *(two() if call.__code__.co_argcount else ()))
