"""Parameter objects of joins."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from typing import Any

from penstock.durations import Duration, duration_ms
from penstock.streams.parameters import SerdeLike
from penstock.streams.settings import Parameter
from penstock.topology.naming import check_name


@dataclass(frozen=True, slots=True, kw_only=True)
class Joined(Parameter):
    """Serdes, name and grace period of a stream-table join."""

    key_serde: SerdeLike = None
    value_serde: SerdeLike = None
    other_value_serde: SerdeLike = None
    name: str | None = None
    grace: int | None = None

    @classmethod
    def with_(
        cls, key_serde: SerdeLike = None, value_serde: SerdeLike = None, other_value_serde: SerdeLike = None
    ) -> Joined:
        """With these serdes."""
        return cls(key_serde=key_serde, value_serde=value_serde, other_value_serde=other_value_serde)

    @classmethod
    def as_(cls, name: str) -> Joined:
        """With this name."""
        return cls(name=check_name(name, "name"))

    def with_name(self, name: str) -> Joined:
        """The same with another name."""
        return replace(self, name=check_name(name, "name"))

    def with_key_serde(self, serde: SerdeLike) -> Joined:
        """The same with another serde of keys."""
        return replace(self, key_serde=serde)

    def with_value_serde(self, serde: SerdeLike) -> Joined:
        """The same with another serde of the stream's values."""
        return replace(self, value_serde=serde)

    def with_other_value_serde(self, serde: SerdeLike) -> Joined:
        """The same with another serde of the table's values."""
        return replace(self, other_value_serde=serde)

    def with_grace_period(self, grace: Duration) -> Joined:
        """The same; records wait that long, in time order, for the rows of a versioned table."""
        return replace(self, grace=duration_ms(grace, "grace period"))


@dataclass(frozen=True, slots=True, kw_only=True)
class StreamJoined(Parameter):
    """Serdes, names and stores of a stream-stream join."""

    key_serde: SerdeLike = None
    value_serde: SerdeLike = None
    other_value_serde: SerdeLike = None
    name: str | None = None
    store: str | None = None
    supplier: Any = None
    other_supplier: Any = None
    store_type: Any = None
    logging: Any = None

    @classmethod
    def with_(
        cls,
        first: Any = None,
        value_serde: Any = None,
        other_value_serde: SerdeLike = None,
    ) -> StreamJoined:
        """With serdes of keys, values and other values; or with the store suppliers of both sides."""
        if hasattr(first, "retain_duplicates"):
            return cls(supplier=first, other_supplier=value_serde)
        return cls(key_serde=first, value_serde=value_serde, other_value_serde=other_value_serde)

    @classmethod
    def as_(cls, name: str) -> StreamJoined:
        """With this base name of the stores, as in Kafka; `with_name` names the nodes."""
        return cls(store=check_name(name, "store name"))

    def with_name(self, name: str) -> StreamJoined:
        """The same with another name."""
        return replace(self, name=check_name(name, "name"))

    def with_store_name(self, name: str) -> StreamJoined:
        """The same with another base name of the stores."""
        return replace(self, store=check_name(name, "store name"))

    def with_key_serde(self, serde: SerdeLike) -> StreamJoined:
        """The same with another serde of keys."""
        return replace(self, key_serde=serde)

    def with_value_serde(self, serde: SerdeLike) -> StreamJoined:
        """The same with another serde of this stream's values."""
        return replace(self, value_serde=serde)

    def with_other_value_serde(self, serde: SerdeLike) -> StreamJoined:
        """The same with another serde of the other stream's values."""
        return replace(self, other_value_serde=serde)

    def with_this_store_supplier(self, supplier: Any) -> StreamJoined:
        """The same with a store for this stream's records."""
        return replace(self, supplier=supplier)

    def with_other_store_supplier(self, supplier: Any) -> StreamJoined:
        """The same with a store for the other stream's records."""
        return replace(self, other_supplier=supplier)

    def with_dsl_store_suppliers(self, store_type: Any) -> StreamJoined:
        """The same with another type of stores."""
        return replace(self, store_type=store_type)

    def with_logging_enabled(self, config: Mapping[str, Any] | None = None) -> StreamJoined:
        """The same with changelogs of these topic settings."""
        return replace(self, logging=dict(config) if config else True)

    def with_logging_disabled(self) -> StreamJoined:
        """The same without changelogs."""
        return replace(self, logging=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class TableJoined(Parameter):
    """Partitioners and name of a foreign-key join."""

    partitioner: Any = None
    other_partitioner: Any = None
    name: str | None = None

    @classmethod
    def with_(
        cls, partitioner: Callable[..., Any] | None = None, other_partitioner: Callable[..., Any] | None = None
    ) -> TableJoined:
        """With the partitioners of both tables' topics."""
        return cls(partitioner=partitioner, other_partitioner=other_partitioner)

    @classmethod
    def as_(cls, name: str) -> TableJoined:
        """With this name."""
        return cls(name=check_name(name, "name"))

    def with_partitioner(self, partitioner: Callable[..., Any]) -> TableJoined:
        """The same with another partitioner of the left table's topic."""
        return replace(self, partitioner=partitioner)

    def with_other_partitioner(self, partitioner: Callable[..., Any]) -> TableJoined:
        """The same with another partitioner of the right table's topic."""
        return replace(self, other_partitioner=partitioner)

    def with_name(self, name: str) -> TableJoined:
        """The same with another name."""
        return replace(self, name=check_name(name, "name"))
