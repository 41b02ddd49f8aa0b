from __future__ import annotations

import ast
from pathlib import Path

import penstock

NAMES = """
AutoOffsetReset Branched BranchedKStream BufferConfig BufferFullError Cancellable Change CogroupedKStream ConfigError
Consumed ContextualFixedKeyProcessor ContextualProcessor DeadLetter DefaultProductionExceptionHandler EmitStrategy
ErrorHandlerContext Expression ExpressionError FailOnInvalidTimestamp FixedKeyProcessor FixedKeyRecord GlobalKTable
Grouped Headers InvalidStateStoreError InvalidStateStorePartitionError JoinWindows Joined KGroupedStream KGroupedTable
KStream KTable KafkaStreams KeyValue LogAndContinueExceptionHandler LogAndContinueProcessingExceptionHandler
LogAndFailExceptionHandler LogAndFailProcessingExceptionHandler LogAndSkipOnInvalidTimestamp Materialized
MissingSourceTopicError MockProcessorContext Named Origin PenstockError Position Printed Processor ProcessorContext
ProcessorStateError ProcessorWrapper Produced PunctuationType Record RecordContext RecordMetadata Repartitioned Response
Serde SerdeError Serdes SessionWindowedCogroupedKStream SessionWindowedKStream SessionWindows SlidingWindows StateStore
StateStoreMigratedError StateStoreNotAvailableError StoreBuilder StoreType Stores StreamJoined StreamsBuilder
StreamsError StreamsNotStartedError StreamsRebalancingError StreamsStoppedError Subtopology Suppressed TableJoined
TestInputTopic TestOutputTopic TestRecord TimeWindowedCogroupedKStream TimeWindowedKStream TimeWindows Topology
TopologyConfig TopologyDescription TopologyError TopologyTestDriver UnknownStateStoreError UnlimitedWindows
UnsupportedOperation UsePartitionTimeOnInvalidTimestamp ValueAndTimestamp WallclockTimestampExtractor Window Windowed
WindowedSerdes fn k register_serde ts v with_key without_key
""".split()  # noqa: SIM905 - read as text, one name after the other


def test_the_public_names_are_these() -> None:
    """A new name is a promise to users: add it here on purpose."""
    assert penstock.__all__ == sorted(NAMES)


def test_every_name_can_be_loaded() -> None:
    assert [name for name in penstock.__all__ if getattr(penstock, name) is None] == []


def test_dir_lists_them() -> None:
    assert set(penstock.__all__) <= set(dir(penstock))


def test_an_unknown_name_is_an_attribute_error() -> None:
    assert not hasattr(penstock, "KStreams")


def test_the_stub_says_the_same() -> None:
    stub = ast.parse(Path(penstock.__file__).with_suffix(".pyi").read_text(encoding="utf-8"))
    imported = {
        alias.name: node.module for node in stub.body if isinstance(node, ast.ImportFrom) for alias in node.names
    }
    assert imported == penstock._MODULES  # type: ignore[attr-defined]
    (listed,) = [node.value for node in stub.body if isinstance(node, ast.Assign)]
    assert ast.literal_eval(listed) == penstock.__all__
