# What type checkers and editors see of the public names, which __init__.py loads when they are first used.

from penstock.errors import (
    BufferFullError,
    ConfigError,
    InvalidStateStoreError,
    InvalidStateStorePartitionError,
    MissingSourceTopicError,
    PenstockError,
    ProcessorStateError,
    SerdeError,
    StateStoreMigratedError,
    StateStoreNotAvailableError,
    StreamsError,
    StreamsNotStartedError,
    StreamsRebalancingError,
    StreamsStoppedError,
    TopologyError,
    UnknownStateStoreError,
    UnsupportedOperation,
)
from penstock.expr import Expression, ExpressionError, fn, k, ts, v
from penstock.functions import with_key, without_key
from penstock.handlers import (
    DeadLetter,
    DefaultProductionExceptionHandler,
    ErrorHandlerContext,
    LogAndContinueExceptionHandler,
    LogAndContinueProcessingExceptionHandler,
    LogAndFailExceptionHandler,
    LogAndFailProcessingExceptionHandler,
    Origin,
    Response,
)
from penstock.interpreter.punctuation import Cancellable, PunctuationType
from penstock.interpreter.timestamps import (
    FailOnInvalidTimestamp,
    LogAndSkipOnInvalidTimestamp,
    UsePartitionTimeOnInvalidTimestamp,
    WallclockTimestampExtractor,
)
from penstock.records import (
    Change,
    FixedKeyRecord,
    Headers,
    KeyValue,
    Record,
    RecordContext,
    RecordMetadata,
    ValueAndTimestamp,
    Window,
    Windowed,
)
from penstock.runtime.application import KafkaStreams
from penstock.serde import Serde, Serdes, WindowedSerdes, register_serde
from penstock.state.builders import StoreBuilder
from penstock.state.position import Position
from penstock.state.store import StateStore
from penstock.state.stores import Stores
from penstock.streams.branched import BranchedKStream
from penstock.streams.builder import StreamsBuilder
from penstock.streams.cogrouped import CogroupedKStream, SessionWindowedCogroupedKStream, TimeWindowedCogroupedKStream
from penstock.streams.global_ktable import GlobalKTable
from penstock.streams.grouped_stream import KGroupedStream
from penstock.streams.grouped_table import KGroupedTable
from penstock.streams.joined import Joined, StreamJoined, TableJoined
from penstock.streams.kstream import KStream
from penstock.streams.ktable import KTable
from penstock.streams.materialized import Materialized, StoreType
from penstock.streams.parameters import (
    AutoOffsetReset,
    Branched,
    Consumed,
    Grouped,
    Named,
    Printed,
    Produced,
    Repartitioned,
)
from penstock.streams.processor import (
    ContextualFixedKeyProcessor,
    ContextualProcessor,
    FixedKeyProcessor,
    Processor,
    ProcessorWrapper,
)
from penstock.streams.processor_context import ProcessorContext
from penstock.streams.windowed import SessionWindowedKStream, TimeWindowedKStream
from penstock.testing import MockProcessorContext, TestInputTopic, TestOutputTopic, TestRecord, TopologyTestDriver
from penstock.topology.config import TopologyConfig
from penstock.topology.description import TopologyDescription
from penstock.topology.subtopologies import Subtopology
from penstock.topology.topology import Topology
from penstock.windows import (
    BufferConfig,
    EmitStrategy,
    JoinWindows,
    SessionWindows,
    SlidingWindows,
    Suppressed,
    TimeWindows,
    UnlimitedWindows,
)

__all__ = [
    "AutoOffsetReset",
    "Branched",
    "BranchedKStream",
    "BufferConfig",
    "BufferFullError",
    "Cancellable",
    "Change",
    "CogroupedKStream",
    "ConfigError",
    "Consumed",
    "ContextualFixedKeyProcessor",
    "ContextualProcessor",
    "DeadLetter",
    "DefaultProductionExceptionHandler",
    "EmitStrategy",
    "ErrorHandlerContext",
    "Expression",
    "ExpressionError",
    "FailOnInvalidTimestamp",
    "FixedKeyProcessor",
    "FixedKeyRecord",
    "GlobalKTable",
    "Grouped",
    "Headers",
    "InvalidStateStoreError",
    "InvalidStateStorePartitionError",
    "JoinWindows",
    "Joined",
    "KGroupedStream",
    "KGroupedTable",
    "KStream",
    "KTable",
    "KafkaStreams",
    "KeyValue",
    "LogAndContinueExceptionHandler",
    "LogAndContinueProcessingExceptionHandler",
    "LogAndFailExceptionHandler",
    "LogAndFailProcessingExceptionHandler",
    "LogAndSkipOnInvalidTimestamp",
    "Materialized",
    "MissingSourceTopicError",
    "MockProcessorContext",
    "Named",
    "Origin",
    "PenstockError",
    "Position",
    "Printed",
    "Processor",
    "ProcessorContext",
    "ProcessorStateError",
    "ProcessorWrapper",
    "Produced",
    "PunctuationType",
    "Record",
    "RecordContext",
    "RecordMetadata",
    "Repartitioned",
    "Response",
    "Serde",
    "SerdeError",
    "Serdes",
    "SessionWindowedCogroupedKStream",
    "SessionWindowedKStream",
    "SessionWindows",
    "SlidingWindows",
    "StateStore",
    "StateStoreMigratedError",
    "StateStoreNotAvailableError",
    "StoreBuilder",
    "StoreType",
    "Stores",
    "StreamJoined",
    "StreamsBuilder",
    "StreamsError",
    "StreamsNotStartedError",
    "StreamsRebalancingError",
    "StreamsStoppedError",
    "Subtopology",
    "Suppressed",
    "TableJoined",
    "TestInputTopic",
    "TestOutputTopic",
    "TestRecord",
    "TimeWindowedCogroupedKStream",
    "TimeWindowedKStream",
    "TimeWindows",
    "Topology",
    "TopologyConfig",
    "TopologyDescription",
    "TopologyError",
    "TopologyTestDriver",
    "UnknownStateStoreError",
    "UnlimitedWindows",
    "UnsupportedOperation",
    "UsePartitionTimeOnInvalidTimestamp",
    "ValueAndTimestamp",
    "WallclockTimestampExtractor",
    "Window",
    "Windowed",
    "WindowedSerdes",
    "fn",
    "k",
    "register_serde",
    "ts",
    "v",
    "with_key",
    "without_key",
]
