"""Reading a table that is not the operator's own: a chain of functions up to the nearest store."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, NamedTuple

from penstock.functions import Function
from penstock.topology.views import (
    FilterView,
    JoinView,
    MapValuesView,
    StoreView,
    SuppressView,
    TransformValuesView,
    View,
)

if TYPE_CHECKING:
    from penstock.interpreter.compiler import NodeContext

Row = tuple[Any, int] | None  # (value, timestamp), or no row
Get = Callable[[Any], Row]


class TableReader(NamedTuple):
    """Read access to a table.

    Attributes:
        get: The current row of a key.
        get_as_of: The row of a key at a time; None where the table keeps no versions.
    """

    get: Get
    get_as_of: Callable[[Any, int], Row] | None


def compile_view(view: View, node: NodeContext, *, forwarded: bool = False) -> TableReader:
    """The functions that read a view in this task.

    Args:
        view: What to read.
        node: Who reads.
        forwarded: Read rows as they were last forwarded, not what a cache has collected since.
    """

    def reader(other: View) -> TableReader:
        return compile_view(other, node, forwarded=forwarded)

    if isinstance(view, StoreView):
        store = node.store(view.store)
        return _read_forwarded(store) if forwarded and getattr(store, "cached", False) else _read_store(store)
    if isinstance(view, FilterView):
        return _read_filter(reader(view.parent), view.predicate, view.negate)
    if isinstance(view, MapValuesView):
        return _read_map_values(reader(view.parent), view.mapper)
    if isinstance(view, TransformValuesView):
        from penstock.interpreter.transform_values import read_transform_values

        return read_transform_values(view, reader(view.parent), node)
    if isinstance(view, JoinView):
        return _read_join(view, reader(view.left), reader(view.right))
    if isinstance(view, SuppressView):
        return _read_suppress(node.store(view.buffer), reader(view.parent))
    raise TypeError(f"no reader for {type(view).__name__}")


def is_held_back(view: View, node: NodeContext) -> bool:
    """Whether all changes of a table wait in a cache until the end of a batch."""
    if isinstance(view, StoreView):
        return bool(getattr(node.store(view.store), "cached", False))
    if isinstance(view, JoinView):
        return is_held_back(view.left, node) and is_held_back(view.right, node)
    if isinstance(view, FilterView | MapValuesView | TransformValuesView | SuppressView):
        return is_held_back(view.parent, node)
    raise TypeError(f"no caches known of {type(view).__name__}")


def _read_forwarded(store: Any) -> TableReader:
    """A cached store without what it has collected since the last flush."""
    if store.kind == "timestamped_key_value":
        return TableReader(store.get_forwarded, None)
    if store.kind == "timestamped_window":
        return TableReader(lambda key: store.fetch_forwarded(key.key, key.window.start), None)

    def get_session(key: Any) -> Row:
        aggregate = store.fetch_forwarded(key.key, key.window.start, key.window.end)
        return None if aggregate is None else (aggregate, key.window.end)

    return TableReader(get_session, None)


def _read_store(store: Any) -> TableReader:
    kind = store.kind
    if kind == "timestamped_key_value":
        return TableReader(store.get, None)
    if kind == "versioned":
        return _read_versioned(store)
    if kind == "key_value":

        def get_plain(key: Any) -> Row:
            value = store.get(key)
            return None if value is None else (value, -1)

        return TableReader(get_plain, None)
    if kind in ("timestamped_window", "window"):
        timestamped = kind == "timestamped_window"

        def get_window(key: Any) -> Row:
            row: Any = store.fetch(key.key, key.window.start)
            return row if timestamped or row is None else (row, -1)

        return TableReader(get_window, None)

    def get_session(key: Any) -> Row:
        window = key.window
        aggregate = store.fetch_session(key.key, window.start, window.end)
        return None if aggregate is None else (aggregate, window.end)

    return TableReader(get_session, None)


def _read_versioned(store: Any) -> TableReader:
    def get(key: Any) -> Row:
        record = store.get(key)
        return None if record is None else (record.value, record.timestamp)

    def get_as_of(key: Any, timestamp: int) -> Row:
        record = store.get(key, timestamp)
        return None if record is None else (record.value, record.timestamp)

    return TableReader(get, get_as_of)


def _read_filter(parent: TableReader, predicate: Function, negate: bool) -> TableReader:  # noqa: FBT001
    holds = predicate.bind("key", "value")

    def keep(key: Any, row: Row) -> Row:
        return row if row is not None and row[0] is not None and bool(holds(key, row[0])) != negate else None

    return _mapped(parent, keep)


def _read_map_values(parent: TableReader, mapper: Function) -> TableReader:
    apply = mapper.bind("key", "value", *(["timestamp"] if "timestamp" in mapper.parameters else []))
    timed = "timestamp" in mapper.parameters

    def mapped(key: Any, row: Row) -> Row:
        if row is None or row[0] is None:
            return None
        return (apply(key, row[0], row[1]) if timed else apply(key, row[0])), row[1]

    return _mapped(parent, mapped)


def _mapped(parent: TableReader, change: Callable[[Any, Row], Row]) -> TableReader:
    """A reader whose rows are the parent's, changed."""
    parent_get, parent_as_of = parent
    if parent_as_of is None:
        return TableReader(lambda key: change(key, parent_get(key)), None)
    return TableReader(
        lambda key: change(key, parent_get(key)),
        lambda key, timestamp: change(key, parent_as_of(key, timestamp)),
    )


def _read_join(view: JoinView, left: TableReader, right: TableReader) -> TableReader:
    """Join when read; the timestamp is the larger of the two rows'."""
    join = view.joiner.bind("key", "left", "right")
    kind = view.kind
    get_left, get_right = left.get, right.get

    def get(key: Any) -> Row:
        left_row, right_row = get_left(key), get_right(key)
        left_value, left_time = left_row or (None, -1)
        right_value, right_time = right_row or (None, -1)
        if left_value is None and (kind != "outer" or right_value is None):
            return None
        if right_value is None and kind == "inner":
            return None
        return join(key, left_value, right_value), max(left_time, right_time)

    return TableReader(get, None)


def _read_suppress(buffer: Any, parent: TableReader) -> TableReader:
    """A buffered key shows what was last emitted, which the buffer keeps as the old value."""
    parent_get = parent.get

    def get(key: Any) -> Row:
        found, row = buffer.last_emitted(key)
        return row if found else parent_get(key)

    return TableReader(get, None)
