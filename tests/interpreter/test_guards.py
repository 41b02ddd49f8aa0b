"""Handlers around records, nodes and outputs: who is asked, with what, and what an answer means."""

from __future__ import annotations

import json
from typing import Any

import pytest

from penstock import (
    ContextualProcessor,
    DeadLetter,
    ErrorHandlerContext,
    LogAndContinueExceptionHandler,
    LogAndContinueProcessingExceptionHandler,
    LogAndFailProcessingExceptionHandler,
    Origin,
    Record,
    Response,
    StreamsBuilder,
    StreamsError,
    TopologyTestDriver,
)

DEAD = {"errors.dead.letter.queue.topic.name": "dead"}


class Asked:
    """A handler that notes what it was asked and gives one answer."""

    def __init__(self, response: Any) -> None:
        self.response = response
        self.questions: list[tuple[ErrorHandlerContext, Any, Exception, dict[str, Any]]] = []

    def __call__(self, context: ErrorHandlerContext, record: Any, error: Exception, **more: Any) -> Any:
        self.questions.append((context, record, error, more))
        return self.response(context) if callable(self.response) else self.response


def driver(builder: StreamsBuilder, **settings: Any) -> TopologyTestDriver:
    config = {f"{name}.exception.handler": handler for name, handler in settings.items()}
    return TopologyTestDriver(builder, {**config, **DEAD}, wall_clock=0)


def broken(value: str) -> str:
    if value == "x":
        raise ValueError("no x")
    return value


class TestReading:
    def test_the_handler_sees_bytes(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in", value_serde="long", name="read").to("out")
        asked = Asked(Response.resume())
        with driver(builder, deserialization=asked) as d:
            d.create_input_topic("in", value_serde="bytes").pipe_input("k", b"abc", 5, [("h", b"1")])
            d.create_input_topic("in").pipe_input("k", 7, 6)
            assert d.create_output_topic("out").read_values_to_list() == [7]
            assert d.metrics["deserialization error"] == 1
        ((context, record, error, _),) = asked.questions
        assert (context.topic, context.partition, context.offset, context.processor_node_id) == ("in", 0, 0, "read")
        assert (context.source_raw_key, context.source_raw_value, context.timestamp) == (b"k", b"abc", 5)
        assert record == Record(b"k", b"abc", 5, [("h", b"1")])  # type: ignore[arg-type]
        assert "reads 8 bytes" in str(error)

    def test_failing_sends_the_dead_letters_too(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in", value_serde="long").to("out")
        asked = Asked(lambda context: Response.fail([DeadLetter("elsewhere", b"a", b"b", 9)]))
        with driver(builder, deserialization=asked) as d:
            with pytest.raises(StreamsError, match=r"set deserialization\.exception\.handler"):
                d.create_input_topic("in", value_serde="bytes").pipe_input("k", b"abc", 5)
            d.advance_wall_clock_time(0)
            assert list(d.outputs("elsewhere")) == [(b"a", b"b", 9, ())]


class TestProcessing:
    def test_the_record_is_skipped_at_the_node_and_below(self) -> None:
        builder = StreamsBuilder()
        stream = builder.stream("in")
        stream.to("before")
        stream.map_values(broken, name="check").to("behind")
        stream.to("after")
        asked = Asked(Response.resume())
        with driver(builder, processing=asked) as d:
            d.create_input_topic("in").pipe_key_value_list([("k", "a"), ("k", "x"), ("k", "b")])
            read = {t: d.create_output_topic(t).read_values_to_list() for t in ("before", "behind", "after")}
            assert d.metrics["processing error"] == d.dropped_records == 1
        assert read == {"before": ["a", "x", "b"], "behind": ["a", "b"], "after": ["a", "x", "b"]}
        ((context, record, error, _),) = asked.questions
        assert (context.processor_node_id, context.offset, record.value, str(error)) == ("check", 1, "x", "no x")

    def test_only_the_failing_value_of_a_flat_map_is_skipped(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").flat_map_values(list).map_values(broken).map_values(str.upper).to("out")
        with driver(builder, processing=LogAndContinueProcessingExceptionHandler) as d:
            d.create_input_topic("in").pipe_input("k", "axb", 0)
            assert d.create_output_topic("out").read_values_to_list() == ["A", "B"]

    def test_state_written_before_the_failure_stays(self) -> None:
        builder = StreamsBuilder()
        counts = builder.stream("in").group_by_key().count(name="counts")
        counts.to_stream().map_values(lambda count: 1 // (count - 1)).to("out", value_serde="long")
        with driver(builder, processing=LogAndContinueProcessingExceptionHandler) as d:
            d.create_input_topic("in").pipe_key_value_list([("k", "a"), ("k", "b")])
            assert d.create_output_topic("out").read_values_to_list() == [1]
            assert d.get_key_value_store("counts").get("k") == 2

    def test_a_table_update_is_handed_over_as_a_change(self) -> None:
        builder = StreamsBuilder()
        builder.table("in", store="t").filter(lambda value: broken(value) is not None, name="f")
        asked = Asked(Response.resume())
        with driver(builder, processing=asked) as d:
            d.create_input_topic("in").pipe_key_value_list([("k", "a"), ("k", "x")])
        ((_, record, _, _),) = asked.questions
        assert (record.key, record.value.new, record.value.old) == ("k", "x", "a")

    def test_a_punctuator(self) -> None:
        class Ticks(ContextualProcessor[Any, Any, Any, Any]):
            def init(self, context: Any) -> None:
                super().init(context)
                context.schedule(10, "wall", lambda now: broken("x"))
                context.schedule(10, "wall", lambda now: context.forward(Record("tick", str(now), now)))

            def process(self, record: Any) -> None:
                """Only ticks count."""

        builder = StreamsBuilder()
        builder.stream("in").process(Ticks, name="ticks").to("out")
        asked = Asked(Response.resume())
        with driver(builder, processing=asked) as d:
            d.advance_wall_clock_time(10)
            assert d.create_output_topic("out").read_key_value() == ("tick", "10")
        ((context, record, _, _),) = asked.questions
        assert (context.processor_node_id, context.topic, context.offset) == ("ticks", None, -1)
        assert record == Record(None, None, 10)

    def test_failing_still_sends_the_dead_letter(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").map_values(broken)
        with driver(builder, processing=LogAndFailProcessingExceptionHandler) as d:
            with pytest.raises(StreamsError, match="ValueError: no x"):
                d.create_input_topic("in").pipe_input("k", "x", 5)
            assert d.create_output_topic("dead").read_key_value() == ("k", "x")

    def test_without_a_handler_nothing_is_guarded_and_the_first_failure_ends_it(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").map_values(broken).to("out")
        with TopologyTestDriver(builder) as d, pytest.raises(StreamsError, match="ValueError: no x"):
            d.create_input_topic("in").pipe_input("k", "x", 5)


class TestWriting:
    def test_key_and_value_are_told_apart(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").map(lambda key, value: (key, 5) if key == "v" else (5, value)).to("out", name="write")
        asked = Asked(Response.resume())
        with driver(builder, production=asked) as d:
            d.create_input_topic("in").pipe_key_value_list([("v", "a"), ("k", "a")])
            assert d.create_output_topic("out").is_empty
            assert d.metrics["production error"] == 2
        assert [more["origin"] for *_, more in asked.questions] == [Origin.VALUE, Origin.KEY]
        assert asked.questions[0][0].processor_node_id == "write"

    @pytest.mark.parametrize("response", [Response.fail(), Response.retry()])
    def test_failing_and_retrying_end_the_task(self, response: Response) -> None:
        """What could not be serialised once cannot be serialised the next time."""
        builder = StreamsBuilder()
        builder.stream("in").map_values(len).to("out")
        asked = Asked(response)
        with driver(builder, production=asked) as d, pytest.raises(StreamsError, match="cannot write int 1"):
            d.create_input_topic("in").pipe_input("k", "a", 5)
        assert len(asked.questions) == 1


def test_a_dead_letter_is_the_source_record_with_the_error_in_its_headers() -> None:
    builder = StreamsBuilder()
    builder.stream("in").map_values(broken).to("out")
    with driver(builder, processing=LogAndContinueProcessingExceptionHandler) as d:
        d.create_input_topic("in").pipe_input("k", "x", 5, [("own", b"1")])
        letter = d.create_output_topic("dead").read_record()
    assert (letter.key, letter.value, letter.timestamp) == ("k", "x", 5)
    assert [name for name, _ in letter.headers] == [
        "own",
        *(f"__streams.errors.{n}" for n in ("exception", "message", "stacktrace", "topic", "partition", "offset")),
    ]
    assert letter.headers.last("__streams.errors.exception") == b"builtins.ValueError"
    assert letter.headers.last("__streams.errors.message") == b"no x"


def test_handlers_may_be_named_as_in_java() -> None:
    builder = StreamsBuilder()
    builder.stream("in", value_serde="long").map_values(str).to("out")
    name = f"org.apache.kafka.streams.errors.{LogAndContinueExceptionHandler.__name__}"
    with driver(builder, deserialization=name) as d:
        d.create_input_topic("in", value_serde="bytes").pipe_input("k", b"abc", 5)
        assert d.create_output_topic("dead").read_value() == "abc"


def test_the_line_is_the_users_and_not_that_of_a_library() -> None:
    builder = StreamsBuilder()
    builder.stream("in").map_values(lambda value: json.loads(value)).to("out")  # noqa: PLW0108 - its line is asked for
    with (
        TopologyTestDriver(builder) as d,
        pytest.raises(StreamsError, match=r"JSONDecodeError: .*at test_guards.py:\d+\)"),
    ):
        d.create_input_topic("in").pipe_input("k", "{")


def test_an_error_that_stops_the_task_is_not_logged_as_well(caplog: pytest.LogCaptureFixture) -> None:
    builder = StreamsBuilder()
    builder.stream("in", value_serde="long").to("out")
    with TopologyTestDriver(builder) as d, pytest.raises(StreamsError, match="Check the serde of the source"):
        d.create_input_topic("in", value_serde="bytes").pipe_input("k", b"abc")
    assert caplog.messages == []
