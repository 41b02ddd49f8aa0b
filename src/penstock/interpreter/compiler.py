"""Compiles a sub-topology into a chain of closures, once for each task.

Each node becomes one function that calls its children directly: no dispatch, no record object and no attribute
look-up for each record and hop. Chains of stateless operators become one generated function (`fusion`).

Signatures: a node that takes a stream is `process(key, value, timestamp)`; one that takes a table is
`process(key, new, old, timestamp, is_latest)`. Headers travel in the task context.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from types import CellType, FunctionType
from typing import Any, TypeVar

from penstock.errors import TopologyError
from penstock.interpreter.config import TaskConfig
from penstock.interpreter.context import Saved, Shared, TaskContext
from penstock.interpreter.drain import compile_drain, drains
from penstock.interpreter.fusion import STATEMENTS, Chain, Tail, compile_chain, compile_loop
from penstock.interpreter.loops import Loop
from penstock.interpreter.sink import ColumnSink
from penstock.interpreter.tracing import name_code
from penstock.interpreter.views import TableReader, compile_view
from penstock.records import Change
from penstock.state.caching import Drain
from penstock.state.without_headers import without_headers
from penstock.topology.nodes import ProcessorNode, SinkNode
from penstock.topology.operators import Edge, FlatMap, FlatMapValues, Operator, TableMapValues, TableToStream
from penstock.topology.topology import Topology
from penstock.topology.views import View

Process = Callable[..., None]
Builder = Callable[[Any, "NodeContext"], Process]
O = TypeVar("O", bound=Operator)  # noqa: E741 - O for operator

# The names under which operators keep their own stream time: as a variable of their function, or in a shared object.
CLOCKS = frozenset({"observed", "join_time"})
CLOCK_FIELDS = ("time", "earliest", "next_scan")
_MOST_LOOPS = 15  # of one chain; Python takes 20 blocks in each other
_BUILDERS: dict[type[Operator], Builder] = {}


def builds(operator: type[O]) -> Callable[[Callable[[O, NodeContext], Process]], Callable[[O, NodeContext], Process]]:
    """Register the builder of an operator's code."""

    def register(builder: Callable[[O, NodeContext], Process]) -> Callable[[O, NodeContext], Process]:
        _BUILDERS[operator] = builder
        return builder

    return register


class NodeContext:
    """What a builder may use: the node's place in the task. Builders bind what they need and let this go."""

    def __init__(self, compiler: Compiler, node: ProcessorNode, gives: Edge) -> None:
        self._compiler = compiler
        self._gives = gives
        self.node = node
        self.name = node.name
        self.context = compiler.context
        self.config = compiler.config
        self.services = compiler.services

    @property
    def forward(self) -> Process:
        """Forward to all children, in the order they were added."""
        return self._compiler.forward_to(self.node.name, self._gives)

    def child(self, name: str) -> Process:
        """One child."""
        return self._compiler.edge(name, self._gives)

    @property
    def children(self) -> tuple[str, ...]:
        """Names of the children."""
        return self._compiler.children(self.node.name)

    def store(self, name: str) -> Any:
        """A store of the task by name; operators do not see the headers that it may keep."""
        return without_headers(self._compiler.stores[name])

    def whole_store(self, name: str) -> Any:
        """A store of the task with all that it keeps, as users see it."""
        return self._compiler.stores[name]

    def store_for_user(self, name: str) -> Any:
        """A store that user code asked for: only connected and global ones can be had."""
        stores, topology = self._compiler.stores, self._compiler.topology
        if name in self.node.stores or name in topology.global_stores:
            return stores[name]
        known = name in topology.stores
        raise TopologyError(
            f"processor {self.name} is not connected to the store {name!r}"
            if known
            else f"processor {self.name} asks for the store {name!r}, which does not exist",
            node=self.name,
            line=self.node.line,
            hint=f'Name it when you add the processor: process(..., "{name}"), or call '
            f'topology.connect_processor_and_state_stores("{self.name}", "{name}").'
            if known
            else f"Stores: {', '.join(sorted(topology.stores)) or 'none'}. Add it with add_state_store(builder).",
        )

    def offer_tail(self, *lines: str, **names: Any) -> None:
        """This node as statements that the chain above it may end with, instead of a call, also in a loop: see `offer_loop`."""
        self._compiler.tails[self.name] = Tail(self.name, names, lines)

    def offer_loop(self, loop: Loop) -> None:
        """This node for many records at a time; it forwards nothing and does not look at the context."""
        self._compiler.loops[self.name] = loop

    def view(self, view: View, *, forwarded: bool = False) -> TableReader:
        """Read access to a table, through its nearest store; `forwarded` leaves out what a cache still holds back."""
        return compile_view(view, self, forwarded=forwarded)

    def drop(self, reason: str) -> Callable[[], None]:
        """A function that counts one dropped record by reason; bind it once."""
        return self.context.dropper(self.name, reason)

    def shared(self, name: str, factory: Callable[[], Any]) -> Any:
        """An object that several nodes of the task share, made by the first that asks."""
        shared = self._compiler.shared
        if name not in shared:
            shared[name] = factory()
        return shared[name]

    def saved(self, default: int) -> Saved:
        """An int of this node that is kept with the commit."""
        return self.context.saved(self.name, default)

    def key_serde(self, serde: Any) -> Any:
        """The serde, or the configured default for keys."""
        return self.config.key_serde(serde, self.name)

    def value_serde(self, serde: Any) -> Any:
        """The serde, or the configured default for values."""
        return self.config.value_serde(serde, self.name)

    def table_forwarder(self, store: Any, send_old: bool) -> Process:  # noqa: FBT001 - a setting of the spec
        """How the result of a materialised table goes on.

        A cached store forwards when it flushes, so this gives a function that does nothing; else updates go on at once.
        """
        forward = self.forward
        if getattr(store, "cached", False):
            context = self.context

            def from_cache(key: Any, new: Any, old: Any, timestamp: int, headers: Any) -> None:
                before = context.headers
                context.headers = headers
                forward(key, new, old, timestamp, True)
                context.headers = before

            store.set_flush_listener(
                name_code(from_cache, self.name), send_old, copies=self._compiler.copies(self.name)
            )
            raw_sink = self._compiler.raw_sink(self.name, store)
            if raw_sink is not None:
                store.set_raw_listener(raw_sink)
            elif not send_old and (drain := self._compiler.drain(self.name)) is not None:
                store.set_drain(drain)
            return _nothing
        if send_old:
            return forward

        def without_old(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
            forward(key, new, None, timestamp, is_latest)

        return name_code(without_old, self.name)


def _nothing(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
    pass


class Compiler:
    """Turns the nodes of one task into closures."""

    def __init__(
        self,
        topology: Topology,
        context: TaskContext,
        config: TaskConfig,
        stores: Mapping[str, Any],
        sink: Callable[[SinkNode], Process],
        services: Any = None,
        guard: Callable[[Process, Edge], Process] | None = None,
        raw_sink: Callable[[SinkNode, Any], ColumnSink | None] | None = None,
        column_sink: Callable[[SinkNode], ColumnSink | None] | None = None,
    ) -> None:
        self.topology = topology
        self.context = context
        self.config = config
        self.stores = stores
        self.shared: Shared = {}
        self.tails: dict[str, Tail] = {}
        self.loops: dict[str, Loop] = {}
        self.services = services
        self._sink = sink
        self._raw_sink = raw_sink
        self._column_sink = column_sink
        # With a processing handler that may resume, each node (or fused chain) is guarded by a try of its own.
        self._guard = guard
        self._compiled: dict[str, Process] = {}
        self._clocks: dict[str, CellType] = {}
        self._children: dict[str, tuple[str, ...]] = {}

    def children(self, name: str) -> tuple[str, ...]:
        """Names of the nodes below a node."""
        if not self._children:
            below: dict[str, list[str]] = {}
            for node in self.topology.nodes.values():
                for parent in getattr(node, "parents", ()):
                    below.setdefault(parent, []).append(node.name)
            self._children = {parent: tuple(names) for parent, names in below.items()}
        return self._children.get(name, ())

    def forward_to(self, name: str, gives: Edge) -> Process:
        """A function that calls all children of a node in order."""
        children = [self.edge(child, gives) for child in self.children(name)]
        if len(children) == 1:
            return children[0]
        if not children:
            return _ignore_stream if gives is Edge.STREAM else _nothing
        return _fan_out(children, gives)

    def edge(self, name: str, gives: Edge) -> Process:
        """The function of a node, seen from a parent that gives streams or tables."""
        process = self.process(name)
        takes = self._takes(name)
        if takes is gives:
            return process
        if gives is Edge.STREAM:
            raise TopologyError(f"node {name} takes table updates but its parent gives a stream", node=name)

        def as_change(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
            process(key, Change(new, old, is_latest), timestamp)

        return as_change

    def _takes(self, name: str) -> Edge:
        node = self.topology.nodes[name]
        return node.operator.takes if isinstance(node, ProcessorNode) else Edge.STREAM

    def process(self, name: str) -> Process:
        """The function of a node, compiled on first use."""
        if name not in self._compiled:
            node = self.topology.nodes[name]
            if isinstance(node, SinkNode):
                process = name_code(self._sink(node), name)
            elif isinstance(node, ProcessorNode):
                process = self._compile(node)
            else:
                raise TypeError(f"a source has no process function: {name}")
            if self._guard is not None:
                process = self._guard(process, self._takes(name))
            self._compiled[name] = process
        return self._compiled[name]

    def _compile(self, node: ProcessorNode) -> Process:
        operator = node.operator
        if type(operator) in STATEMENTS:
            chain = self._chain(node)
            below, forward = self.children(chain[-1].name), self.forward_to(chain[-1].name, Edge.STREAM)
            tail = self.tails.get(below[0]) if len(below) == 1 and self._guard is None else None
            if tail is not None:
                loop = compile_loop(chain, self.context, tail)
                if loop is not None:
                    self.loops[node.name] = loop
            return compile_chain(chain, self.context, forward, tail)
        builder = _BUILDERS.get(type(operator))
        if builder is None:
            raise TypeError(f"no builder for {type(operator).__name__}")
        process = builder(operator, NodeContext(self, node, operator.gives))
        if isinstance(process, FunctionType):
            for name, cell in zip(process.__code__.co_freevars, process.__closure__ or (), strict=True):
                if name in CLOCKS:
                    self._clocks[f"{node.name} {name}"] = cell
        return name_code(process, node.name)

    def loop_below(self, name: str) -> Loop | None:
        """The nodes below a source for many records at a time, if they can take them."""
        below = self.children(name)
        return self.loops.get(below[0]) if len(below) == 1 and self._guard is None else None

    def drain(self, name: str) -> Drain | None:
        """A loop that takes the updates of a table to a sink, if nothing but stateless operators stands between."""
        if self._column_sink is None or self._guard is not None:
            return None
        path: Chain = []
        while len(below := self.children(name)) == 1:
            node = self.topology.nodes[name := below[0]]
            if isinstance(node, SinkNode):
                sink = self._column_sink(node)
                return None if sink is None else compile_drain(path, self.context, sink)
            if not isinstance(node, ProcessorNode) or not drains(node.operator):
                return None
            path.append(node)
        return None

    def raw_sink(self, name: str, store: Any) -> ColumnSink | None:
        """A sink that takes the rows of a table's store as they are, if nothing but it stands below the table."""
        if self._raw_sink is None or self._guard is not None or store.kind != "timestamped_key_value":
            return None
        below = [self.topology.nodes[child] for child in self.children(name)]
        if len(below) == 1 and isinstance(below[0], ProcessorNode) and isinstance(below[0].operator, TableToStream):
            below = [self.topology.nodes[child] for child in self.children(below[0].name)]
            if len(below) == 1 and isinstance(below[0], SinkNode):
                return self._raw_sink(below[0], store)
        return None

    def copies(self, name: str) -> bool:
        """Whether all that stands below a table makes new values of its values before anything else sees them."""
        below = [self.topology.nodes[child] for child in self.children(name)]
        operators = [node.operator for node in below if isinstance(node, ProcessorNode)]
        return len(operators) == len(below) and all(
            isinstance(operator, TableMapValues) and operator.mapper.copies for operator in operators
        )

    def clocks(self) -> dict[str, int]:
        """Operator stream times: variables of the operators' functions, and clocks that two sides of a join share."""
        found: dict[str, int] = {name: cell.cell_contents for name, cell in self._clocks.items()}
        for name, shared in self.shared.items():
            for field in CLOCK_FIELDS:
                if hasattr(shared, field):
                    found[f"{name} {field}"] = getattr(shared, field)
        return found

    def set_clocks(self, clocks: Mapping[str, int]) -> None:
        """Continue with these operator stream times."""
        for name, cell in self._clocks.items():
            cell.cell_contents = clocks.get(name, cell.cell_contents)
        for name, shared in self.shared.items():
            for field in CLOCK_FIELDS:
                if f"{name} {field}" in clocks:
                    setattr(shared, field, clocks[f"{name} {field}"])

    def _chain(self, node: ProcessorNode) -> Chain:
        """The node and all stateless nodes below it, as long as there is exactly one child."""
        chain, loops = [node], 0
        # Under a guard a chain ends with a loop: what fails below skips its own record, not the loop's other ones.
        most = _MOST_LOOPS if self._guard is None else 1
        while (loops := loops + isinstance(chain[-1].operator, (FlatMap, FlatMapValues))) < most:
            children = self.children(chain[-1].name)
            if len(children) != 1:
                break
            child = self.topology.nodes[children[0]]
            if not isinstance(child, ProcessorNode) or type(child.operator) not in STATEMENTS:
                break
            chain.append(child)
        return chain


def _ignore_stream(key: Any, value: Any, timestamp: int) -> None:
    pass


def _fan_out(children: list[Process], gives: Edge) -> Process:
    """One function that calls several; generated, because a loop over a list costs more than the calls."""
    arguments = "key, value, timestamp" if gives is Edge.STREAM else "key, new, old, timestamp, is_latest"
    names = [f"child{i}" for i in range(len(children))]
    calls = "\n".join(f"        {name}({arguments})" for name in names)
    source = f"def make({', '.join(names)}):\n    def fan_out({arguments}):\n{calls}\n    return fan_out\n"
    namespace: dict[str, Any] = {}
    exec(compile(source, "<penstock fan-out>", "exec"), namespace)  # noqa: S102 - our own text
    made = namespace["make"](*children)
    assert isinstance(made, FunctionType)
    return made
