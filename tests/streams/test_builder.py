"""StreamsBuilder: sources, stores, settings, and building."""

from __future__ import annotations

import pickle
import re
from collections.abc import Iterator
from datetime import datetime
from typing import Any

import pytest
from pyspark import cloudpickle

from penstock import (
    ConfigError,
    Consumed,
    ContextualFixedKeyProcessor,
    ContextualProcessor,
    FixedKeyProcessor,
    Grouped,
    Materialized,
    Processor,
    ProcessorWrapper,
    Serdes,
    Stores,
    StreamsBuilder,
    StreamsError,
    Topology,
    TopologyConfig,
    UnlimitedWindows,
    fn,
    v,
)
from penstock.topology.operators import GlobalTableSource, Process
from tests.streams.building import operators, refused, says, source, stores_of, the


class Pass(ContextualProcessor[Any, Any, Any, Any]):
    def process(self, record: Any) -> None:
        self.context.forward(record)


def seen(name: str = "seen") -> Any:
    return Stores.key_value_store_builder(Stores.persistent_key_value_store(name), "string", "long")


class Counting(Pass):
    @staticmethod
    def stores() -> list[Any]:
        return [seen()]


def echo(record: Any, context: Any) -> Iterator[Any]:
    yield record


class TestSources:
    def test_a_list_of_topics(self) -> None:
        builder = StreamsBuilder()
        builder.stream(["a", "b"])
        assert source(builder.build(), "a").topics == ("a", "b")

    @pytest.mark.parametrize("pattern", ["orders-.*", re.compile("orders-.*")])
    def test_a_pattern(self, pattern: Any) -> None:
        builder = StreamsBuilder()
        builder.stream(pattern=pattern, name="orders")
        node = builder.build().nodes["orders"]
        assert (node.topics, node.pattern) == ((), "orders-.*")  # type: ignore[union-attr]

    def test_a_global_table(self) -> None:
        builder = StreamsBuilder()
        builder.global_table("users", Consumed.with_("string", "json").with_name("u"), Materialized.as_("rows"))
        node = builder.build().global_stores["rows"]
        assert (node.source.name, node.processor.name, node.source.topics) == ("u-source", "u", ("users",))
        assert node.processor.operator == GlobalTableSource("rows")
        assert (node.builder.logging, node.builder.caching) == (False, False)
        assert node.builder.value_serde == Serdes.json()

    def test_a_global_store(self) -> None:
        builder = StreamsBuilder()
        builder.add_global_store(seen(), "users", Pass, key_serde="string").stream("in").to("out")
        node = builder.build().global_stores["seen"]
        assert isinstance(node.processor.operator, Process)
        assert node.processor.stores == ("seen",)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: StreamsBuilder().stream(),
            (
                'a source needs topics or a pattern (at {}). Give one of them: stream("orders") or '
                'stream(pattern="orders-.*").'
            ),
        ),
        (
            lambda: StreamsBuilder().stream("a", pattern="b"),
            (
                'a source was given topics and a pattern (at {}). Give one of them: stream("orders") or '
                'stream(pattern="orders-.*").'
            ),
        ),
        (
            lambda: StreamsBuilder().stream(pattern="("),
            (
                "the topic pattern '(' is not a regular expression: missing ), unterminated subpattern at position 0 "
                "(at {}). Give text or a compiled pattern."
            ),
        ),
        (lambda: StreamsBuilder().stream("a", "a"), "topic a is named twice (at {}). Name each topic once."),
        (lambda: StreamsBuilder().stream(7), "the topic is 7, not text (at {}). Give a name as text."),
        (
            lambda: StreamsBuilder().global_table("g", store=Stores.persistent_versioned_key_value_store("s", 1)),
            "a global table cannot be versioned (at {}). Use table(..., versioned=...).",
        ),
        (
            lambda: StreamsBuilder().table("t", versioned="1h", store=Stores.persistent_key_value_store("s")),
            "the table s was given a history and a store supplier (at {}). Keep one of them.",
        ),
        (
            lambda: StreamsBuilder().add_state_store("seen"),  # type: ignore[arg-type]
            (
                "a store builder was expected, not 'seen' (at {}). Make one: Stores.key_value_store_builder("
                "Stores.persistent_key_value_store(name), key_serde, value_serde)."
            ),
        ),
    ],
)
def test_refused_at_once(call: Any, message: str) -> None:
    says(call, message)


def test_naive_datetimes_are_refused() -> None:
    said = refused(lambda: UnlimitedWindows.of().start_on(datetime(2024, 1, 1)))  # noqa: DTZ001
    assert said.startswith("start of the unlimited window is a datetime without a time zone: datetime.datetime(2024")


class TestBuild:
    def test_may_be_called_again(self) -> None:
        builder = StreamsBuilder()
        changed = builder.stream("in").select_key(len)
        changed.group_by_key().count(name="a")
        changed.group_by_key().count(name="b")
        first = str(builder.build().describe())
        optimised = builder.build({"topology.optimization": "all"})
        assert list(optimised.internal_topics) == ["a-repartition"]
        assert str(builder.build().describe()) == first

    def test_settings_of_the_builder_are_the_default(self) -> None:
        builder = StreamsBuilder({"topology.optimization": "all"})
        builder.table("t", store="rows")
        assert builder.build().source_changelogs == {"rows": "t"}
        assert builder.build({}).source_changelogs == {"rows": "t"}
        assert builder.build({"topology.optimization": "none"}).source_changelogs == {}
        assert builder.build(TopologyConfig()).source_changelogs == {}

    def test_duplicate_names(self) -> None:
        builder = StreamsBuilder()
        builder.stream("a").filter(bool, name="same").filter(bool, name="same")
        assert refused(builder.build).startswith("two nodes are called same (node same at test_builder.py:")

    def test_duplicate_stores(self) -> None:
        builder = StreamsBuilder()
        builder.stream("a").group_by_key().count(store="same")
        builder.stream("b").group_by_key().reduce(max, store="same")
        said = refused(builder.build)
        assert said.startswith("two stores are called same (at test_builder.py:")
        assert said.endswith("Give one of them another name; to share one store, name it in both processors.")

    def test_a_store_added_twice(self) -> None:
        builder = StreamsBuilder().add_state_store(seen()).add_state_store(seen().with_caching_enabled())
        assert refused(builder.build).startswith("two stores are called seen (at test_builder.py:")

    def test_overlapping_topics(self) -> None:
        builder = StreamsBuilder()
        builder.stream("a", "b")
        builder.stream("b", "c")
        said = refused(builder.build)
        assert said.startswith("topic b is read by two sources with different topics: [a, b] and [b, c] (at test_bui")
        assert said.endswith("Read the same topics in both, or read each topic once and merge the streams.")

    def test_a_topic_as_stream_and_table(self) -> None:
        builder = StreamsBuilder()
        builder.stream("a", name="s")
        builder.table("a", name="t")
        said = refused(builder.build)
        assert said.startswith("topic a is read by the sources s and t-source (node t-source at test_builder.py:")
        assert said.endswith("Make s the parent of both branches.")

    def test_an_unknown_store(self) -> None:
        builder = StreamsBuilder().add_state_store(seen())
        builder.stream("in").process(Pass, "sene", name="p")
        said = refused(builder.build)
        assert said.startswith(
            "processor p uses the store sene, which does not exist (yet) (node p at test_builder.py:"
        )
        assert said.endswith("Add it first: builder.add_state_store(...). Did you mean seen? Stores: seen.")


class TestProcessors:
    def test_stores_are_connected(self) -> None:
        builder = StreamsBuilder().add_state_store(seen())
        builder.stream("in").process(Pass, "seen", name="p").process_values(echo, name="q").to("out")
        topology = builder.build()
        assert stores_of(topology, "p") == ("seen",)
        p, q = operators(topology)["p"], operators(topology)["q"]
        assert (p.supplier, p.fixed_key, q.supplier, q.fixed_key) == (Pass, False, echo, True)

    def test_stores_that_a_processor_brings_along(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").process(Counting, name="p").process(Counting, name="q")
        topology = builder.build()
        assert stores_of(topology, "p") == stores_of(topology, "q") == ("seen",)

    def test_only_process_flags_the_key(self) -> None:
        builder = StreamsBuilder()
        builder.stream("a").process_values(echo).group_by_key().count(name="same")
        builder.stream("b").process(echo).group_by_key().count(name="other")
        assert list(builder.build().internal_topics) == ["other-repartition"]

    def test_a_transformer_of_a_table(self) -> None:
        class Upper:
            def transform(self, key: Any, value: Any) -> Any:
                return value

        builder = StreamsBuilder().add_state_store(seen())
        builder.table("in").transform_values(Upper, "seen", name="t", store="rows")
        assert set(stores_of(builder.build(), "t")) == {"seen", "rows"}

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            (
                3,
                (
                    "the processor of p is 3, which makes no processors (node p at {}). Give a Processor class, a function "
                    "that returns a new processor, or a generator function of (record, context)."
                ),
            ),
            (
                lambda record, context: None,
                (
                    "the processor of p is a function that takes arguments but yields nothing (node p at {}). A function of "
                    "(record, context) must yield the records to forward; one without arguments must return a new "
                    "processor."
                ),
            ),
        ],
    )
    def test_what_is_no_processor(self, given: Any, message: str) -> None:
        says(lambda: StreamsBuilder().stream("in").process(given, name="p"), message)

    def test_one_instance_for_all_is_refused(self) -> None:
        instance = Pass()
        says(
            lambda: StreamsBuilder().stream("in").process(lambda: instance, name="p"),
            "the supplier of p gives the same processor twice (node p at {}). "
            "Every task needs its own: make a new one in each call.",
        )

    def test_coroutines_are_refused(self) -> None:
        async def process(record: Any, context: Any) -> None: ...

        says(
            lambda: StreamsBuilder().stream("in").process(process, name="p"),
            "the processor p is a coroutine function (node p at {}). "
            "Records are processed one after the other; give an ordinary class or function.",
        )

    def test_a_store_named_twice(self) -> None:
        says(
            lambda: StreamsBuilder().stream("in").process(Pass, "a", "a"),
            "the store a is named twice (at {}). Name each store once.",
        )


class TestBaseClasses:
    def test_the_context_is_there_from_init_on(self) -> None:
        for cls in (ContextualProcessor, ContextualFixedKeyProcessor):
            processor: Any = cls()
            said = refused(lambda: processor.context, StreamsError)  # noqa: B023
            assert said == (
                f"{cls.__name__} has no context. "
                "It is there from init() on; if you override init, call super().init(context)."
            )
            processor.init("context")
            assert processor.context == "context"
            processor.close()

    @pytest.mark.parametrize("cls", [Processor, FixedKeyProcessor])
    def test_process_must_be_written(self, cls: Any) -> None:
        processor = cls()
        processor.init(None)
        with pytest.raises(NotImplementedError, match=rf"{cls.__name__} has no process\(record\)"):
            processor.process(None)


class Doubling(ProcessorWrapper):
    def wrap_processor(self, name: str, supplier: Any) -> Any:
        return lambda: (name, supplier())


class TestWrapper:
    @pytest.mark.parametrize("given", [Doubling, Doubling(), f"{__name__}.Doubling"])
    def test_suppliers_are_wrapped(self, given: Any) -> None:
        builder = StreamsBuilder({"processor.wrapper.class": given})
        builder.stream("in").process(Pass, name="p").process_values(echo, name="q")
        topology = builder.build()
        name, made = operators(topology)["p"].supplier()
        assert (name, type(made)) == ("p", Pass)
        assert operators(topology)["q"].supplier is echo

    @pytest.mark.parametrize(
        ("given", "message"),
        [
            ("no.such.Wrapper", ("processor.wrapper.class 'no.such.Wrapper' cannot be imported: No module named 'no'. "
             "Give package.module.Class.")),
            (3, "the processor wrapper 3 has no wrap_processor(name, supplier). Subclass penstock.ProcessorWrapper."),
        ],
    )  # fmt: skip
    def test_what_is_no_wrapper(self, given: Any, message: str) -> None:
        builder = StreamsBuilder({"processor.wrapper.class": given})
        assert refused(builder.build, ConfigError) == message


class TestExplicitNames:
    CONFIG = {"ensure.explicit.internal.resource.naming": "true"}  # noqa: RUF012

    def test_everything_generated_is_listed(self) -> None:
        builder = StreamsBuilder(self.CONFIG)
        builder.stream("a").group_by(len).count()
        builder.stream("b").join(builder.stream("c"), within=1)
        builder.stream("d").repartition().to("out")
        assert refused(builder.build) == (
            "ensure.explicit.internal.resource.naming is set, but these names are generated: stores "
            "KSTREAM-AGGREGATE-STATE-STORE-0000000002, KSTREAM-JOINTHIS-0000000011-store, "
            "KSTREAM-JOINOTHER-0000000012-store; changelog topics "
            "KSTREAM-AGGREGATE-STATE-STORE-0000000002-changelog, KSTREAM-JOINTHIS-0000000011-store-changelog, "
            "KSTREAM-JOINOTHER-0000000012-store-changelog; repartition topics "
            "KSTREAM-AGGREGATE-STATE-STORE-0000000002-repartition, KSTREAM-REPARTITION-0000000015-repartition. "
            "Give the operators name= (or store=, Grouped, Joined, StreamJoined, Repartitioned, TableJoined names)."
        )

    def test_named_topologies_pass(self) -> None:
        builder = StreamsBuilder(self.CONFIG)
        builder.table("unmaterialised").to_stream().to("out")
        builder.stream("a").group_by(len, Grouped.as_("g")).count(name="n")
        builder.stream("b").select_key(len).join(builder.stream("c"), within=1, name="j", store="s")
        table = builder.table("t", store="rows")
        table.join(builder.table("u", store="more"), on=v.x, name="fk")
        builder.stream("d").repartition(name="r").to("out2")
        assert set(builder.build().stores) >= {"n", "s-this-join-store", "fk-subscription-store"}


def everything() -> Topology:
    builder = StreamsBuilder()
    builder.add_state_store(seen())
    texts = builder.stream("in", key_serde="string", value_serde="json").filter(v.x > 1).process(echo, "seen")
    texts.group_by(v.user).tumbling("1m").agg(Materialized.as_("stats"), n=fn.count(), mean=fn.avg(v.x))
    table = builder.table("t", versioned="1h", key_serde="string", value_serde="json")
    table.left_join(builder.table("u"), on=v.owner).group_by(v.region).count(name="regions")
    texts.join(builder.stream("other"), lambda left, right: left, within="1s").to(lambda k, value: f"out-{k}")
    texts.join(builder.global_table("g"), on=lambda value: value["g"])
    return builder.build({"topology.optimization": "all"})


def test_a_topology_travels_to_the_workers() -> None:
    topology = everything()
    travelled: Topology = pickle.loads(cloudpickle.dumps(topology))  # type: ignore[no-untyped-call]
    assert str(travelled.describe()) == str(topology.describe())
    assert travelled.subtopologies() == topology.subtopologies()
    assert travelled.copartitioned == topology.copartitioned
    assert travelled.source_changelogs == topology.source_changelogs
    aggregation = next(o for o in operators(travelled).values() if hasattr(o, "aggregation")).aggregation
    step = aggregation.aggregator.bind("key", "value", "timestamp", "aggregate")
    assert step("k", {"x": 2}, 0, aggregation.initializer())["n"] == 1
    assert the(travelled, Process).supplier is echo
