"""`Stores`: factories of store suppliers and builders."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, TypeVar

from penstock.durations import Duration, duration_ms
from penstock.errors import TopologyError
from penstock.state.builders import (
    CustomStoreBuilder,
    KeyValueStoreBuilder,
    SessionStoreBuilder,
    TimestampedKeyValueStoreBuilder,
    TimestampedWindowStoreBuilder,
    VersionedKeyValueStoreBuilder,
    WindowStoreBuilder,
)
from penstock.state.header_builders import (
    SessionStoreWithHeadersBuilder,
    TimestampedKeyValueStoreWithHeadersBuilder,
    TimestampedWindowStoreWithHeadersBuilder,
)
from penstock.state.suppliers import (
    KeyValueBytesStoreSupplier,
    SessionBytesStoreSupplier,
    VersionedBytesStoreSupplier,
    WindowBytesStoreSupplier,
)

S = TypeVar("S")


class Stores:
    """Makes suppliers (which kind of store) and, from them, builders (with serdes, logging and caching).

    >>> supplier = Stores.persistent_key_value_store("seen")
    >>> Stores.key_value_store_builder(supplier, "string", "long").with_caching_enabled().caching
    True

    Persistent stores are kept on disk where the host has one. Caching is off unless a builder turns it on.
    """

    # Suppliers

    @staticmethod
    def persistent_key_value_store(name: str) -> KeyValueBytesStoreSupplier:
        """A key-value store."""
        return KeyValueBytesStoreSupplier(_named(name))

    @staticmethod
    def in_memory_key_value_store(name: str) -> KeyValueBytesStoreSupplier:
        """A key-value store that asks for memory only."""
        return KeyValueBytesStoreSupplier(_named(name), persistent=False)

    @staticmethod
    def persistent_timestamped_key_value_store(name: str) -> KeyValueBytesStoreSupplier:
        """A key-value store with a timestamp beside each value."""
        return KeyValueBytesStoreSupplier(_named(name), timestamped=True)

    @staticmethod
    def lru_map(name: str, max_entries: int) -> KeyValueBytesStoreSupplier:
        """A key-value store in memory that keeps the `max_entries` most recently used keys."""
        if max_entries < 1:
            raise TopologyError(f"max_entries of the store {name} is {max_entries}", hint="Give at least 1.")
        return KeyValueBytesStoreSupplier(_named(name), persistent=False, max_entries=max_entries)

    @staticmethod
    def persistent_versioned_key_value_store(
        name: str, history_retention: Duration, segment_interval: Duration | None = None
    ) -> VersionedBytesStoreSupplier:
        """A versioned store that keeps old versions for `history_retention`; they are dropped segment by segment."""
        interval = None if segment_interval is None else duration_ms(segment_interval, "segment interval")
        if interval == 0:
            raise TopologyError(f"the segment interval of the store {name} is 0 ms", hint="Give at least 1 ms.")
        return VersionedBytesStoreSupplier(_named(name), duration_ms(history_retention, "history retention"), interval)

    @staticmethod
    def persistent_window_store(
        name: str,
        retention: Duration,
        window_size: Duration,
        retain_duplicates: bool = False,  # noqa: FBT001, FBT002 - as in Java
    ) -> WindowBytesStoreSupplier:
        """A window store; with `retain_duplicates` every value of the same key and start is kept."""
        return _window(name, retention, window_size, retain_duplicates=retain_duplicates)

    @staticmethod
    def persistent_timestamped_window_store(
        name: str,
        retention: Duration,
        window_size: Duration,
        retain_duplicates: bool = False,  # noqa: FBT001, FBT002 - as in Java
    ) -> WindowBytesStoreSupplier:
        """A window store with a timestamp beside each value."""
        return _window(name, retention, window_size, retain_duplicates=retain_duplicates, timestamped=True)

    @staticmethod
    def in_memory_window_store(
        name: str,
        retention: Duration,
        window_size: Duration,
        retain_duplicates: bool = False,  # noqa: FBT001, FBT002 - as in Java
    ) -> WindowBytesStoreSupplier:
        """A window store that asks for memory only."""
        return _window(name, retention, window_size, retain_duplicates=retain_duplicates, persistent=False)

    @staticmethod
    def persistent_session_store(name: str, retention: Duration) -> SessionBytesStoreSupplier:
        """A session store."""
        return SessionBytesStoreSupplier(_named(name), duration_ms(retention, "retention"))

    @staticmethod
    def in_memory_session_store(name: str, retention: Duration) -> SessionBytesStoreSupplier:
        """A session store that asks for memory only."""
        return SessionBytesStoreSupplier(_named(name), duration_ms(retention, "retention"), persistent=False)

    @staticmethod
    def persistent_timestamped_key_value_store_with_headers(name: str) -> KeyValueBytesStoreSupplier:
        """A key-value store with timestamp and headers beside each value."""
        return KeyValueBytesStoreSupplier(_named(name), timestamped=True, headers=True)

    @staticmethod
    def persistent_timestamped_window_store_with_headers(
        name: str,
        retention: Duration,
        window_size: Duration,
        retain_duplicates: bool = False,  # noqa: FBT001, FBT002 - as in Java
    ) -> WindowBytesStoreSupplier:
        """A window store with timestamp and headers beside each value."""
        options = {"retain_duplicates": retain_duplicates, "timestamped": True, "headers": True}
        return _window(name, retention, window_size, **options)

    @staticmethod
    def persistent_session_store_with_headers(name: str, retention: Duration) -> SessionBytesStoreSupplier:
        """A session store with headers beside each aggregate."""
        return SessionBytesStoreSupplier(_named(name), duration_ms(retention, "retention"), headers=True)

    # Builders

    @staticmethod
    def key_value_store_builder(
        supplier: KeyValueBytesStoreSupplier, key_serde: Any = None, value_serde: Any = None
    ) -> KeyValueStoreBuilder:
        """A builder of a `KeyValueStore`."""
        given = _of_kind(supplier, KeyValueBytesStoreSupplier, "key_value_store_builder")
        return KeyValueStoreBuilder(
            name=given.name,
            key_serde=key_serde,
            value_serde=value_serde,
            persistent=given.persistent,
            max_entries=given.max_entries,
        )

    @staticmethod
    def timestamped_key_value_store_builder(
        supplier: KeyValueBytesStoreSupplier, key_serde: Any = None, value_serde: Any = None
    ) -> TimestampedKeyValueStoreBuilder:
        """A builder of a `TimestampedKeyValueStore`."""
        given = _of_kind(supplier, KeyValueBytesStoreSupplier, "timestamped_key_value_store_builder")
        return TimestampedKeyValueStoreBuilder(
            name=given.name,
            key_serde=key_serde,
            value_serde=value_serde,
            persistent=given.persistent,
            max_entries=given.max_entries,
        )

    @staticmethod
    def timestamped_key_value_store_with_headers_builder(
        supplier: KeyValueBytesStoreSupplier, key_serde: Any = None, value_serde: Any = None
    ) -> TimestampedKeyValueStoreWithHeadersBuilder:
        """A builder of a `TimestampedKeyValueStoreWithHeaders`."""
        given = _of_kind(supplier, KeyValueBytesStoreSupplier, "timestamped_key_value_store_with_headers_builder")
        return TimestampedKeyValueStoreWithHeadersBuilder(
            name=given.name, key_serde=key_serde, value_serde=value_serde, persistent=given.persistent
        )

    @staticmethod
    def versioned_key_value_store_builder(
        supplier: VersionedBytesStoreSupplier, key_serde: Any = None, value_serde: Any = None
    ) -> VersionedKeyValueStoreBuilder:
        """A builder of a `VersionedKeyValueStore`."""
        given = _of_kind(supplier, VersionedBytesStoreSupplier, "versioned_key_value_store_builder")
        return VersionedKeyValueStoreBuilder(
            name=given.name,
            key_serde=key_serde,
            value_serde=value_serde,
            history_retention=given.history_retention,
            segment_interval=given.segment_interval,
        )

    @staticmethod
    def window_store_builder(
        supplier: WindowBytesStoreSupplier, key_serde: Any = None, value_serde: Any = None
    ) -> WindowStoreBuilder:
        """A builder of a `WindowStore`."""
        given = _of_kind(supplier, WindowBytesStoreSupplier, "window_store_builder")
        return WindowStoreBuilder(key_serde=key_serde, value_serde=value_serde, **_window_options(given))

    @staticmethod
    def timestamped_window_store_builder(
        supplier: WindowBytesStoreSupplier, key_serde: Any = None, value_serde: Any = None
    ) -> TimestampedWindowStoreBuilder:
        """A builder of a `TimestampedWindowStore`."""
        given = _of_kind(supplier, WindowBytesStoreSupplier, "timestamped_window_store_builder")
        return TimestampedWindowStoreBuilder(key_serde=key_serde, value_serde=value_serde, **_window_options(given))

    @staticmethod
    def timestamped_window_store_with_headers_builder(
        supplier: WindowBytesStoreSupplier, key_serde: Any = None, value_serde: Any = None
    ) -> TimestampedWindowStoreWithHeadersBuilder:
        """A builder of a `TimestampedWindowStoreWithHeaders`."""
        given = _of_kind(supplier, WindowBytesStoreSupplier, "timestamped_window_store_with_headers_builder")
        return TimestampedWindowStoreWithHeadersBuilder(
            key_serde=key_serde, value_serde=value_serde, **_window_options(given)
        )

    @staticmethod
    def session_store_builder(
        supplier: SessionBytesStoreSupplier, key_serde: Any = None, value_serde: Any = None
    ) -> SessionStoreBuilder:
        """A builder of a `SessionStore`."""
        given = _of_kind(supplier, SessionBytesStoreSupplier, "session_store_builder")
        return SessionStoreBuilder(key_serde=key_serde, value_serde=value_serde, **_session_options(given))

    @staticmethod
    def session_store_with_headers_builder(
        supplier: SessionBytesStoreSupplier, key_serde: Any = None, value_serde: Any = None
    ) -> SessionStoreWithHeadersBuilder:
        """A builder of a `SessionStoreWithHeaders`."""
        given = _of_kind(supplier, SessionBytesStoreSupplier, "session_store_with_headers_builder")
        return SessionStoreWithHeadersBuilder(key_serde=key_serde, value_serde=value_serde, **_session_options(given))

    @staticmethod
    def custom_store_builder(name: str, factory: Callable[[], Any]) -> CustomStoreBuilder:
        """A builder of a store of your own, not in Kafka Streams.

        Args:
            name: Name of the store.
            factory: Makes a new store for each task, usually a subclass of `StateStore`; its `name` must be this name.
        """
        if not callable(factory):
            raise TopologyError(
                f"the factory of the store {name} is {factory!r}",
                hint="Give a class or function that makes a new store: every task needs its own.",
            )
        return CustomStoreBuilder(name=_named(name), factory=factory)


def _named(name: Any) -> str:
    if not isinstance(name, str) or not name:
        raise TopologyError(f"the name of a store is {name!r}", hint='Give a text such as "counts".')
    return name


def _window(name: str, retention: Duration, window_size: Duration, **options: bool) -> WindowBytesStoreSupplier:
    retention_ms, size_ms = duration_ms(retention, "retention"), duration_ms(window_size, "window size")
    if size_ms > retention_ms:
        raise TopologyError(
            f"the store {name} keeps windows for {retention_ms} ms, less than their size of {size_ms} ms",
            hint="Give a retention of at least the window size.",
        )
    return WindowBytesStoreSupplier(_named(name), retention_ms, size_ms, **options)


def _window_options(supplier: WindowBytesStoreSupplier) -> dict[str, Any]:
    return {
        "name": supplier.name,
        "retention": supplier.retention,
        "window_size": supplier.window_size,
        "retain_duplicates": supplier.retain_duplicates,
        "persistent": supplier.persistent,
    }


def _session_options(supplier: SessionBytesStoreSupplier) -> dict[str, Any]:
    return {"name": supplier.name, "retention": supplier.retention, "persistent": supplier.persistent}


def _of_kind(supplier: Any, kind: type[S], method: str) -> S:
    if not isinstance(supplier, kind):
        raise TopologyError(
            f"{method} was given {supplier!r}",
            hint=f"It takes a {kind.__name__}, which the other methods of Stores make.",
        )
    return supplier
