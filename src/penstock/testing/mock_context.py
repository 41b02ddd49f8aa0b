"""A processor's context for unit tests of a processor alone."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.durations import Duration, Instant
from penstock.errors import PenstockError, StreamsError
from penstock.interpreter.context import TaskContext
from penstock.interpreter.punctuation import Cancellable, PunctuationType, interval_ms, punctuation_type
from penstock.interpreter.task import StoreHome
from penstock.records import FixedKeyRecord, Record, RecordMetadata
from penstock.runtime.settings import Settings
from penstock.state.builders import StoreBuilder
from penstock.state.bytes_store import MemoryBytesStore


@dataclass(frozen=True, slots=True)
class CapturedForward:
    """A record that the processor forwarded, and to which child (None: all)."""

    record: Any
    child: str | None


@dataclass(slots=True)
class CapturedPunctuator:
    """A punctuator that the processor scheduled; call `punctuate(time)` to run it."""

    interval: int
    type: PunctuationType
    callback: Callable[[int], Any]
    start: Instant | None
    entry: Cancellable = field(repr=False)

    @property
    def cancelled(self) -> bool:
        """True once the processor cancelled it."""
        return self.entry.cancelled

    def punctuate(self, time: int) -> None:
        """Run it."""
        self.callback(time)


class MockProcessorContext:
    """Captures what a processor forwards and schedules; clocks and metadata are set by the test."""

    def __init__(self, config: Mapping[str, Any] | None = None, *, task_id: str = "0_0") -> None:
        self._settings = config if isinstance(config, Settings) else Settings(config)
        self._config = self._settings.task_config()
        self._task = TaskContext(self._config.application_id, task_id, lambda: self._system_time)
        self._system_time = 0
        self._forwarded: list[CapturedForward] = []
        self._stores: dict[str, Any] = {}
        self._metadata: RecordMetadata | None = None
        self.scheduled_punctuators: list[CapturedPunctuator] = []
        self.committed = False

    def forward(self, record: Any, child: str | None = None) -> None:
        """Capture a forwarded record."""
        if not isinstance(record, (Record, FixedKeyRecord)):
            raise StreamsError(
                f"the processor forwards {record!r}, a {type(record).__name__}",
                hint="Forward a Record, or a FixedKeyRecord (record.with_value(...)).",
            )
        self._forwarded.append(CapturedForward(record, child))

    def forwarded(self, child: str | None = None) -> list[CapturedForward]:
        """What was forwarded; with a child's name, what that child got."""
        return [f for f in self._forwarded if child is None or f.child in (None, child)]

    def reset_forwards(self) -> None:
        """Forget what was forwarded."""
        self._forwarded.clear()

    def schedule(
        self,
        interval: Duration,
        type: PunctuationType | str,  # noqa: A002 - Kafka's name
        callback: Callable[[int], Any],
        *,
        start: Instant | None = None,
    ) -> Cancellable:
        """Capture a punctuator."""
        entry = Cancellable("mock", interval_ms(interval), callback)
        captured = CapturedPunctuator(entry.interval, punctuation_type(type), callback, start, entry)
        self.scheduled_punctuators.append(captured)
        return entry

    def commit(self) -> None:
        """Note that a commit was asked for."""
        self.committed = True

    def reset_commit(self) -> None:
        """Forget that a commit was asked for."""
        self.committed = False

    def add_state_store(self, store: Any) -> Any:
        """Give the processor a store: a store builder, which is built here, or a store."""
        if isinstance(store, StoreBuilder):
            home = StoreHome(lambda name: MemoryBytesStore(), self._task, self._config, caching=False)
            store = store.build(home)
        self._stores[store.name] = store
        return store

    def get_state_store(self, name: str) -> Any:
        """A store that the test added."""
        if name not in self._stores:
            raise PenstockError(
                f"the mock context has no store {name!r}", hint="Add it with context.add_state_store(builder)."
            )
        return self._stores[name]

    def set_record_metadata(self, topic: str, partition: int = 0, offset: int = 0) -> None:
        """Say where the record being processed comes from."""
        self._metadata = RecordMetadata(topic, partition, offset)

    @property
    def record_metadata(self) -> RecordMetadata | None:
        """What the test set."""
        return self._metadata

    def set_current_stream_time_ms(self, time: int) -> None:
        """Set stream time."""
        self._task.stream_time = time

    def current_stream_time_ms(self) -> int:
        """What the test set, or -1."""
        return self._task.stream_time

    def set_current_system_time_ms(self, time: int) -> None:
        """Set the wall clock."""
        self._system_time = time

    def current_system_time_ms(self) -> int:
        """What the test set, or 0."""
        return self._system_time

    @property
    def task_id(self) -> str:
        """The task id given to the constructor."""
        return self._task.task_id

    @property
    def application_id(self) -> str:
        """The application's id."""
        return self._config.application_id

    @property
    def app_configs(self) -> Mapping[str, Any]:
        """The settings given to the constructor, with defaults."""
        return self._config.app_configs

    def app_configs_with_prefix(self, prefix: str) -> dict[str, Any]:
        """The settings that start with a prefix, without it."""
        return {k[len(prefix) :]: v for k, v in self.app_configs.items() if k.startswith(prefix)}

    @property
    def state_dir(self) -> str:
        """Folder for local state."""
        return self._config.state_dir

    @property
    def metrics(self) -> Mapping[str, int]:
        """Drops by reason."""
        return dict(self._task.dropped)

    @property
    def key_serde(self) -> Any:
        """The default key serde."""
        return self._config.key_serde(None, "the mock context")

    @property
    def value_serde(self) -> Any:
        """The default value serde."""
        return self._config.value_serde(None, "the mock context")
