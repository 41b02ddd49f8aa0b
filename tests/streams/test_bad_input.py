"""What users get wrong, and what they are told when records run: what was wrong, at which node and record, what to do.

Mistakes that show when a topology is built are tested beside the operators.
"""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from penstock import (
    ContextualFixedKeyProcessor,
    ContextualProcessor,
    JoinWindows,
    PenstockError,
    Record,
    SessionWindows,
    SlidingWindows,
    Stores,
    StreamsBuilder,
    TimeWindows,
    TopologyTestDriver,
    UnsupportedOperation,
    v,
)
from penstock.testing import driver as driver_module
from tests.streams.building import refused, says, stream

HERE = Path(__file__).name
SEEN = Stores.key_value_store_builder(Stores.persistent_key_value_store("seen"), "string", "string")
AT = "task 0_0, topic in, partition 0, offset 0"


def told(build: Any, key: Any = "k", value: Any = "1", timestamp: int = 0, **settings: Any) -> str:
    """What a record of the topic `in` leads to; the line in this file is cut off."""
    builder = StreamsBuilder()
    build(builder)
    config = {name.replace("_", "."): setting for name, setting in settings.items()}
    with TopologyTestDriver(builder, config, wall_clock=0) as driver:
        topic = driver.create_input_topic("in", "string", "bytes" if isinstance(value, bytes) else None)
        with pytest.raises(PenstockError) as caught:
            topic.pipe_input(key, value, timestamp)
    said, _, after = str(caught.value).partition(f", at {HERE}:")
    return said + after.lstrip("0123456789")


class TestSerdes:
    def test_a_sink_that_cannot_write_the_value(self) -> None:
        assert told(lambda b: b.stream("in").map_values(lambda text: {"a": text}).to("out", name="write")) == (
            "SerdeError: the string serde cannot write dict {'a': '1'} to topic out. "
            'Set key_serde or value_serde="json", or map it to str first. '
            f"(node write, {AT}). Check the serdes of the sink, or set production.exception.handler to skip such outputs."
        )

    def test_a_repartition_that_cannot_write_the_key(self) -> None:
        assert told(lambda b: b.stream("in").group_by(len, name="by-length").count()) == (
            "SerdeError: the string serde cannot write int 1 to topic penstock-by-length-repartition. "
            'Set key_serde or value_serde="long", or map it to str first. '
            f"(node by-length-repartition-sink, {AT}). "
            "Check the serdes of the sink, or set production.exception.handler to skip such outputs."
        )

    @pytest.mark.parametrize("cache", ["batch", "off"])
    def test_a_store_that_cannot_write_the_aggregate(self, cache: str) -> None:
        def build(b: StreamsBuilder) -> None:
            b.stream("in").group_by_key().aggregate(0, lambda value, total: total + 1, name="total", cache=cache)

        assert told(build) == (
            "SerdeError: the string serde cannot write int 1 to topic penstock-total-changelog. "
            f'Set key_serde or value_serde="long", or map it to str first. (node total, {AT})'
        )

    def test_bytes_of_another_serde(self) -> None:
        assert told(lambda b: b.stream("in", value_serde="long", name="read").to("out"), value=b"abc") == (
            "SerdeError: the long serde reads 8 bytes, but a record of topic in has 3: b'abc'. "
            f"The topic was probably written with another serde; use the one of its producer. (node read, {AT}). "
            "Check the serde of the source, or set deserialization.exception.handler to skip such records."
        )

    def test_a_value_that_the_input_topic_cannot_write(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in", value_serde="long").to("out")
        with TopologyTestDriver(builder) as driver:
            topic = driver.create_input_topic("in")
            assert refused(lambda: topic.pipe_input("k", "one"), PenstockError) == (
                "the long serde cannot write str 'one' to topic in. "
                'Set key_serde or value_serde="string", or map it to int first.'
            )


class TestResultsOfFunctions:
    @pytest.mark.parametrize(
        ("build", "message"),
        [
            (
                lambda b: b.stream("in").map(lambda value: "ab", name="m"),
                "the mapper returned 'ab', a str. Return a (key, value) tuple or a KeyValue.",
            ),
            (
                lambda b: b.stream("in").flat_map(lambda value: ["ab"], name="m"),
                "the mapper returned 'ab', a str. Return a (key, value) tuple or a KeyValue.",
            ),
            (
                lambda b: b.table("in").group_by(lambda value: value, name="m").count(),
                "the mapper returned '1', a str. Return a (key, value) tuple or a KeyValue.",
            ),
            (
                lambda b: b.stream("in").flat_map_values(lambda value: None, name="m"),
                "flat_map_values returned None. Return an empty list for no records.",
            ),
            (
                lambda b: b.stream("in").flat_map_values(lambda value: value, name="m"),
                (
                    "flat_map_values returned the text '1', which would become one record a character. "
                    "Return a list of texts."
                ),
            ),
            (
                lambda b: b.stream("in").to(lambda key, value: None, name="m"),
                "the topic extractor returned None. Return the topic's name.",
            ),
            (
                lambda b: b.stream("in").to("out", partitioner=lambda *record: "0", name="m"),
                (
                    "the partitioner returned '0' for topic out, which has 1 partition. "
                    "Return a partition from 0 to 0, a set of them, or None for the default."
                ),
            ),
            (
                lambda b: b.stream("in").to("out", partitioner=lambda *record: {0, 1}, name="m"),
                (
                    "the partitioner returned {0, 1} for topic out, which has 1 partition. "
                    "Return a partition from 0 to 0, a set of them, or None for the default."
                ),
            ),
            (
                lambda b: b.stream("in", timestamp_extractor=_noon, name="m").to("out"),
                (
                    "the timestamp extractor _noon returned 'noon', not int milliseconds. "
                    "Return milliseconds since 1970 as an int; a negative number drops the record."
                ),
            ),
        ],
    )
    def test_of_the_wrong_kind(self, build: Any, message: str) -> None:
        assert told(build) == f"StreamsError: {message} (node m, {AT})"

    def test_a_function_that_fails(self) -> None:
        assert told(
            lambda b: b.stream("in").filter(lambda value: value["price"] > 3, name="dear").to("out")
        ).startswith("TypeError: string indices must be integers")
        assert told(lambda b: b.stream("in").map_values(_broken, name="m").to("out")) == (
            f"ZeroDivisionError: division by zero (node m, {AT}). "
            "Fix the function, or set processing.exception.handler to go on without such records."
        )

    def test_the_line_of_the_failure_is_named(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").map_values(_broken)
        with TopologyTestDriver(builder) as driver, pytest.raises(PenstockError) as caught:
            driver.create_input_topic("in").pipe_input("k", "1", 0)
        assert f"at {HERE}:{_broken.__code__.co_firstlineno + 1})" in str(caught.value)

    def test_an_expression_on_a_value_without_fields(self) -> None:
        assert told(lambda b: b.stream("in").filter(v.price > 3, name="dear").to("out")) == (
            "ExpressionError: v.price failed: a str has no field 'price' (v = '1'). "
            f"Fields are read from dicts and objects; check the serde of the topic. (node dear, {AT})"
        )

    def test_a_negative_timestamp(self) -> None:
        assert told(lambda b: b.stream("in", name="read").to("out"), timestamp=-1) == (
            "StreamsError: the record has the negative timestamp -1. Set a timestamp extractor such as "
            f"LogAndSkipOnInvalidTimestamp or UsePartitionTimeOnInvalidTimestamp. (node read, {AT})"
        )

    def test_a_topology_that_feeds_itself(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(driver_module, "_ENDLESS", 50)
        assert told(lambda b: b.stream("in").to("in")) == (
            "one record has led to 50 others, the last in topic in. "
            "Does the topology write to a topic that it reads? Then it must stop at some point."
        )


def _noon(record: Any, partition_time: int) -> str:
    return "noon"


def _broken(value: Any) -> float:
    return 1 / 0


class _Asks(ContextualProcessor[Any, Any, Any, Any]):
    def process(self, record: Any) -> None:
        self.context.get_state_store("seen")


class _ForwardsTuple(ContextualProcessor[Any, Any, Any, Any]):
    def process(self, record: Any) -> None:
        self.context.forward((record.key, record.value))


class _ForwardsAway(ContextualProcessor[Any, Any, Any, Any]):
    def process(self, record: Any) -> None:
        self.context.forward(record, "nobody")


class _ChangesKey(ContextualFixedKeyProcessor[Any, Any, Any]):
    def process(self, record: Any) -> None:
        self.context.forward(Record("other", record.value, record.timestamp))


class _PutsNone(ContextualProcessor[Any, Any, Any, Any]):
    def process(self, record: Any) -> None:
        self.context.get_state_store("seen").put(None, "x")


def _yields_tuple(record: Any, context: Any) -> Any:
    yield record.key, record.value


class TestProcessors:
    @pytest.mark.parametrize(
        ("build", "message"),
        [
            (
                lambda b: b.stream("in").process(_ForwardsTuple, name="p"),
                "StreamsError: processor p forwards ('k', '1'), a tuple. Forward a Record.",
            ),
            (
                lambda b: b.stream("in").process(_yields_tuple, name="p"),
                "StreamsError: processor p forwards ('k', '1'), a tuple. Forward a Record.",
            ),
            (
                lambda b: b.stream("in").process_values(_ChangesKey, name="p"),
                (
                    "StreamsError: processor p forwards Record(key='other', value='1', timestamp=0, headers=Headers()), "
                    "a Record. Forward a FixedKeyRecord (record.with_value(...))."
                ),
            ),
            (
                lambda b: b.stream("in").process(_ForwardsAway, name="p").to("out", name="write"),
                "StreamsError: processor p forwards to 'nobody', which is not a child of it. Children: write.",
            ),
            (
                lambda b: b.add_state_store(SEEN).stream("in").process(_PutsNone, "seen", name="p"),
                "ProcessorStateError: a key of the store seen is None. Filter records without a key before the store.",
            ),
            (
                lambda b: b.stream("in").process(_Asks, name="p"),
                (
                    "TopologyError: processor p asks for the store 'seen', which does not exist (node p). "
                    "Stores: none. Add it with add_state_store(builder)."
                ),
            ),
            (
                lambda b: b.add_state_store(SEEN).stream("in").process(_Asks, name="p"),
                (
                    "TopologyError: processor p is not connected to the store 'seen' (node p). "
                    'Name it when you add the processor: process(..., "seen"), or call '
                    'topology.connect_processor_and_state_stores("p", "seen").'
                ),
            ),
        ],
    )
    def test_that_ask_for_what_cannot_be(self, build: Any, message: str) -> None:
        said = told(build).replace(f" at {HERE}:", "", 1)
        start, _, rest = said.partition("(node p")
        if rest[:1].isdigit():  # the line where the processor was added
            said = start + "(node p" + rest.lstrip("0123456789")
        assert said == f"{message} (node p, {AT})"

    @pytest.mark.parametrize(
        ("interval", "kind", "message"),
        [
            (0, "wall", "the punctuation interval is 0 ms. Give at least 1 ms."),
            (5, "event", 'punctuation type \'event\'. Use "stream" or "wall".'),
            (2.5, "wall", "punctuation interval is 2.5, which is a float."),
        ],
    )
    def test_that_schedule_what_cannot_be(self, interval: Any, kind: str, message: str) -> None:
        class Schedules(ContextualProcessor[Any, Any, Any, Any]):
            def init(self, context: Any) -> None:
                context.schedule(interval, kind, print)

        builder = StreamsBuilder()
        builder.stream("in").process(Schedules, name="p")
        said = refused(lambda: TopologyTestDriver(builder), PenstockError)
        assert said.startswith(f"TopologyError: {message}")
        assert "(node p, task 0_0, at " in said

    def test_a_supplier_of_something_else(self) -> None:
        builder = StreamsBuilder()
        builder.stream("in").process(dict, name="p")
        assert refused(lambda: TopologyTestDriver(builder), PenstockError) == (
            "the supplier of processor p gave {}, which has no process(record) method. "
            "Give a Processor class, a function that returns a new processor, or a generator function."
        )


class TestHandlers:
    def test_that_answer_nothing(self) -> None:
        assert told(lambda b: b.stream("in").map_values(_broken), processing_exception_handler=_silent) == (
            "the error handler _silent returned None for ZeroDivisionError: division by zero. "
            "Return Response.resume() or Response.fail()."
        )

    def test_that_fail(self) -> None:
        assert told(lambda b: b.stream("in").map_values(_broken), processing_exception_handler=_failing) == (
            "the error handler _failing failed with KeyError: 'x', when it was asked about "
            "ZeroDivisionError: division by zero. It must return Response.resume() or Response.fail()."
        )


def _silent(context: Any, record: Any, error: Exception) -> None:
    """Forgets to answer."""


def _failing(context: Any, record: Any, error: Exception) -> Any:
    raise KeyError("x")


async def _coroutine(*arguments: Any) -> int:
    return 0


@dataclass
class _Total:
    sum: int = 0


@dataclass(frozen=True)
class _FrozenTotal:
    sum: int = 0


class TestBuilding:
    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (
                lambda: stream().group_by_key().aggregate(_coroutine, max),
                "the initializer _coroutine is a coroutine function (at {}). Give an ordinary function.",
            ),
            (
                lambda: stream().group_by_key().aggregate(_broken, max),
                "the initializer _broken takes arguments (at {}). It must take none.",
            ),
            (
                lambda: stream().group_by_key().aggregate(_Total(), max),
                (
                    "the initializer is the _Total _Total(sum=0), which all keys would share and change (at {}). "
                    "Pass a function that makes a new one: lambda: ...."
                ),
            ),
            (
                lambda: stream().to("out", partitioner=_coroutine),
                (
                    "partitioner of to is a coroutine function (at {}). "
                    "Records are processed one after the other; give an ordinary function."
                ),
            ),
            (
                lambda: StreamsBuilder().stream("in", timestamp_extractor=_coroutine),
                (
                    "timestamp_extractor of stream is a coroutine function (at {}). "
                    "Records are processed one after the other; give an ordinary function."
                ),
            ),
        ],
    )
    def test_refused(self, call: Any, message: str) -> None:
        says(call, message)

    def test_immutable_constants_are_initializers(self) -> None:
        for constant in (0, "", (), None, _FrozenTotal(), frozenset[int]()):
            stream().group_by_key().aggregate(constant, max)

    @pytest.mark.parametrize(
        ("call", "message"),
        [
            (lambda: TimeWindows.of("5m"), "TimeWindows.of_size_and_grace(size, grace)"),
            (lambda: JoinWindows.of("5m"), "JoinWindows.of_time_difference_and_grace(difference, grace)"),
            (lambda: SessionWindows.with_("5m"), "SessionWindows.of_inactivity_gap_and_grace(gap, grace)"),
            (
                lambda: SlidingWindows.with_time_difference_and_grace("5m", "1m"),
                "SlidingWindows.of_time_difference_and_grace(difference, grace)",
            ),
        ],
    )
    def test_removed_windows_name_their_replacement(self, call: Any, message: str) -> None:
        said = refused(call, UnsupportedOperation)
        assert said.endswith(f"was removed from Kafka Streams. Use {message}.")
