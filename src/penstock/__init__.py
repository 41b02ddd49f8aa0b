"""Kafka Streams and Kafka Connect for Python, executed on Spark.

Everything public is importable from here; a name loads its module when it is first used.
"""

from __future__ import annotations

import importlib
from typing import Any

_EXPORTS = {
    "penstock.streams.builder": ("StreamsBuilder",),
    "penstock.streams.kstream": ("KStream",),
    "penstock.streams.branched": ("BranchedKStream",),
    "penstock.streams.ktable": ("KTable",),
    "penstock.streams.global_ktable": ("GlobalKTable",),
    "penstock.streams.grouped_stream": ("KGroupedStream",),
    "penstock.streams.grouped_table": ("KGroupedTable",),
    "penstock.streams.windowed": ("SessionWindowedKStream", "TimeWindowedKStream"),
    "penstock.streams.cogrouped": (
        "CogroupedKStream",
        "SessionWindowedCogroupedKStream",
        "TimeWindowedCogroupedKStream",
    ),
    "penstock.streams.parameters": (
        "AutoOffsetReset",
        "Branched",
        "Consumed",
        "Grouped",
        "Named",
        "Printed",
        "Produced",
        "Repartitioned",
    ),
    "penstock.streams.joined": ("Joined", "StreamJoined", "TableJoined"),
    "penstock.streams.materialized": ("Materialized", "StoreType"),
    "penstock.streams.processor": (
        "ContextualFixedKeyProcessor",
        "ContextualProcessor",
        "FixedKeyProcessor",
        "Processor",
        "ProcessorWrapper",
    ),
    "penstock.streams.processor_context": ("ProcessorContext",),
    "penstock.topology.topology": ("Topology",),
    "penstock.topology.config": ("TopologyConfig",),
    "penstock.topology.description": ("TopologyDescription",),
    "penstock.topology.subtopologies": ("Subtopology",),
    "penstock.windows": (
        "BufferConfig",
        "EmitStrategy",
        "JoinWindows",
        "SessionWindows",
        "SlidingWindows",
        "Suppressed",
        "TimeWindows",
        "UnlimitedWindows",
    ),
    "penstock.records": (
        "Change",
        "FixedKeyRecord",
        "Headers",
        "KeyValue",
        "Record",
        "RecordContext",
        "RecordMetadata",
        "ValueAndTimestamp",
        "Window",
        "Windowed",
    ),
    "penstock.functions": ("with_key", "without_key"),
    "penstock.expr": ("Expression", "ExpressionError", "fn", "k", "ts", "v"),
    "penstock.serde": ("Serde", "Serdes", "WindowedSerdes", "register_serde"),
    "penstock.state.stores": ("Stores",),
    "penstock.state.store": ("StateStore",),
    "penstock.state.builders": ("StoreBuilder",),
    "penstock.state.position": ("Position",),
    "penstock.interpreter.punctuation": ("Cancellable", "PunctuationType"),
    "penstock.interpreter.timestamps": (
        "FailOnInvalidTimestamp",
        "LogAndSkipOnInvalidTimestamp",
        "UsePartitionTimeOnInvalidTimestamp",
        "WallclockTimestampExtractor",
    ),
    "penstock.handlers": (
        "DeadLetter",
        "DefaultProductionExceptionHandler",
        "ErrorHandlerContext",
        "LogAndContinueExceptionHandler",
        "LogAndContinueProcessingExceptionHandler",
        "LogAndFailExceptionHandler",
        "LogAndFailProcessingExceptionHandler",
        "Origin",
        "Response",
    ),
    "penstock.runtime.application": ("KafkaStreams",),
    "penstock.testing": (
        "MockProcessorContext",
        "TestInputTopic",
        "TestOutputTopic",
        "TestRecord",
        "TopologyTestDriver",
    ),
    "penstock.errors": (
        "BufferFullError",
        "ConfigError",
        "InvalidStateStoreError",
        "InvalidStateStorePartitionError",
        "MissingSourceTopicError",
        "PenstockError",
        "ProcessorStateError",
        "SerdeError",
        "StateStoreMigratedError",
        "StateStoreNotAvailableError",
        "StreamsError",
        "StreamsNotStartedError",
        "StreamsRebalancingError",
        "StreamsStoppedError",
        "TopologyError",
        "UnknownStateStoreError",
        "UnsupportedOperation",
    ),
}
_MODULES = {name: module for module, names in _EXPORTS.items() for name in names}

__all__ = sorted(_MODULES)  # noqa: PLE0605 - a list, though the linter cannot see its items


def __getattr__(name: str) -> Any:
    module = _MODULES.get(name)
    if module is None:
        raise AttributeError(f"module 'penstock' has no attribute {name!r}")
    value = getattr(importlib.import_module(module), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return [*globals(), *_MODULES]
