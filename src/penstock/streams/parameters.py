"""Kafka's parameter objects. Each stands for keywords of the operators; `with_...` gives a changed copy."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from typing_extensions import Self

from penstock.durations import Duration, duration_ms
from penstock.errors import TopologyError
from penstock.serde import Serde
from penstock.streams.settings import Parameter
from penstock.topology.naming import check_name

SerdeLike = Serde[Any] | str | None


class _Serdes(Parameter):
    """Parameters with a key and a value serde and a name."""

    __slots__ = ()

    @classmethod
    def with_(cls, key_serde: SerdeLike = None, value_serde: SerdeLike = None) -> Self:
        """With these serdes."""
        return cls(key_serde=key_serde, value_serde=value_serde)  # type: ignore[call-arg]

    @classmethod
    def as_(cls, name: str) -> Self:
        """With this name."""
        return cls(name=check_name(name, "name"))  # type: ignore[call-arg]

    def with_name(self, name: str) -> Self:
        """The same with another name."""
        return replace(self, name=check_name(name, "name"))  # type: ignore[type-var]

    def with_key_serde(self, serde: SerdeLike) -> Self:
        """The same with another serde of keys."""
        return replace(self, key_serde=serde)  # type: ignore[type-var]

    def with_value_serde(self, serde: SerdeLike) -> Self:
        """The same with another serde of values."""
        return replace(self, value_serde=serde)  # type: ignore[type-var]


@dataclass(frozen=True, slots=True)
class Named(Parameter):
    """The name of an operator."""

    name: str

    def __post_init__(self) -> None:
        check_name(self.name, "name")

    @classmethod
    def as_(cls, name: str) -> Named:
        """The name."""
        return cls(name)


@dataclass(frozen=True, slots=True, kw_only=True)
class Consumed(_Serdes):
    """How a topic is read."""

    key_serde: SerdeLike = None
    value_serde: SerdeLike = None
    timestamp_extractor: Any = None
    offset_reset: Any = None
    name: str | None = None

    def with_timestamp_extractor(self, extractor: Any) -> Consumed:
        """The same with another timestamp extractor."""
        return replace(self, timestamp_extractor=extractor)

    def with_offset_reset_policy(self, policy: AutoOffsetReset | str) -> Consumed:
        """The same with another place to start without a committed offset."""
        return replace(self, offset_reset=policy)


@dataclass(frozen=True, slots=True, kw_only=True)
class Produced(_Serdes):
    """How a topic is written."""

    key_serde: SerdeLike = None
    value_serde: SerdeLike = None
    partitioner: Any = None
    name: str | None = None

    def with_stream_partitioner(self, partitioner: Callable[..., Any]) -> Produced:
        """The same with another partitioner."""
        return replace(self, partitioner=partitioner)


@dataclass(frozen=True, slots=True, kw_only=True)
class Grouped(_Serdes):
    """How a stream or table is grouped; the name is that of the repartition topic."""

    key_serde: SerdeLike = None
    value_serde: SerdeLike = None
    name: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Repartitioned(_Serdes):
    """How a stream is repartitioned."""

    key_serde: SerdeLike = None
    value_serde: SerdeLike = None
    partitioner: Any = None
    partitions: int | None = None
    name: str | None = None

    @classmethod
    def number_of_partitions(cls, partitions: int) -> Repartitioned:
        """Into that many partitions."""
        return cls(partitions=partitions)

    @classmethod
    def stream_partitioner(cls, partitioner: Callable[..., Any]) -> Repartitioned:
        """With that partitioner."""
        return cls(partitioner=partitioner)

    def with_number_of_partitions(self, partitions: int) -> Repartitioned:
        """The same with another number of partitions."""
        return replace(self, partitions=partitions)

    def with_stream_partitioner(self, partitioner: Callable[..., Any]) -> Repartitioned:
        """The same with another partitioner."""
        return replace(self, partitioner=partitioner)


@dataclass(frozen=True, slots=True)
class Branched(Parameter):
    """The name of a branch, and what to do with its stream."""

    name: str | None = None
    function: Any = None
    consumer: Any = None

    @classmethod
    def as_(cls, name: str) -> Branched:
        """A branch with a name."""
        return cls(check_name(name, "name"))

    @classmethod
    def with_function(cls, function: Callable[[Any], Any], name: str | None = None) -> Branched:
        """A branch whose entry in the result is what the function makes of its stream."""
        return cls(name, function=function)

    @classmethod
    def with_consumer(cls, consumer: Callable[[Any], Any], name: str | None = None) -> Branched:
        """A branch that a function takes; it has no entry in the result."""
        return cls(name, consumer=consumer)


@dataclass(frozen=True, slots=True)
class Printed(Parameter):
    """Where and how records are printed."""

    file: str | None = None
    label: str | None = None
    mapper: Any = None
    name: str | None = None

    @classmethod
    def to_sys_out(cls) -> Printed:
        """To standard output."""
        return cls()

    @classmethod
    def to_file(cls, path: str) -> Printed:
        """To a file."""
        if not path:
            raise TopologyError("to_file was given no path", hint="Name the file to write.")
        return cls(str(path))

    def with_label(self, label: str) -> Printed:
        """The same with a label in front of each line."""
        return replace(self, label=label)

    def with_key_value_mapper(self, mapper: Callable[..., Any]) -> Printed:
        """The same with a function that gives the text of a record."""
        return replace(self, mapper=mapper)

    def with_name(self, name: str) -> Printed:
        """The same with another name."""
        return replace(self, name=check_name(name, "name"))


@dataclass(frozen=True, slots=True)
class AutoOffsetReset:
    """Where a source starts if there is no committed offset.

    Attributes:
        policy: earliest, latest, none or by_duration.
        duration_ms: How far back by_duration goes.
    """

    policy: str
    duration_ms: int | None = None

    @classmethod
    def earliest(cls) -> AutoOffsetReset:
        """With the oldest record."""
        return cls("earliest")

    @classmethod
    def latest(cls) -> AutoOffsetReset:
        """With the next new record."""
        return cls("latest")

    @classmethod
    def none(cls) -> AutoOffsetReset:
        """Nowhere: fail."""
        return cls("none")

    @classmethod
    def by_duration(cls, duration: Duration) -> AutoOffsetReset:
        """That long ago."""
        return cls("by_duration", duration_ms(duration, "duration of the offset reset"))

    @classmethod
    def of(cls, given: AutoOffsetReset | str | None, line: str | None = None) -> AutoOffsetReset | None:
        """From an object or a policy's name."""
        if given is None or isinstance(given, AutoOffsetReset):
            return given
        if given in {"earliest", "latest", "none"}:
            return cls(given)
        raise TopologyError(
            f"offset_reset is {given!r}",
            line=line,
            hint='Give "earliest", "latest", "none" or AutoOffsetReset.by_duration("1h").',
        )
