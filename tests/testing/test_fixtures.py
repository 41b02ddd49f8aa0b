"""The fixtures that pytest finds by itself."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import ContextualProcessor, MockProcessorContext, PenstockError, Record, StreamsBuilder


def test_a_driver(topology_test_driver: Any) -> None:
    builder = StreamsBuilder()
    builder.stream("in").map_values(str.upper).to("out")
    driver = topology_test_driver(builder, {"application.id": "app"}, wall_clock=5)
    driver.create_input_topic("in").pipe_input("k", "a")
    assert driver.create_output_topic("out").read_record().timestamp == 5


def test_a_context(mock_processor_context: MockProcessorContext) -> None:
    class Forward(ContextualProcessor[Any, Any, Any, Any]):
        def process(self, record: Record[Any, Any]) -> None:
            self.context.forward(record)

    processor = Forward()
    processor.init(mock_processor_context)
    processor.process(Record("k", "a", 0))
    assert len(mock_processor_context.forwarded()) == 1


class TestClosing:
    made: Any = None

    def test_one_that_is_left_open(self, topology_test_driver: Any) -> None:
        builder = StreamsBuilder()
        builder.stream("in").to("out")
        type(self).made = topology_test_driver(builder).create_input_topic("in")

    def test_is_closed_after_its_test(self) -> None:
        with pytest.raises(PenstockError, match="the test driver is closed"):
            self.made.pipe_input("k", "a", 0)
