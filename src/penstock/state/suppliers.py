"""Which kind of store, without its serdes: what `Stores` gives and builders and `Materialized` take."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class KeyValueBytesStoreSupplier:
    """A key-value store. `max_entries` limits it to the most recently used keys."""

    name: str
    persistent: bool = True
    timestamped: bool = False
    max_entries: int | None = None
    headers: bool = False

    @property
    def kind(self) -> str:
        """Kind of store this makes."""
        return "timestamped_key_value" if self.timestamped else "key_value"


@dataclass(frozen=True, slots=True)
class VersionedBytesStoreSupplier:
    """A versioned key-value store."""

    name: str
    history_retention: int
    segment_interval: int | None = None

    persistent = True
    kind = "versioned"


@dataclass(frozen=True, slots=True)
class WindowBytesStoreSupplier:
    """A window store."""

    name: str
    retention: int
    window_size: int
    retain_duplicates: bool = False
    persistent: bool = True
    timestamped: bool = False
    headers: bool = False

    @property
    def kind(self) -> str:
        """Kind of store this makes."""
        return "timestamped_window" if self.timestamped else "window"


@dataclass(frozen=True, slots=True)
class SessionBytesStoreSupplier:
    """A session store."""

    name: str
    retention: int
    persistent: bool = True
    headers: bool = False

    kind = "session"


StoreSupplier = (
    KeyValueBytesStoreSupplier | VersionedBytesStoreSupplier | WindowBytesStoreSupplier | SessionBytesStoreSupplier
)
