"""One topology for every stateful operator. Inputs are text, results go to the topic `out`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock import (
    ContextualProcessor,
    JoinWindows,
    KStream,
    KTable,
    Materialized,
    Record,
    SessionWindows,
    SlidingWindows,
    Stores,
    StreamsBuilder,
    TimeWindows,
    Topology,
    UnlimitedWindows,
    Windowed,
)

CONFIG = {"default.key.serde": "string", "default.value.serde": "string"}
UNCACHED = {**CONFIG, "statestore.cache.max.bytes": 0}
CACHED = {**CONFIG, "statestore.cache.max.bytes": 1 << 20}

Recipe = Callable[[StreamsBuilder], "KStream[Any, Any] | KTable[Any, Any]"]


@dataclass(frozen=True, slots=True)
class Entry:
    """A topology and what it reads.

    Attributes:
        topics: Its input topics.
        is_table: The result is a table: its last row of each key is what counts.
        settings: More settings.
    """

    name: str
    topics: tuple[str, ...]
    is_table: bool
    recipe: Recipe
    settings: Mapping[str, Any]

    def build(self, config: Mapping[str, Any]) -> Topology:
        """The topology; keys and values of the result are printed."""
        builder = StreamsBuilder(config)
        result = self.recipe(builder)
        stream = result if isinstance(result, KStream) else result.to_stream()
        stream.map(lambda key, value: (printed(key), printed(value))).to("out")
        return builder.build({**config, **self.settings})


def printed(given: Any) -> str | None:
    """A key or value as text."""
    if isinstance(given, Windowed):
        return f"{given.key}@{given.window.start}/{given.window.end}"
    return None if given is None else str(given)


CATALOG: dict[str, Entry] = {}


def entry(*topics: str, table: bool = True, **settings: Any) -> Callable[[Recipe], Recipe]:
    """Enter a topology under the name of its function."""

    def register(recipe: Recipe) -> Recipe:
        name = recipe.__name__
        CATALOG[name] = Entry(
            name, topics or ("in",), table, recipe, {k.replace("_", "."): v for k, v in settings.items()}
        )
        return recipe

    return register


def append(value: Any, aggregate: str) -> str:
    """An aggregator whose result tells the order of everything that went in."""
    return f"{aggregate}{value}"


def append_or_clear(value: Any, aggregate: str) -> str | None:
    """The same, but a 0 removes the row."""
    return None if value == "0" else f"{aggregate}{value}"


def joined(left: Any, right: Any) -> str:
    return f"{left}+{right}"


def number(value: Any) -> int:
    return int(value or 0)


# Aggregations of streams


@entry()
def count(b: StreamsBuilder) -> Any:
    return b.stream("in").group_by_key().count(name="counts")


@entry()
def reduce(b: StreamsBuilder) -> Any:
    return b.stream("in").group_by_key().reduce(lambda aggregate, value: f"{aggregate}{value}")


@entry()
def aggregate(b: StreamsBuilder) -> Any:
    return b.stream("in").group_by_key().aggregate("", append_or_clear)


@entry()
def aggregate_by_new_key(b: StreamsBuilder) -> Any:
    return b.stream("in").group_by(lambda value: value).aggregate("", append)


@entry("in", "other")
def cogroup(b: StreamsBuilder) -> Any:
    one, two = b.stream("in").group_by_key(), b.stream("other").group_by_key()
    return one.cogroup(append_or_clear).cogroup(two, lambda value, row: f"{row}-{value}").aggregate("")


# Windows


@entry()
def tumbling(b: StreamsBuilder) -> Any:
    return b.stream("in").group_by_key().windowed_by(TimeWindows(10, grace=5)).aggregate("", append_or_clear)


@entry()
def hopping(b: StreamsBuilder) -> Any:
    return b.stream("in").group_by_key().windowed_by(TimeWindows(10, 4, grace=7)).count()


@entry()
def sliding(b: StreamsBuilder) -> Any:
    return b.stream("in").group_by_key().windowed_by(SlidingWindows(8, grace=6)).aggregate("", append)


@entry()
def session(b: StreamsBuilder) -> Any:
    grouped = b.stream("in").group_by_key().windowed_by(SessionWindows(5, grace=6))
    return grouped.aggregate("", append, lambda left, right: f"{left}{right}")


@entry()
def session_retained(b: StreamsBuilder) -> Any:
    # By default a session leaves its store one millisecond before it stops to take records (as in Kafka).
    grouped = b.stream("in").group_by_key().windowed_by(SessionWindows(5, grace=6))
    return grouped.aggregate("", append, lambda left, right: f"{left}{right}", retention=1000)


@entry()
def unlimited(b: StreamsBuilder) -> Any:
    return b.stream("in").group_by_key().windowed_by(UnlimitedWindows.of().start_on(10)).count()


@entry("in", "other")
def cogroup_tumbling(b: StreamsBuilder) -> Any:
    one, two = b.stream("in").group_by_key(), b.stream("other").group_by_key()
    both = one.cogroup(append).cogroup(two, lambda value, row: f"{row}-{value}")
    return both.windowed_by(TimeWindows(10, grace=3)).aggregate("")


@entry("in", "other")
def cogroup_session(b: StreamsBuilder) -> Any:
    one, two = b.stream("in").group_by_key(), b.stream("other").group_by_key()
    both = one.cogroup(append).cogroup(two, append)
    return both.windowed_by(SessionWindows(4, grace=3)).aggregate("", lambda left, right: f"{left}{right}")


@entry(table=False)
def tumbling_on_close(b: StreamsBuilder) -> Any:
    return b.stream("in").group_by_key().tumbling(10, grace=5).aggregate("", append, emit="close")


@entry(table=False)
def sliding_on_close(b: StreamsBuilder) -> Any:
    return b.stream("in").group_by_key().sliding(8, grace=3).count(emit="close")


@entry(table=False)
def session_on_close(b: StreamsBuilder) -> Any:
    return b.stream("in").group_by_key().session(5, grace=3).count(emit="close")


# Suppress


@entry(table=False)
def suppress_windows(b: StreamsBuilder) -> Any:
    return b.stream("in").group_by_key().tumbling(10, grace=5).count().suppress(until="window_closes")


@entry(table=False)
def suppress_sessions(b: StreamsBuilder) -> Any:
    return b.stream("in").group_by_key().session(5, grace=2).count().suppress(until="window_closes")


@entry(table=False)
def suppress_time_limit(b: StreamsBuilder) -> Any:
    return b.table("in").suppress(until=12, max_records=2)


# Joins of streams


@entry("in", "other", table=False)
def stream_join(b: StreamsBuilder) -> Any:
    return b.stream("in").join(b.stream("other"), joined, within=8, grace=4)


@entry("in", "other", table=False)
def stream_left_join(b: StreamsBuilder) -> Any:
    return b.stream("in").left_join(b.stream("other"), joined, JoinWindows(4, 7, grace=3))


@entry("in", "other", table=False)
def stream_outer_join(b: StreamsBuilder) -> Any:
    return b.stream("in").outer_join(b.stream("other"), joined, JoinWindows(7, 2, grace=5))


@entry(table=False, topology_optimization="all")
def self_join(b: StreamsBuilder) -> Any:
    stream = b.stream("in")
    return stream.join(stream, joined, within=6)


@entry("in", "rows", table=False)
def stream_table_left_join(b: StreamsBuilder) -> Any:
    return b.stream("in").left_join(b.table("rows"), joined)


@entry("in", "rows", table=False)
def stream_versioned_join(b: StreamsBuilder) -> Any:
    return b.stream("in").join(b.table("rows", versioned=20), joined)


@entry("in", "rows", table=False)
def stream_versioned_left_join_with_grace(b: StreamsBuilder) -> Any:
    return b.stream("in").left_join(b.table("rows", versioned=20), joined, grace=9)


@entry("in", "rows", table=False)
def stream_global_join(b: StreamsBuilder) -> Any:
    return b.stream("in").left_join(b.global_table("rows"), joined, on=lambda key, value: key)


# Tables


@entry()
def source_table(b: StreamsBuilder) -> Any:
    return b.table("in", store="rows").filter(lambda value: number(value) % 2 == 0).map_values(lambda value: value * 2)


@entry()
def versioned_table(b: StreamsBuilder) -> Any:
    return b.table("in", versioned=15).map_values(lambda value: value + "!")


@entry()
def versioned_reduce(b: StreamsBuilder) -> Any:
    store = Stores.persistent_versioned_key_value_store("versions", 15)
    return b.stream("in").group_by_key().reduce(lambda total, value: f"{total}{value}"[-9:], Materialized.as_(store))


@entry()
def to_table(b: StreamsBuilder) -> Any:
    return b.stream("in").to_table().filter(lambda value: value != "1", store="filtered")


@entry()
def map_values_stored(b: StreamsBuilder) -> Any:
    return b.table("in").map_values(lambda value: None if value == "3" else value, store="mapped")


@entry("in", "other")
def table_join(b: StreamsBuilder) -> Any:
    return b.table("in").join(b.table("other"), joined)


@entry("in", "other")
def table_left_join(b: StreamsBuilder) -> Any:
    return b.table("in").left_join(b.table("other"), joined, store="joined")


@entry("in", "other")
def table_outer_join(b: StreamsBuilder) -> Any:
    return b.table("in").outer_join(b.table("other"), joined)


@entry("in", "other", "third")
def table_join_of_joins(b: StreamsBuilder) -> Any:
    one, two, three = b.table("in"), b.table("other"), b.table("third")
    return one.left_join(two, joined).outer_join(three.filter(lambda value: value != "1"), joined)


@entry("in", "other")
def windowed_table_join(b: StreamsBuilder) -> Any:
    one, two = (b.stream(topic).group_by_key().tumbling(10, grace=5) for topic in ("in", "other"))
    return one.aggregate("", append, retention=1000).left_join(two.count(retention=1000), joined)


@entry("in", "other")
def session_table_join(b: StreamsBuilder) -> Any:
    one, two = (b.stream(topic).group_by_key().session(5, grace=3) for topic in ("in", "other"))
    return one.count(retention=1000).outer_join(two.count(retention=1000), joined)


@entry("in", "keys")
def foreign_key_join(b: StreamsBuilder) -> Any:
    return b.table("in").join(b.table("keys"), joined, on=_foreign_key)


@entry("in", "keys")
def foreign_key_left_join(b: StreamsBuilder) -> Any:
    return b.table("in").left_join(b.table("keys"), joined, on=_foreign_key, store="joined")


def _foreign_key(value: str) -> str | None:
    return None if value == "0" else value


@entry()
def table_group_count(b: StreamsBuilder) -> Any:
    # A group that comes and goes within a batch is never seen with a cache; without one it stays, with 0.
    return b.table("in").group_by(lambda key, value: (value, value)).count().filter(lambda members: members > 0)


@entry()
def table_group_reduce(b: StreamsBuilder) -> Any:
    return b.table("in").group_by(_by_parity).reduce(add_member, lambda members, value: remove_member(value, members))


@entry()
def table_group_aggregate(b: StreamsBuilder) -> Any:
    return b.table("in").group_by(_by_parity).aggregate("", add_member, remove_member, name="groups")


def _by_parity(key: str, value: str) -> tuple[str, str]:
    return f"group {number(value) % 2}", f"{key}{value}"


def add_member(value: str, members: str) -> str:
    """Sets of members as text; the order of their arrival does not show."""
    return " ".join(sorted([*members.split(), *value.split()]))


def remove_member(value: str, members: str) -> str | None:
    """Fails if the member is not there; the last one takes the row with it."""
    left = members.split()
    left.remove(value)
    return " ".join(left) or None


# Processors


class _Last(ContextualProcessor[Any, Any, Any, Any]):
    """Forwards each value with the one before it."""

    def process(self, record: Record[Any, Any]) -> None:
        store = self.context.get_state_store("last")
        before = store.get(record.key) if record.key is not None else None
        if record.key is not None:
            store.put(record.key, record.value)
        self.context.forward(record.with_value(f"{before}>{record.value}"))


@entry(table=False)
def processor(b: StreamsBuilder) -> Any:
    b.add_state_store(Stores.key_value_store_builder(Stores.persistent_key_value_store("last")))
    return b.stream("in").process(_Last, "last")


class _Numbered:
    """Values with the number of changes of their key so far."""

    def init(self, context: Any) -> None:
        self._store = context.get_state_store("changes")

    def transform(self, key: Any, value: Any) -> str:
        changes = (self._store.get(key) or 0) + 1
        self._store.put(key, changes)
        return f"{value}#{changes}"


@entry()
def transform_values(b: StreamsBuilder) -> Any:
    b.add_state_store(Stores.key_value_store_builder(Stores.persistent_key_value_store("changes"), "string", "long"))
    return b.table("in", cache="off").transform_values(_Numbered, "changes", store="numbered")
