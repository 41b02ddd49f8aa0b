"""A processor alone, with a context that captures what it does."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import (
    ContextualFixedKeyProcessor,
    ContextualProcessor,
    FixedKeyRecord,
    MockProcessorContext,
    PenstockError,
    ProcessorContext,
    PunctuationType,
    Record,
    Stores,
    StreamsError,
)
from penstock.interpreter.process import ProcessorContext as RealContext

SEEN = Stores.key_value_store_builder(Stores.persistent_key_value_store("seen"), "string", "long")


class Counting(ContextualProcessor[str, str, str, int]):
    """Counts the records of each key, forwards the counts by stream time, and commits on demand."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self.seen = context.get_state_store("seen")
        self.schedule = context.schedule("10s", "stream", self.emit)

    def process(self, record: Record[str, str]) -> None:
        self.seen.put(record.key, (self.seen.get(record.key) or 0) + 1)
        if record.value == "commit":
            self.context.commit()
        if record.value == "stop":
            self.schedule.cancel()
        if record.value == "side":
            self.context.forward(record, "side-output")

    def emit(self, now: int) -> None:
        for key, count in self.seen.all():
            self.context.forward(Record(key, count, now))


@pytest.fixture
def context() -> MockProcessorContext:
    made = MockProcessorContext()
    made.add_state_store(SEEN)
    return made


def started(context: MockProcessorContext) -> Counting:
    processor = Counting()
    processor.init(context)
    return processor


def test_forwards_are_captured(context: MockProcessorContext) -> None:
    processor = started(context)
    processor.process(Record("a", "x", 5))
    processor.process(Record("a", "x", 6))
    assert context.forwarded() == []
    (punctuator,) = context.scheduled_punctuators
    punctuator.punctuate(10_000)
    (captured,) = context.forwarded()
    assert captured.record == Record("a", 2, 10_000)
    assert captured.child is None
    context.reset_forwards()
    assert context.forwarded() == []


def test_forwards_to_one_child(context: MockProcessorContext) -> None:
    processor = started(context)
    processor.process(Record("a", "side", 5))
    processor.emit(6)
    assert [f.record.value for f in context.forwarded("side-output")] == ["side", 1]
    assert [f.record.value for f in context.forwarded("elsewhere")] == [1]


def test_schedules_are_captured(context: MockProcessorContext) -> None:
    processor = started(context)
    (punctuator,) = context.scheduled_punctuators
    assert (punctuator.interval, punctuator.type, punctuator.start) == (10_000, PunctuationType.STREAM_TIME, None)
    assert not punctuator.cancelled
    processor.process(Record("a", "stop", 0))
    assert punctuator.cancelled


def test_a_commit_is_noted(context: MockProcessorContext) -> None:
    processor, noted = started(context), [context.committed]
    processor.process(Record("a", "commit", 0))
    noted.append(context.committed)
    context.reset_commit()
    assert [*noted, context.committed] == [False, True, False]


def test_stores_are_real(context: MockProcessorContext) -> None:
    started(context).process(Record("a", "x", 5))
    assert context.get_state_store("seen").get("a") == 1
    with pytest.raises(PenstockError) as caught:
        context.get_state_store("sen")
    assert str(caught.value) == ("the mock context has no store 'sen'. Add it with context.add_state_store(builder).")


def test_a_store_may_be_given_ready(context: MockProcessorContext) -> None:
    other = MockProcessorContext()
    store = context.get_state_store("seen")
    assert other.add_state_store(store) is store
    assert other.get_state_store("seen") is store


def test_clocks_and_metadata_are_what_the_test_says(context: MockProcessorContext) -> None:
    assert (context.current_stream_time_ms(), context.current_system_time_ms()) == (-1, 0)
    assert context.record_metadata is None
    context.set_current_stream_time_ms(5)
    context.set_current_system_time_ms(7)
    context.set_record_metadata("in", 1, 9)
    assert (context.current_stream_time_ms(), context.current_system_time_ms()) == (5, 7)
    assert context.record_metadata == ("in", 1, 9)


def test_settings() -> None:
    config = {"application.id": "app", "app.limit": 5, "default.value.serde": "long", "state.dir": "there"}
    context = MockProcessorContext(config, task_id="1_3")
    assert (context.application_id, context.task_id, context.state_dir) == ("app", "1_3", "there")
    assert context.app_configs["application.id"] == "app"
    assert context.app_configs_with_prefix("app.") == {"limit": 5}
    assert context.value_serde.serialize("t", 1) == (1).to_bytes(8, "big")
    assert context.key_serde.serialize("t", "a") == b"a"
    assert context.metrics == {}


@pytest.mark.parametrize("given", ["text", ("a", 1), None])
def test_only_records_are_forwarded(context: MockProcessorContext, given: Any) -> None:
    with pytest.raises(StreamsError, match=r"Forward a Record, or a FixedKeyRecord"):
        context.forward(given)


def test_fixed_keys(context: MockProcessorContext) -> None:
    class Twice(ContextualFixedKeyProcessor[str, str, str]):
        def process(self, record: FixedKeyRecord[str, str]) -> None:
            self.context.forward(record.with_value(record.value * 2))

    processor = Twice()
    processor.init(context)
    processor.process(FixedKeyRecord("a", "x", 1))
    assert [f.record for f in context.forwarded()] == [FixedKeyRecord("a", "xx", 1)]


def test_it_offers_what_the_real_one_offers() -> None:
    offered = {name for name in vars(RealContext) if not name.startswith("_")} - {"close"}
    assert offered <= {name for name in vars(MockProcessorContext) if not name.startswith("_")}
