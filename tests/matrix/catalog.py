"""The matrix: every operator by name, and the one topology that holds them all.

Each operator gets topics of its own and so is a sub-topology (or several) of its own. All results go to one topic; a
header says which operator and which task wrote them.
"""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

from penstock import ContextualFixedKeyProcessor, FixedKeyRecord, KStream, KTable, StreamsBuilder, Topology
from tests.matrix import operators

PARTITIONS = 3
ORIGIN = "matrix"  # the header of results: <operator>/<task>

Kept = Literal["records", "rows", "settled rows", "nothing"]
Recipe = Callable[["Corner"], None]


@dataclass(frozen=True, slots=True)
class Entry:
    """One operator.

    Attributes:
        inputs: Topic -> kind of data (see `data`).
        recipe: Writes its topology.
        cached: What caches and restarts leave as it is: all `records`, the last of the `rows` of each key (`settled`:
            if each change is followed to its end before the next), or `nothing` (results that depend on how many
            updates there were, or when the task started).
        topics: Further topics it needs, with their partitions.
    """

    name: str
    inputs: Mapping[str, str]
    recipe: Recipe
    cached: Kept
    topics: Mapping[str, int] = field(default_factory=dict)


class Corner:
    """An operator's own part of the topology."""

    def __init__(self, builder: StreamsBuilder, entry: Entry, prefix: str) -> None:
        self.builder = builder
        self._name = entry.name
        self._prefix = prefix

    def topic(self, name: str) -> str:
        """The real name of a topic."""
        return f"{self._prefix}-{self._name}-{name}"

    def stream(self, topic: str = "in", **options: Any) -> KStream[Any, Any]:
        return self.builder.stream(self.topic(topic), **options)

    def table(self, topic: str = "in", **options: Any) -> KTable[Any, Any]:
        return self.builder.table(self.topic(topic), **options)

    def write(self, result: KStream[Any, Any] | KTable[Any, Any], **options: Any) -> None:
        """Write to the topic of all results."""
        stream = result.to_stream() if isinstance(result, KTable) else result
        self.tagged(stream).to(output_topic(self._prefix), **options)

    def tagged(self, stream: KStream[Any, Any]) -> KStream[Any, Any]:
        """Values as text, with the header that says where they come from."""
        name = self._name
        return stream.map_values(_text).process_values(lambda: _Origin(name))


class _Origin(ContextualFixedKeyProcessor[Any, Any, Any]):
    def __init__(self, operator: str) -> None:
        self._operator = operator

    def process(self, record: FixedKeyRecord[Any, Any]) -> None:
        origin = f"{self._operator}/{self.context.task_id}"
        self.context.forward(record.with_headers([*record.headers, (ORIGIN, origin.encode())]))


def _text(value: Any) -> str | None:
    return None if value is None else str(value)


_entries: dict[str, Entry] = {}


def operator(
    kind: str = "events",
    *,
    cached: Kept = "records",
    topics: Mapping[str, int] | None = None,
    name: str | None = None,
    **inputs: str,
) -> Callable[[Recipe], Recipe]:
    """Enter an operator that reads the topics given as keywords, or one topic `in` of a kind."""

    def enter(recipe: Recipe) -> Recipe:
        entry = Entry(name or recipe.__name__, inputs or {"in": kind}, recipe, cached, topics or {})
        _entries[entry.name] = entry
        return recipe

    return enter


@functools.cache
def catalog() -> Mapping[str, Entry]:
    """All operators."""
    for module in pkgutil.iter_modules(operators.__path__):
        importlib.import_module(f"{operators.__name__}.{module.name}")
    return dict(sorted(_entries.items()))


def output_topic(prefix: str) -> str:
    """The topic of all results."""
    return f"{prefix}-out"


@dataclass(frozen=True, slots=True)
class Matrix:
    """Operators in one topology.

    Attributes:
        inputs: Topics to fill -> kind of data.
        topics: All topics to create -> partitions.
    """

    topology: Topology
    inputs: dict[str, str]
    topics: dict[str, int]
    output: str


def build(entries: Iterable[Entry], prefix: str, config: Mapping[str, Any]) -> Matrix:
    """All operators in one topology, on topics that start with a prefix."""
    builder = StreamsBuilder(config)
    inputs: dict[str, str] = {}
    topics = {output_topic(prefix): PARTITIONS}
    for entry in entries:
        corner = Corner(builder, entry, prefix)
        entry.recipe(corner)
        inputs.update({corner.topic(topic): kind for topic, kind in entry.inputs.items()})
        topics.update({corner.topic(topic): PARTITIONS for topic in entry.inputs})
        topics.update({corner.topic(topic): partitions for topic, partitions in entry.topics.items()})
    return Matrix(builder.build(config), inputs, topics, output_topic(prefix))
