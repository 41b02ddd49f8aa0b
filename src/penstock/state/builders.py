"""Immutable descriptions of stores; a task builds its own store from each."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any, ClassVar

from typing_extensions import Self

from penstock.errors import TopologyError
from penstock.serde import Serde
from penstock.state.store import StateStore, StoreEnvironment, key_serde, value_serde

if TYPE_CHECKING:
    from penstock.state.session import SessionStore
    from penstock.state.window import WindowStore


@dataclass(frozen=True, slots=True, kw_only=True)
class StoreBuilder(ABC):
    """A store that does not exist yet. Every `with_...` gives a new builder.

    Attributes:
        name: Name of the store; unique in its topology.
        key_serde / value_serde: A serde, a short name, or None for the configured default.
        caching: Updates are collected and forwarded when the task flushes.
        logging: The store has a changelog topic.
        log_config: Settings of that topic.
        persistent: Kept on disk where the host has one; False asks for memory only.
    """

    name: str
    key_serde: Any = None
    value_serde: Any = None
    caching: bool = False
    logging: bool = True
    log_config: tuple[tuple[str, str], ...] = ()
    persistent: bool = True

    kind: ClassVar[str] = "custom"

    @abstractmethod
    def build(self, environment: StoreEnvironment) -> StateStore:
        """The store, over the bytes its environment keeps under its name."""

    @property
    def retention_ms(self) -> int | None:
        """How long rows are kept, for stores that forget."""
        return None

    def with_caching_enabled(self) -> Self:
        """Collect updates until the task flushes."""
        return replace(self, caching=True)

    def with_caching_disabled(self) -> Self:
        """Write and forward every update at once."""
        return replace(self, caching=False)

    def with_logging_enabled(self, config: Mapping[str, str] | None = None) -> Self:
        """Keep a changelog topic, with these topic settings."""
        return replace(self, logging=True, log_config=tuple(sorted((config or {}).items())))

    def with_logging_disabled(self) -> Self:
        """Keep no changelog topic."""
        return replace(self, logging=False, log_config=())


@dataclass(frozen=True, slots=True, kw_only=True)
class KeyValueStoreBuilder(StoreBuilder):
    """A plain key-value store; with `max_entries`, one that keeps only the most recently used keys."""

    kind: ClassVar[str] = "key_value"
    max_entries: int | None = None

    def build(self, environment: StoreEnvironment) -> StateStore:
        from penstock.state.caching_key_value import CachingKeyValueStore
        from penstock.state.key_value import KeyValueStore
        from penstock.state.lru_map import LruKeyValueStore

        serdes = serdes_of(self, environment)
        if self.max_entries is not None:
            return LruKeyValueStore(self.name, environment, *serdes, max_entries=self.max_entries)
        cls = CachingKeyValueStore if self.caching and environment.caching else KeyValueStore
        return cls(self.name, environment, *serdes, persistent=self.persistent)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampedKeyValueStoreBuilder(StoreBuilder):
    """A key-value store with timestamps: what tables and aggregations without windows use."""

    kind: ClassVar[str] = "timestamped_key_value"
    max_entries: int | None = None

    def build(self, environment: StoreEnvironment) -> StateStore:
        from penstock.state.caching_key_value import CachingTimestampedKeyValueStore
        from penstock.state.lru_map import LruTimestampedKeyValueStore
        from penstock.state.timestamped_key_value import TimestampedKeyValueStore

        serdes = serdes_of(self, environment)
        if self.max_entries is not None:
            return LruTimestampedKeyValueStore(self.name, environment, *serdes, max_entries=self.max_entries)
        cls = CachingTimestampedKeyValueStore if self.caching and environment.caching else TimestampedKeyValueStore
        return cls(self.name, environment, *serdes, persistent=self.persistent)


@dataclass(frozen=True, slots=True, kw_only=True)
class VersionedKeyValueStoreBuilder(StoreBuilder):
    """A key-value store that keeps the versions of each key for a time."""

    kind: ClassVar[str] = "versioned"
    history_retention: int
    segment_interval: int | None = None

    @property
    def retention_ms(self) -> int:
        """How long old versions are kept."""
        return self.history_retention

    def with_caching_enabled(self) -> Self:
        """Refused: a cache would lose versions."""
        raise TopologyError(f"the versioned store {self.name} cannot be cached", hint="Remove with_caching_enabled().")

    def build(self, environment: StoreEnvironment) -> StateStore:
        from penstock.state.versioned import VersionedKeyValueStore

        return VersionedKeyValueStore(
            self.name,
            environment,
            *serdes_of(self, environment),
            history_retention=self.history_retention,
            segment_interval=self.segment_interval,
            persistent=self.persistent,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class WindowStoreBuilder(StoreBuilder):
    """A window store.

    Attributes:
        retention: Milliseconds that windows are kept.
        window_size: End of a window minus its start.
        retain_duplicates: Keep every value of the same key and start, as the stores of stream-stream joins do.
        on_close: For an aggregation that emits closed windows.
    """

    kind: ClassVar[str] = "window"
    retention: int
    window_size: int
    retain_duplicates: bool = False
    on_close: bool = False

    @property
    def retention_ms(self) -> int:
        """How long windows are kept."""
        return self.retention

    def build(self, environment: StoreEnvironment) -> StateStore:
        from penstock.state.caching_window import CachingWindowStore
        from penstock.state.join_window import JoinWindowStore
        from penstock.state.window import WindowStore

        if self.retain_duplicates:
            return self._build(JoinWindowStore, environment)
        return self._build(CachingWindowStore if self.caching and environment.caching else WindowStore, environment)

    def _build(self, cls: type[WindowStore[Any, Any]], environment: StoreEnvironment) -> StateStore:
        return cls(
            self.name,
            environment,
            *serdes_of(self, environment),
            retention=self.retention,
            window_size=self.window_size,
            retain_duplicates=self.retain_duplicates,
            on_close=self.on_close,
            persistent=self.persistent,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampedWindowStoreBuilder(WindowStoreBuilder):
    """A window store with timestamps: what windowed aggregations use."""

    kind: ClassVar[str] = "timestamped_window"

    def build(self, environment: StoreEnvironment) -> StateStore:
        from penstock.state.caching_window import CachingTimestampedWindowStore
        from penstock.state.window import TimestampedWindowStore

        caching = self.caching and environment.caching and not self.retain_duplicates
        return self._build(CachingTimestampedWindowStore if caching else TimestampedWindowStore, environment)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStoreBuilder(StoreBuilder):
    """A session store; `retention` is how long sessions are kept after their end."""

    kind: ClassVar[str] = "session"
    retention: int
    on_close: bool = False

    @property
    def retention_ms(self) -> int:
        """How long sessions are kept after their end."""
        return self.retention

    def build(self, environment: StoreEnvironment) -> StateStore:
        from penstock.state.caching_session import CachingSessionStore
        from penstock.state.session import SessionStore

        cls = CachingSessionStore if self.caching and environment.caching else SessionStore
        return self._build(cls, environment)

    def _build(self, cls: type[SessionStore[Any, Any]], environment: StoreEnvironment) -> StateStore:
        return cls(
            self.name,
            environment,
            *serdes_of(self, environment),
            retention=self.retention,
            on_close=self.on_close,
            persistent=self.persistent,
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class CustomStoreBuilder(StoreBuilder):
    """A store of the user's own: `factory` makes it, and its `init(context, root)` is called once."""

    kind: ClassVar[str] = "custom"
    factory: Callable[[], Any]

    def build(self, environment: StoreEnvironment) -> Any:
        store = self.factory()
        if getattr(store, "name", None) != self.name:
            raise TopologyError(
                f"the factory of the store {self.name} made one called {getattr(store, 'name', None)!r}",
                hint="The store's name must be that of its builder.",
            )
        store.init(environment.context, store)
        return store


def serdes_of(builder: StoreBuilder, environment: StoreEnvironment) -> tuple[Serde[Any], Serde[Any]]:
    """The serdes of a store, its own or the defaults."""
    return (
        key_serde(environment, builder.key_serde, builder.name),
        value_serde(environment, builder.value_serde, builder.name),
    )
