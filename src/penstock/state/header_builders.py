"""Builders of the stores that keep headers beside their values."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from penstock.state.builders import (
    SessionStoreBuilder,
    TimestampedKeyValueStoreBuilder,
    TimestampedWindowStoreBuilder,
    serdes_of,
)
from penstock.state.store import StateStore, StoreEnvironment


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampedKeyValueStoreWithHeadersBuilder(TimestampedKeyValueStoreBuilder):
    """A key-value store with timestamps and headers."""

    kind: ClassVar[str] = "timestamped_key_value_with_headers"

    def build(self, environment: StoreEnvironment) -> StateStore:
        from penstock.state.with_headers import CachingKeyValueStoreWithHeaders, TimestampedKeyValueStoreWithHeaders

        caching = self.caching and environment.caching
        cls = CachingKeyValueStoreWithHeaders if caching else TimestampedKeyValueStoreWithHeaders
        return cls(self.name, environment, *serdes_of(self, environment), persistent=self.persistent)


@dataclass(frozen=True, slots=True, kw_only=True)
class TimestampedWindowStoreWithHeadersBuilder(TimestampedWindowStoreBuilder):
    """A window store with timestamps and headers."""

    kind: ClassVar[str] = "timestamped_window_with_headers"

    def build(self, environment: StoreEnvironment) -> StateStore:
        from penstock.state.with_headers import CachingWindowStoreWithHeaders, TimestampedWindowStoreWithHeaders

        caching = self.caching and environment.caching and not self.retain_duplicates
        return self._build(CachingWindowStoreWithHeaders if caching else TimestampedWindowStoreWithHeaders, environment)


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionStoreWithHeadersBuilder(SessionStoreBuilder):
    """A session store with headers."""

    kind: ClassVar[str] = "session_with_headers"

    def build(self, environment: StoreEnvironment) -> StateStore:
        from penstock.state.with_headers import CachingSessionStoreWithHeaders, SessionStoreWithHeaders

        caching = self.caching and environment.caching
        return self._build(CachingSessionStoreWithHeaders if caching else SessionStoreWithHeaders, environment)
