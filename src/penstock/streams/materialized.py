"""How the result of an operator is kept: `Materialized`, and the store builders made of it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from enum import Enum
from typing import Any, TypeVar

from penstock.durations import Duration, duration_ms
from penstock.errors import TopologyError
from penstock.state.builders import (
    SessionStoreBuilder,
    StoreBuilder,
    TimestampedKeyValueStoreBuilder,
    TimestampedWindowStoreBuilder,
    VersionedKeyValueStoreBuilder,
)
from penstock.state.header_builders import (
    SessionStoreWithHeadersBuilder,
    TimestampedKeyValueStoreWithHeadersBuilder,
    TimestampedWindowStoreWithHeadersBuilder,
)
from penstock.state.materialize import session_result, window_result
from penstock.state.suppliers import (
    KeyValueBytesStoreSupplier,
    SessionBytesStoreSupplier,
    VersionedBytesStoreSupplier,
    WindowBytesStoreSupplier,
)
from penstock.streams.parameters import SerdeLike
from penstock.streams.settings import Parameter, Settings
from penstock.topology.graph import Graph
from penstock.topology.naming import check_name
from penstock.windows import SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows

B = TypeVar("B", bound=StoreBuilder)


class StoreType(Enum):
    """Where stores of the DSL live."""

    PERSISTENT = "persistent"
    ROCKS_DB = PERSISTENT  # Kafka's name for the same
    IN_MEMORY = "in_memory"


@dataclass(frozen=True, slots=True, kw_only=True)
class Materialized(Parameter):
    """Name, serdes and behaviour of the store behind a table."""

    store: str | None = None
    supplier: Any = None
    store_type: StoreType | None = None
    key_serde: SerdeLike = None
    value_serde: SerdeLike = None
    cache: str | None = None
    logging: Any = None
    retention: int | None = None

    @classmethod
    def as_(cls, store: Any) -> Materialized:
        """In a store of that name, of that supplier, or of that type."""
        if isinstance(store, str):
            return cls(store=check_name(store, "store name"))
        return cls(store_type=store) if isinstance(store, StoreType) else cls(supplier=store)

    @classmethod
    def with_(cls, key_serde: SerdeLike = None, value_serde: SerdeLike = None) -> Materialized:
        """With these serdes; the store has a generated name."""
        return cls(key_serde=key_serde, value_serde=value_serde)

    def with_key_serde(self, serde: SerdeLike) -> Materialized:
        """The same with another serde of keys."""
        return replace(self, key_serde=serde)

    def with_value_serde(self, serde: SerdeLike) -> Materialized:
        """The same with another serde of values."""
        return replace(self, value_serde=serde)

    def with_caching_enabled(self) -> Materialized:
        """The same, forwarding the last update of a key in each batch."""
        return replace(self, cache="batch")

    def with_caching_disabled(self) -> Materialized:
        """The same, forwarding every update."""
        return replace(self, cache="off")

    def with_logging_enabled(self, config: Mapping[str, Any] | None = None) -> Materialized:
        """The same with a changelog of these topic settings."""
        return replace(self, logging=dict(config) if config else True)

    def with_logging_disabled(self) -> Materialized:
        """The same without a changelog."""
        return replace(self, logging=False)

    def with_retention(self, retention: Duration) -> Materialized:
        """The same, keeping windows that long."""
        return replace(self, retention=duration_ms(retention, "retention"))

    def with_store_type(self, store_type: StoreType) -> Materialized:
        """The same in a store of another type."""
        if self.supplier is not None:
            raise TopologyError(
                "a store type was given together with a store supplier", hint="The supplier decides the type; drop one."
            )
        return replace(self, store_type=store_type)


def given_store_name(settings: Settings) -> str | None:
    """The name the user chose for the store, if any."""
    if settings.store is not None:
        return settings.store
    return None if settings.supplier is None else check_name(settings.supplier.name, "store name", line=settings.line)


def key_value_store(graph: Graph, settings: Settings, name: str, *, key_serde: Any, value_serde: Any) -> StoreBuilder:
    """The store of a table without windows."""
    _refuse_retention(settings)
    options = _options(graph, settings, key_serde, value_serde)
    if settings.versioned is not None:
        if settings.supplier is not None:
            raise TopologyError(
                f"the table {name} was given a history and a store supplier",
                line=settings.line,
                hint="Keep one of them.",
            )
        return _versioned(settings, name, {"history_retention": settings.versioned}, options)
    supplier = settings.supplier
    if supplier is None:
        return _formatted(graph, settings, TimestampedKeyValueStoreBuilder(name=name, **options))
    options["persistent"] = supplier.persistent
    if isinstance(supplier, VersionedBytesStoreSupplier):
        details = {"history_retention": supplier.history_retention, "segment_interval": supplier.segment_interval}
        return _versioned(settings, name, details, options)
    _check_supplier(settings, KeyValueBytesStoreSupplier, "key-value")
    builder = TimestampedKeyValueStoreBuilder(name=name, max_entries=supplier.max_entries, **options)
    return _formatted(graph, settings, builder)


def window_store(
    graph: Graph,
    settings: Settings,
    name: str,
    windows: TimeWindows | SlidingWindows | UnlimitedWindows,
    *,
    on_close: bool,
    key_serde: Any,
    value_serde: Any,
) -> TimestampedWindowStoreBuilder:
    """The store of a table by time or sliding windows."""
    _refuse_versions(settings)
    options = _options(graph, settings, key_serde, value_serde)
    retention = settings.retention
    if settings.supplier is not None:
        _check_supplier(settings, WindowBytesStoreSupplier, "window")
        options["persistent"], retention = settings.supplier.persistent, settings.supplier.retention
    try:
        builder = window_result(name, windows, retention=retention, on_close=on_close, **options)
        return _formatted(graph, settings, builder)
    except TopologyError as error:
        raise TopologyError(error.message, line=settings.line, hint=error.hint) from None


def session_store(
    graph: Graph,
    settings: Settings,
    name: str,
    windows: SessionWindows,
    *,
    on_close: bool,
    key_serde: Any,
    value_serde: Any,
) -> SessionStoreBuilder:
    """The store of a table by sessions."""
    _refuse_versions(settings)
    options = _options(graph, settings, key_serde, value_serde)
    retention = settings.retention
    if settings.supplier is not None:
        _check_supplier(settings, SessionBytesStoreSupplier, "session")
        options["persistent"], retention = settings.supplier.persistent, settings.supplier.retention
    try:
        builder = session_result(name, windows, retention=retention, on_close=on_close, **options)
        return _formatted(graph, settings, builder)
    except TopologyError as error:
        raise TopologyError(error.message, line=settings.line, hint=error.hint) from None


def is_versioned(settings: Settings) -> bool:
    """Whether the user asked for a versioned store."""
    return settings.versioned is not None or isinstance(settings.supplier, VersionedBytesStoreSupplier)


def log_options(logging: Any) -> dict[str, Any]:
    """`logging=` as options of a store builder: True, False, or topic settings."""
    if isinstance(logging, Mapping):
        return {"logging": True, "log_config": tuple(sorted((str(k), str(v)) for k, v in logging.items()))}
    return {"logging": logging is not False}


def lives_in_memory(graph: Graph, settings: Settings) -> bool:
    """Whether stores that name no supplier live in memory."""
    if settings.store_type is None:
        return graph.config.in_memory
    return settings.store_type in {StoreType.IN_MEMORY, "in_memory", "IN_MEMORY"}


def _options(graph: Graph, settings: Settings, key_serde: Any, value_serde: Any) -> dict[str, Any]:
    return {
        "key_serde": key_serde,
        "value_serde": value_serde,
        "caching": settings.cache != "off",
        "persistent": not lives_in_memory(graph, settings),
        **log_options(settings.logging),
    }


_WITH_HEADERS: dict[type[StoreBuilder], Any] = {
    TimestampedKeyValueStoreBuilder: TimestampedKeyValueStoreWithHeadersBuilder,
    TimestampedWindowStoreBuilder: TimestampedWindowStoreWithHeadersBuilder,
    SessionStoreBuilder: SessionStoreWithHeadersBuilder,
}


def _formatted(graph: Graph, settings: Settings, builder: B) -> B:
    """The builder, of a store that keeps headers if the supplier or, without one, `dsl.store.format` says so."""
    keeps = graph.config.headers if settings.supplier is None else settings.supplier.headers
    if not keeps:
        return builder
    kept = _WITH_HEADERS[type(builder)](**{field.name: getattr(builder, field.name) for field in fields(builder)})
    assert isinstance(kept, type(builder))
    return kept


def _versioned(
    settings: Settings, name: str, details: dict[str, Any], options: dict[str, Any]
) -> VersionedKeyValueStoreBuilder:
    if settings.cache == "batch":
        raise TopologyError(
            f"the versioned store {name} cannot be cached", line=settings.line, hint="Leave cache= out."
        )
    return VersionedKeyValueStoreBuilder(name=name, **details, **(options | {"caching": False}))


def _check_supplier(settings: Settings, wanted: type, what: str) -> None:
    supplier = settings.supplier
    if not isinstance(supplier, wanted):
        raise TopologyError(
            f"the store of this table is to be made by {type(supplier).__name__} {supplier.name}",
            line=settings.line,
            hint=f"It needs a {what} store: use the {what} suppliers of Stores.",
        )


def _refuse_retention(settings: Settings) -> None:
    if settings.retention is not None:
        raise TopologyError(
            "retention was given for a table without windows", line=settings.line, hint="Only windows are forgotten."
        )


def _refuse_versions(settings: Settings) -> None:
    if settings.versioned is not None:
        raise TopologyError("a windowed table cannot be versioned", line=settings.line, hint="Leave versioned= out.")
