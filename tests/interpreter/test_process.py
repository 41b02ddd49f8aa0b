"""User processors in a task: their life, their context, and the children they forward to."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import (
    ContextualProcessor,
    FixedKeyRecord,
    Headers,
    PenstockError,
    Processor,
    Record,
    Stores,
    StreamsBuilder,
    StreamsError,
    Topology,
    TopologyTestDriver,
    ts,
    v,
)

SEEN = Stores.key_value_store_builder(Stores.persistent_key_value_store("seen"), "string", "string")


def run(processor: Any, *inputs: tuple[str, str, int], stores: tuple[str, ...] = ()) -> list[Any]:
    """What a processor forwards of these records."""
    builder = StreamsBuilder()
    if stores:
        builder.add_state_store(SEEN)
    builder.stream("in").process(processor, *stores, name="p").to("out")
    with TopologyTestDriver(builder, wall_clock=0) as driver:
        for key, value, timestamp in inputs:
            driver.create_input_topic("in").pipe_input(key, value, timestamp, [("h", b"1")])
        return driver.create_output_topic("out").read_records_to_list()


class TestForwarding:
    def test_key_value_timestamp_and_headers_are_those_of_the_record_forwarded(self) -> None:
        class Change(ContextualProcessor[Any, Any, Any, Any]):
            def process(self, record: Record[Any, Any]) -> None:
                self.context.forward(record)
                self.context.forward(record.with_key("n").with_timestamp(99).with_headers([("x", b"2")]))
                self.context.forward(record.with_value("last"))

        first, second, third = run(Change, ("k", "a", 5))
        assert (first.key, first.value, first.timestamp, first.headers) == ("k", "a", 5, (("h", b"1"),))
        assert (second.key, second.timestamp, second.headers) == ("n", 99, (("x", b"2"),))
        assert (third.value, third.timestamp, third.headers) == ("last", 5, (("h", b"1"),))

    def test_to_one_child(self) -> None:
        class Route(ContextualProcessor[Any, Any, Any, Any]):
            def process(self, record: Record[Any, Any]) -> None:
                self.context.forward(record, "big" if len(record.value) > 1 else "small")

        topology = Topology().add_source("read", "in").add_processor("route", Route, "read")
        topology.add_sink("small", "small-out", "route").add_sink("big", "big-out", "route")
        with TopologyTestDriver(topology) as driver:
            driver.create_input_topic("in").pipe_value_list(["a", "bb", "c"], start=0)
            assert driver.create_output_topic("small-out").read_values_to_list() == ["a", "c"]
            assert driver.create_output_topic("big-out").read_values_to_list() == ["bb"]

    def test_children_are_done_before_forward_returns(self) -> None:
        steps: list[str] = []

        class Above(ContextualProcessor[Any, Any, Any, Any]):
            def process(self, record: Record[Any, Any]) -> None:
                steps.append("above")
                self.context.forward(record)
                steps.append("above again")

        class Below(Processor[Any, Any, Any, Any]):
            def process(self, record: Record[Any, Any]) -> None:
                steps.append("below")

        builder = StreamsBuilder()
        stream = builder.stream("in").process(Above)
        stream.process(Below)
        stream.process(Below)
        with TopologyTestDriver(builder) as driver:
            driver.create_input_topic("in").pipe_input("k", "a", 0)
        assert steps == ["above", "below", "below", "above again"]

    def test_not_after_the_end(self) -> None:
        contexts: list[Any] = []

        class Keep(ContextualProcessor[Any, Any, Any, Any]):
            def process(self, record: Record[Any, Any]) -> None:
                contexts.append(self.context)

        run(Keep, ("k", "a", 0))
        with pytest.raises(StreamsError, match="processor p forwards a record after it was closed"):
            contexts[0].forward(Record("k", "a", 0))


class TestContext:
    def test_where_a_record_is(self) -> None:
        seen: list[Any] = []

        class Look(ContextualProcessor[Any, Any, Any, Any]):
            def init(self, context: Any) -> None:
                super().init(context)
                seen.append((context.record_metadata, context.current_stream_time_ms()))

            def process(self, record: Record[Any, Any]) -> None:
                c = self.context
                seen.append((c.record_metadata, c.current_stream_time_ms(), c.current_system_time_ms()))
                seen.append((c.task_id, c.application_id, c.app_configs["application.id"]))

        run(Look, ("k", "a", 7), ("k", "b", 3))
        assert seen == [
            (None, -1),
            (("in", 0, 0), 7, 0),
            ("0_0", "penstock", None),
            (("in", 0, 1), 7, 0),
            ("0_0", "penstock", None),
        ]

    def test_settings_of_the_users_own(self) -> None:
        found: list[Any] = []

        class Read(Processor[Any, Any, Any, Any]):
            def init(self, context: Any) -> None:
                found.append(context.app_configs_with_prefix("app."))

        builder = StreamsBuilder()
        builder.stream("in").process(Read)
        with TopologyTestDriver(builder, {"app.limit": 5}):
            assert found == [{"limit": 5}]

    def test_stores_are_the_tasks_own(self) -> None:
        class Count(ContextualProcessor[Any, Any, Any, Any]):
            def process(self, record: Record[Any, Any]) -> None:
                store = self.context.get_state_store("seen")
                store[record.key] = (store.get(record.key) or "") + record.value
                self.context.forward(record.with_value(store[record.key]))

        out = run(Count, ("k", "a", 0), ("k", "b", 0), stores=("seen",))
        assert [record.value for record in out] == ["a", "ab"]

    def test_punctuators_have_no_record(self) -> None:
        seen: list[Any] = []

        class Tick(ContextualProcessor[Any, Any, Any, Any]):
            def init(self, context: Any) -> None:
                super().init(context)
                context.schedule(10, "stream", self.tick)

            def process(self, record: Record[Any, Any]) -> None:
                """Only ticks count."""

            def tick(self, now: int) -> None:
                seen.append((now, self.context.record_metadata))
                self.context.forward(Record("tick", "x", now))

        (out,) = run(Tick, ("k", "a", 5))
        assert seen == [(5, None)]
        assert (out.timestamp, out.headers) == (5, Headers())


class TestKinds:
    def test_a_generator_function(self) -> None:
        def split(record: Record[str, str], context: Any) -> Any:
            for word in record.value.split():
                yield record.with_value(f"{context.task_id}:{word}")

        assert [record.value for record in run(split, ("k", "a b", 0))] == ["0_0:a", "0_0:b"]

    def test_a_factory_and_an_object_with_get(self) -> None:
        class Echo(ContextualProcessor[Any, Any, Any, Any]):
            def process(self, record: Record[Any, Any]) -> None:
                self.context.forward(record)

        class Supplier:
            def get(self) -> Echo:
                return Echo()

        for given in (Echo, lambda: Echo(), Supplier()):  # noqa: PLW0108 - the function is the point
            assert [record.value for record in run(given, ("k", "a", 0))] == ["a"]

    def test_a_processor_with_a_method_called_get(self) -> None:
        class Cache(ContextualProcessor[Any, Any, Any, Any]):
            def get(self, key: str) -> str:
                return key.upper()

            def process(self, record: Record[Any, Any]) -> None:
                self.context.forward(record.with_value(self.get(record.key)))

        assert [record.value for record in run(Cache, ("k", "a", 0))] == ["K"]

    def test_a_processor_that_follows_the_contract_without_the_base_class(self) -> None:
        class Plain:
            def process(self, record: Any) -> None:
                """No init, no close."""

        assert run(Plain, ("k", "a", 0)) == []

    def test_fixed_keys(self) -> None:
        def twice(record: FixedKeyRecord[Any, Any], context: Any) -> Any:
            assert not hasattr(record, "with_key")
            yield record.with_value(record.value * 2)

        builder = StreamsBuilder()
        builder.stream("in").process_values(twice).to("out")
        with TopologyTestDriver(builder) as driver:
            driver.create_input_topic("in").pipe_input("k", "a", 0)
            assert driver.create_output_topic("out").read_key_value() == ("k", "aa")


class TestLife:
    def test_a_failure_to_close_is_told_and_the_others_are_closed(self) -> None:
        closed: list[str] = []

        class Fails(Processor[Any, Any, Any, Any]):
            def close(self) -> None:
                raise OSError("disk gone")

        class Closes(Processor[Any, Any, Any, Any]):
            def close(self) -> None:
                closed.append("other")

        builder = StreamsBuilder()
        stream = builder.stream("in")
        stream.process(Fails, name="fails")
        stream.process(Closes)
        driver = TopologyTestDriver(builder)
        with pytest.raises(PenstockError, match=r"OSError: disk gone \(node fails, task 0_0"):
            driver.close()
        assert closed == ["other"]

    def test_processors_are_initialised_in_the_order_of_the_topology(self) -> None:
        order: list[str] = []

        def supplier(name: str) -> Any:
            class Named(Processor[Any, Any, Any, Any]):
                def init(self, context: Any) -> None:
                    order.append(name)

            return Named

        topology = Topology().add_source("s", "in")
        for name, parent in (("a", "s"), ("b", "a"), ("c", "s")):
            topology.add_processor(name, supplier(name), parent)
        with TopologyTestDriver(topology):
            assert order == ["a", "b", "c"]


class TestBranches:
    def test_the_first_that_holds_gets_the_record(self) -> None:
        builder = StreamsBuilder()
        found = builder.stream("in", value_serde="long").branches(big=v > 10, old=ts < 5, even=lambda v: v % 2 == 0)
        for name, stream in found.items():
            stream.to(name)
        with TopologyTestDriver(builder) as driver:
            topic = driver.create_input_topic("in")
            for value, timestamp in ((20, 0), (3, 0), (4, 9), (5, 9)):
                topic.pipe_input("k", value, timestamp)
            read = {t: driver.create_output_topic(t).read_values_to_list() for t in ("big", "old", "even")}
            assert read == {"big": [20], "old": [3], "even": [4]}
            assert driver.metrics["no branch matched"] == 1
            assert driver.dropped_records == 0  # as Kafka counts
