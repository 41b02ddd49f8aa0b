"""One operator between a source and an observer: what it forwards, record by record, without the DSL above it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, NamedTuple

from penstock.records import Change, Headers, Window, Windowed
from penstock.serde import resolve_serde
from penstock.state.builders import StoreBuilder
from penstock.testing import TopologyTestDriver
from penstock.topology.nodes import ProcessorNode, SourceNode
from penstock.topology.operators import Edge, Operator, Process, TableSource
from penstock.topology.topology import Topology

Input = tuple[Any, Any, int]

JSON: dict[str, Any] = {"key_serde": "string", "value_serde": "json"}


def w(key: Any, start: int, end: int) -> Windowed[Any]:
    """A windowed key."""
    return Windowed(key, Window(start, end))


class Seen(NamedTuple):
    """A record that reached the observer; `old` is None for streams and where no old value was sent."""

    key: Any
    new: Any
    timestamp: int
    old: Any = None
    is_latest: bool = True


class _Observer:
    def __init__(self, seen: list[Seen], headers: list[Headers]) -> None:
        self._seen = seen
        self._headers = headers

    def process(self, record: Any) -> None:
        new, old, is_latest = record.value if isinstance(record.value, Change) else (record.value, None, True)
        self._seen.append(Seen(record.key, new, record.timestamp, old, is_latest))
        self._headers.append(record.headers)


class Run:
    """A topology `source -> [table ->] operator -> observer` in a test driver.

    Args:
        operator: What is tested, or several one below the other.
        stores: The builders of its stores.
        caching: Whether stores that ask for a cache get one.
        table: A builder for the store of a source table above the operator; needed if it takes table changes.
        config: More settings.
    """

    def __init__(
        self,
        *operators: Operator,
        stores: Iterable[StoreBuilder] = (),
        caching: bool = False,
        table: StoreBuilder | None = None,
        config: Mapping[str, Any] | None = None,
        key_serde: Any = "string",
        value_serde: Any = "json",
    ) -> None:
        self.seen: list[Seen] = []
        self.headers: list[Headers] = []
        self.topology = Topology()
        nodes = self.topology.nodes
        nodes["source"] = SourceNode("source", ("in",), key_serde=key_serde, value_serde=value_serde)
        builders = {builder.name: builder for builder in (*stores, *((table,) if table else ()))}
        self.topology.stores.update(builders)
        chain = list(operators)
        if operators[0].takes is Edge.TABLE:
            chain.insert(0, TableSource(table.name if table else None, send_old=table is not None))
        parent = "source"
        for i, operator in enumerate(chain):
            nodes[f"node-{i}"] = ProcessorNode(f"node-{i}", (parent,), operator, tuple(builders))
            parent = f"node-{i}"
        supplier = lambda: _Observer(self.seen, self.headers)  # noqa: E731
        nodes["observer"] = ProcessorNode("observer", (parent,), Process(supplier))
        settings = {"statestore.cache.max.bytes": 1 << 20 if caching else 0, **(config or {})}
        self.driver = TopologyTestDriver(self.topology, settings, wall_clock=0)
        self._input = self.driver.create_input_topic("in")
        self._encode = resolve_serde(key_serde).serialize, resolve_serde(value_serde).serialize

    def pipe(self, *inputs: Input, headers: Iterable[tuple[str, bytes]] = ()) -> list[Seen]:
        """What the observer saw of these (key, value, timestamp) records."""
        before = len(self.seen)
        for key, value, timestamp in inputs:
            self._input.pipe_input(key, value, timestamp=timestamp, headers=headers)
        return self.seen[before:]

    def batch(self, *inputs: Input) -> list[Seen]:
        """As `pipe`, but caches are flushed once, after the last record, as at the end of a micro-batch."""
        before = len(self.seen)
        task = self.driver._task
        source = task.source("in", 0)
        encode_key, encode_value = self._encode
        for key, value, timestamp in inputs:
            record = source.prepare(0, timestamp, encode_key("in", key), encode_value("in", value), None)
            assert record is not None
            source.process(record)
        task.flush()
        return self.seen[before:]

    @property
    def dropped(self) -> dict[str, int]:
        """Drops by reason."""
        return {k: n for k, n in self.driver.metrics.items() if k != "dropped-records-total"}
