"""A user's transformer of a table's values: `init(context)`, `transform(key, value)`, `close()`.

Unlike a mapper it is called with tombstones too, may keep state and read stores; it cannot forward.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.errors import StreamsError
from penstock.functions import MAPPER, function
from penstock.interpreter.compiler import NodeContext, builds
from penstock.interpreter.materialize import materialize
from penstock.interpreter.process import ProcessorContext
from penstock.interpreter.views import Row, TableReader
from penstock.records import NO_HEADERS
from penstock.topology.operators import TableTransformValues
from penstock.topology.views import TransformValuesView

Transform = Callable[[Any, Any], Any]


class TransformerContext(ProcessorContext):
    """What a transformer may do: everything a processor may, but forward."""

    def __init__(self, node: NodeContext, stores: tuple[str, ...] = ()) -> None:
        super().__init__(node, node.services)
        self._stores = stores  # stores of a transformer that another node reads through

    def forward(self, record: Any, child: str | None = None) -> None:
        raise StreamsError(
            f"the transformer of {self._node.name} forwards a record",
            hint="Return the new value; to forward any number of records use to_stream().process(...).",
        )

    def get_state_store(self, name: str) -> Any:
        return self._node.whole_store(name) if name in self._stores else super().get_state_store(name)


def _transformer(supplier: Any, node: NodeContext, stores: tuple[str, ...] = ()) -> Transform:
    """A new transformer as a function of (key, value); the task calls its init and close."""
    get = None if isinstance(supplier, type) else getattr(supplier, "get", None)
    transformer = supplier() if get is None else get()
    method = getattr(transformer, "transform", None)
    if not callable(method):
        raise StreamsError(
            f"the supplier of {node.name} gave {transformer!r}, which has no transform(key, value) method",
            hint="Give a class with a transform method, or a function that returns a new object of one.",
        )
    node.services.processors.append((node.name, transformer, TransformerContext(node, stores)))
    return function(method, MAPPER, f"transform of {node.name}", line=node.node.line).bind("key", "value")


@builds(TableTransformValues)
def table_transform_values(operator: TableTransformValues, node: NodeContext) -> Callable[..., None]:
    """Transform the new value, and the old one too unless the table's own store has it."""
    transform, send_old = _transformer(operator.supplier, node), operator.send_old
    if operator.store is not None:
        store = node.store(operator.store)
        old_row, keep = materialize(node, store, send_old=send_old, read_old=send_old and not store.cached)

        def process_kept(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
            new = transform(key, new)
            keep(key, new, old_row(key), timestamp)

        return process_kept
    forward = node.forward

    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        new = transform(key, new)
        forward(key, new, transform(key, old) if send_old else None, timestamp, is_latest)

    return process


def read_transform_values(view: TransformValuesView, parent: TableReader, node: NodeContext) -> TableReader:
    """Rows of a transformed table without a store: the parent's row is transformed when it is read.

    The reader has a transformer of its own. While it runs there is no current record, only the row's timestamp.
    """
    transform = _transformer(view.supplier, node, view.stores)
    context = node.context

    def transformed(key: Any, row: Row) -> Row:
        value, timestamp = row or (None, -1)
        before = context.topic, context.partition, context.offset, context.timestamp, context.headers
        context.topic, context.partition, context.offset = None, -1, -1
        context.timestamp, context.headers = timestamp, NO_HEADERS
        try:
            value = transform(key, value)
        finally:
            context.topic, context.partition, context.offset, context.timestamp, context.headers = before
        return None if value is None else (value, timestamp)

    get, get_as_of = parent
    return TableReader(
        lambda key: transformed(key, get(key)),
        None if get_as_of is None else lambda key, timestamp: transformed(key, get_as_of(key, timestamp)),
    )
