"""Global tables and stores: whole in every host, apart from its tasks."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import (
    ContextualProcessor,
    LogAndContinueExceptionHandler,
    LogAndContinueProcessingExceptionHandler,
    Processor,
    Record,
    Stores,
    StreamsBuilder,
    StreamsError,
    TopologyTestDriver,
)
from penstock.interpreter.global_tables import GlobalTables
from penstock.runtime.settings import Settings
from penstock.state.bytes_store import MemoryBytesStore

FACTS = Stores.key_value_store_builder(Stores.persistent_key_value_store("facts"), "string", "string")


def tables(builder: StreamsBuilder, kept: dict[str, MemoryBytesStore] | None = None, **settings: Any) -> GlobalTables:
    rows = {} if kept is None else kept
    config = Settings({key.replace("_", "."): value for key, value in settings.items()}).task_config()
    return GlobalTables(
        builder.build(),
        config=config,
        bytes_store=lambda name: rows.setdefault(name, MemoryBytesStore()),
        system_time=lambda: 0,
    )


def table() -> StreamsBuilder:
    builder = StreamsBuilder()
    builder.global_table("names", store="names")
    return builder


def test_all_partitions_of_the_topic_are_one_table() -> None:
    found = tables(table())
    assert found.topics == ("names",)
    for partition, key in enumerate((b"a", b"b", b"c")):
        found.update("names", partition, 0, 5, key, b"x", None)
    found.update("names", 1, 1, 6, b"b", None, None)
    assert [key for key, _ in found.stores["names"].all()] == ["a", "c"]


def test_records_without_a_key_are_dropped() -> None:
    found = tables(table())
    found.update("names", 0, 0, 5, None, b"x", None)
    assert found.context.dropped_total == 1


def test_rows_stay_where_they_are_kept() -> None:
    kept: dict[str, MemoryBytesStore] = {}
    found = tables(table(), kept)
    found.update("names", 0, 0, 5, b"a", b"x", None)
    found.close()
    assert tables(table(), kept).stores["names"].get("a") == ("x", 5)


class _Upper(ContextualProcessor[Any, Any, Any, Any]):
    """Keeps the facts, and fails where it must."""

    def process(self, record: Record[Any, Any]) -> None:
        self.context.get_state_store("facts").put(record.key, record.value.upper())


def facts(processor: Any = _Upper) -> StreamsBuilder:
    builder = StreamsBuilder()
    builder.add_global_store(FACTS, "facts", processor, name="keep")
    return builder


def test_a_processor_writes_the_store() -> None:
    found = tables(facts())
    found.update("facts", 0, 0, 5, b"k", b"a", None)
    assert found.stores["facts"].get("k") == "A"


def test_a_failure_ends_it() -> None:
    with pytest.raises(
        StreamsError, match=r"AttributeError.*node keep, task global, topic facts, partition 0, offset 3"
    ):
        tables(facts()).update("facts", 0, 3, 5, b"k", None, None)


def test_the_processing_handler_is_asked_only_if_the_settings_say_so() -> None:
    handler = LogAndContinueProcessingExceptionHandler
    with pytest.raises(StreamsError, match="AttributeError"):
        tables(facts(), processing_exception_handler=handler).update("facts", 0, 3, 5, b"k", None, None)
    found = tables(facts(), processing_exception_handler=handler, processing_exception_handler_global_enabled=True)
    found.update("facts", 0, 3, 5, b"k", None, None)


def test_records_that_cannot_be_read_may_be_skipped() -> None:
    found = tables(table(), deserialization_exception_handler=LogAndContinueExceptionHandler)
    found.update("names", 0, 0, 5, b"a", b"\xff", None)
    found.update("names", 0, 1, 5, b"b", b"x", None)
    assert [key for key, _ in found.stores["names"].all()] == ["b"]


def test_processors_live_as_long_as_the_tables() -> None:
    life: list[str] = []

    class Noted(Processor[Any, Any, Any, Any]):
        def init(self, context: Any) -> None:
            life.append(f"init {context.task_id}")

        def close(self) -> None:
            life.append("close")

    found = tables(facts(Noted))
    found.close()
    assert life == ["init global", "close"]


def test_every_processor_may_read_them() -> None:
    class Look(ContextualProcessor[Any, Any, Any, Any]):
        def process(self, record: Record[Any, Any]) -> None:
            self.context.forward(record.with_value(self.context.get_state_store("facts").get(record.value)))

    builder = facts()
    builder.stream("in").process(Look).to("out")
    with TopologyTestDriver(builder) as driver:
        driver.create_input_topic("facts").pipe_input("1", "one", 0)
        driver.create_input_topic("in").pipe_input("k", "1", 0)
        assert driver.create_output_topic("out").read_value() == "ONE"
        driver.restart()
        driver.create_input_topic("in").pipe_input("k", "1", 0)
        assert driver.create_output_topic("out").read_value() == "ONE"
