"""The test driver: one task, one partition for each topic, clocks that the test moves."""

from __future__ import annotations

from datetime import datetime, timezone
from typing import Any

import pytest

from penstock import (
    ContextualProcessor,
    PenstockError,
    Processor,
    Record,
    StateStore,
    Stores,
    StreamsBuilder,
    StreamsError,
    TopologyTestDriver,
    v,
)

TEXT = {"default.key.serde": "string", "default.value.serde": "string"}


def driver(builder: Any, **config: Any) -> TopologyTestDriver:
    return TopologyTestDriver(
        builder, {**TEXT, **{k.replace("_", "."): value for k, value in config.items()}}, wall_clock=0
    )


def upper() -> StreamsBuilder:
    builder = StreamsBuilder()
    builder.stream("in").map_values(str.upper).to("out")
    return builder


class TestRunning:
    def test_a_topology_or_a_builder(self) -> None:
        for given in (upper(), upper().build()):
            with driver(given) as d:
                d.create_input_topic("in").pipe_input("k", "a", 5)
                assert d.create_output_topic("out").read_key_value() == ("k", "A")

    def test_a_record_runs_through_repartitions_before_the_call_returns(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").group_by(lambda value: value, name="by-value").count(name="counts").to_stream().to(
            "out", value_serde="long"
        )
        with driver(builder, application_id="app") as d:
            d.create_input_topic("in").pipe_input("k", "a", 5)
            assert d.create_output_topic("out").read_key_value() == ("a", 1)
            assert d.produced_topic_names == {"app-by-value-repartition", "out"}
            between = d.create_output_topic("app-by-value-repartition")
            assert between.read_key_value() == ("a", "a")

    def test_what_is_written_to_a_source_topic_is_read(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").map_values(lambda value: value + "!").to("between")
        builder.stream("between").to("out")
        with driver(builder) as d:
            d.create_input_topic("in").pipe_input("k", "a", 5)
            assert d.create_output_topic("out").read_value() == "a!"
            d.create_input_topic("between").pipe_input("k", "b", 6)
            assert d.create_output_topic("out").read_value() == "b"

    def test_a_pattern_takes_any_topic_that_matches(self) -> None:
        builder = StreamsBuilder()
        builder.stream(pattern="in-.*").to("out")
        with driver(builder) as d:
            d.create_input_topic("in-7").pipe_input("k", "a", 5)
            assert d.create_output_topic("out").read_value() == "a"

    def test_offsets_count_for_each_topic(self) -> None:
        seen = []

        class Look(ContextualProcessor[Any, Any, Any, Any]):
            def process(self, record: Record[Any, Any]) -> None:
                seen.append(self.context.record_metadata)

        builder = StreamsBuilder()
        builder.stream("a", "b").process(Look)
        with driver(builder) as d:
            for topic in ("a", "b", "a"):
                d.create_input_topic(topic).pipe_input("k", "x", 0)
        assert seen == [("a", 0, 0), ("b", 0, 0), ("a", 0, 1)]

    def test_a_sinks_function_names_the_topic(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").to(lambda key, value, context: f"{context.topic}-{value}")
        with driver(builder) as d:
            d.create_input_topic("in").pipe_input("k", "a", 5)
            assert d.produced_topic_names == {"in-a"}
            assert d.create_output_topic("in-a").read_value() == "a"

    def test_global_tables_are_updated_at_once(self) -> None:
        builder = StreamsBuilder()
        names = builder.global_table("names", store="names")
        builder.stream("in").join(names, lambda left, right: left + right, on=v).to("out")
        with driver(builder) as d:
            d.create_input_topic("names").pipe_input("1", "Ann", 0)
            d.create_input_topic("in").pipe_input("k", "1", 0)
            assert d.create_output_topic("out").read_value() == "1Ann"
            assert d.get_key_value_store("names").get("1") == "Ann"

    def test_a_failure_says_where_and_leaves_the_outputs_before_it(self) -> None:
        builder = StreamsBuilder()
        stream = builder.stream("in")
        stream.to("before")
        stream.map_values(int, name="to-number").to("out", value_serde="long")
        with driver(builder) as d:
            topic = d.create_input_topic("in")
            with pytest.raises(StreamsError) as caught:
                topic.pipe_input("k", "x", 5)
            assert "ValueError: invalid literal for int() with base 10: 'x'" in str(caught.value)
            assert "node to-number, task 0_0, topic in, partition 0, offset 0" in str(caught.value)
            assert isinstance(caught.value.__cause__, ValueError)
            assert d.create_output_topic("before").read_value() == "x"
            topic.pipe_input("k", "7", 6)  # the driver goes on
            assert d.create_output_topic("out").read_value() == 7

    def test_records_wait_for_other_inputs_if_the_task_may_idle(self) -> None:
        builder = StreamsBuilder()
        builder.stream("a").merge(builder.stream("b")).to("out")
        with driver(builder, max_task_idle_ms=100) as d:
            out = d.create_output_topic("out")
            d.create_input_topic("a").pipe_input("k", "late", 10)
            assert out.is_empty
            d.create_input_topic("b").pipe_input("k", "early", 5)
            assert out.read_values_to_list() == ["early"]  # b is empty again
            d.advance_wall_clock_time(99)
            assert out.is_empty
            d.advance_wall_clock_time(1)
            assert out.read_values_to_list() == ["late"]


class _Ticks(ContextualProcessor[Any, Any, Any, Any]):
    def init(self, context: Any) -> None:
        super().init(context)
        context.schedule("1s", "wall", lambda now: context.forward(Record("wall", str(now), now)))
        context.schedule(10, "stream", lambda now: context.forward(Record("stream", str(now), now)))

    def process(self, record: Record[Any, Any]) -> None:
        """Only the clocks count."""


class TestTime:
    def test_the_wall_clock_moves_when_told_to(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").process(_Ticks).to("out")
        with driver(builder) as d:
            out = d.create_output_topic("out")
            d.advance_wall_clock_time(999)
            assert out.is_empty
            d.advance_wall_clock_time(1)
            assert out.read_key_values_to_list() == [("wall", "1000")]
            d.advance_wall_clock_time("3s500ms")
            assert out.read_key_values_to_list() == [("wall", "4500")]  # missed ones fire once
            d.advance_wall_clock_time(500)
            assert out.read_key_values_to_list() == [("wall", "5000")]  # and the rhythm is kept

    def test_stream_time_moves_with_records(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").process(_Ticks).to("out")
        with driver(builder) as d:
            topic, out = d.create_input_topic("in"), d.create_output_topic("out")
            for timestamp in (3, 9, 10, 5, 35, 39, 40):
                topic.pipe_input("k", "x", timestamp)
            assert out.read_values_to_list() == ["3", "10", "35", "40"]

    def test_the_wall_clock_may_start_anywhere(self) -> None:
        start = datetime(2024, 5, 1, tzinfo=timezone.utc)
        with TopologyTestDriver(upper(), wall_clock=start) as d:
            d.create_input_topic("in").pipe_input("k", "a")
            assert d.create_output_topic("out").read_record().timestamp == 1_714_521_600_000


class TestStores:
    def test_by_kind(self) -> None:
        builder = StreamsBuilder()
        grouped = builder.stream("in").group_by_key()
        grouped.count(name="counts")
        grouped.tumbling(10).count(name="windows")
        grouped.session(10).count(name="sessions")
        builder.table("versions", versioned="1h", store="versions")
        with driver(builder) as d:
            d.create_input_topic("in").pipe_input("k", "x", 5)
            d.create_input_topic("versions").pipe_input("k", "x", 5)
            assert d.get_timestamped_key_value_store("counts").get("k") == (1, 5)
            assert d.get_key_value_store("counts").get("k") == 1
            assert d.get_timestamped_window_store("windows").fetch("k", 0) == (1, 5)
            assert d.get_window_store("windows").fetch("k", 0) == 1
            assert d.get_session_store("sessions").fetch_session("k", 5, 5) == 1
            assert d.get_versioned_key_value_store("versions").get("k").value == "x"
            assert set(d.get_all_state_stores()) == {"counts", "windows", "sessions", "versions"}

    def test_another_kind_or_name_gives_none(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").group_by_key().count(name="counts")
        with driver(builder) as d:
            assert d.get_window_store("counts") is None
            assert d.get_session_store("counts") is None
            assert d.get_versioned_key_value_store("counts") is None
            assert d.get_key_value_store("no-such-store") is None

    def test_the_untyped_getter_is_for_stores_of_users(self) -> None:
        class Total(StateStore):
            def __init__(self) -> None:
                super().__init__("total")

        class Use(Processor[Any, Any, Any, Any]):
            def process(self, record: Record[Any, Any]) -> None:
                """Nothing."""

        builder = StreamsBuilder()
        builder.add_state_store(Stores.custom_store_builder("total", Total))
        builder.stream("in").process(Use, "total")
        builder.table("t", store="table")
        with driver(builder) as d:
            assert isinstance(d.get_state_store("total"), Total)
            with pytest.raises(PenstockError) as caught:
                d.get_state_store("table")
        assert str(caught.value) == (
            "the store 'table' is a timestamped key value store. Use get_timestamped_key_value_store('table')."
        )

    def test_a_table_store_without_its_timestamps(self) -> None:
        builder = StreamsBuilder()
        builder.table("in", store="table")
        with driver(builder) as d:
            d.create_input_topic("in").pipe_input("b", "2", 5)
            store = d.get_key_value_store("table")
            store.put("a", "1")
            store["c"] = "3"
            assert store.put_if_absent("c", "4") == "3"
            store.put_all({"d": "5", "e": "6"})
            del store["e"]
            assert ("a" in store, "z" in store, store["b"]) == (True, False, "2")
            assert list(store) == ["a", "b", "c", "d"]
            with store.range("a", "c") as entries:
                assert list(entries) == [("a", "1"), ("b", "2"), ("c", "3")]
            assert store.delete("d") == "5"
            assert store.approximate_num_entries == 3
            with pytest.raises(KeyError):
                store["z"]
            assert d.get_timestamped_key_value_store("table").get("a") == ("1", -1)

    def test_headers_beside_rows_do_not_show_in_the_other_getters(self) -> None:
        config = {**TEXT, "dsl.store.format": "HEADERS"}
        builder = StreamsBuilder(config)
        builder.table("in", store="table")
        with TopologyTestDriver(builder, config) as d:
            d.create_input_topic("in").pipe_input("a", "1", 5, headers=[("h", b"x")])
            assert d.get_key_value_store("table").get("a") == "1"
            assert d.get_timestamped_key_value_store("table").get("a") == ("1", 5)
            assert d.get_state_store("table").get("a") == ("1", 5, (("h", b"x"),))


class TestRestart:
    def test_stores_and_stream_time_stay(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").group_by_key().count(name="counts").to_stream().to("out", value_serde="long")
        with driver(builder) as d:
            d.create_input_topic("in").pipe_input("k", "x", 50)
            d.restart()
            assert d._task.context.stream_time == 50
            d.create_input_topic("in").pipe_input("k", "x", 5)
            assert d.create_output_topic("out").read_values_to_list() == [1, 2]
            assert d.get_timestamped_key_value_store("counts").get("k") == (2, 50)

    def test_operator_clocks_start_anew_as_in_kafka(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").group_by_key().tumbling(10).count(retention=1000).to_stream().map(
            lambda key, value: (str(key), str(value))
        ).to("out")
        with driver(builder) as d:
            topic = d.create_input_topic("in")
            topic.pipe_input("k", "x", 50)
            topic.pipe_input("k", "x", 5)
            assert d.dropped_records == 1
            d.restart()
            topic.pipe_input("k", "x", 5)  # late, and taken once
            assert d.create_output_topic("out").read_key_values_to_list()[-1] == ("[k@0/10]", "1")

    def test_processors_are_closed_and_made_again(self) -> None:
        calls = []

        class Life(Processor[Any, Any, Any, Any]):
            def init(self, context: Any) -> None:
                calls.append("init")

            def process(self, record: Record[Any, Any]) -> None:
                calls.append(record.value)

            def close(self) -> None:
                calls.append("close")

        builder = StreamsBuilder()
        builder.stream("in").process(Life)
        with driver(builder) as d:
            d.create_input_topic("in").pipe_input("k", "a", 0)
            d.restart()
            d.create_input_topic("in").pipe_input("k", "b", 0)
        assert calls == ["init", "a", "close", "init", "b", "close"]


class TestErrors:
    def test_an_unknown_input_topic(self) -> None:
        builder = upper()
        builder.global_table("names")
        with driver(builder) as d, pytest.raises(PenstockError) as caught:
            d.create_input_topic("inn")
        assert str(caught.value) == "the topology reads no topic 'inn'. It reads: in, names."

    def test_a_closed_driver(self) -> None:
        d = driver(upper())
        topic = d.create_input_topic("in")
        d.close()
        d.close()
        with pytest.raises(PenstockError) as caught:
            topic.pipe_input("k", "a", 0)
        assert str(caught.value) == "the test driver is closed. Pipe records inside the with block."

    def test_time_does_not_go_back(self) -> None:
        with driver(upper()) as d, pytest.raises(PenstockError, match="advance is negative: -1"):
            d.advance_wall_clock_time(-1)

    def test_a_naive_wall_clock(self) -> None:
        with pytest.raises(PenstockError, match="wall clock is a datetime without a time zone"):
            TopologyTestDriver(upper(), wall_clock=datetime(2024, 1, 1))  # noqa: DTZ001


class TestMetrics:
    def test_drops_are_counted_by_reason(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").group_by_key().count()
        with driver(builder) as d:
            topic = d.create_input_topic("in")
            topic.pipe_input(None, "x", 0)
            topic.pipe_input("k", None, 0)
            topic.pipe_input("k", "x", 0)
            assert d.dropped_records == 2
            assert d.metrics["dropped-records-total"] == 2
            assert sum(count for reason, count in d.metrics.items() if reason != "dropped-records-total") == 2
