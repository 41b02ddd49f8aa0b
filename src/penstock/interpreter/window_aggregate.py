"""Aggregation by time windows: tumbling, hopping, and the unlimited window.

A record belongs to every window with start <= timestamp < start + size; starts are multiples of the advance. A window
takes records while its end lies after stream time less grace; a record that comes later is dropped for that window
and counted, and may be on time for the next one. Null values are aggregated. Each window gives one update.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.interpreter.aggregate import updates_in_place
from penstock.interpreter.compiler import NodeContext, builds
from penstock.interpreter.generated import Code, next_aggregate, next_isolated
from penstock.interpreter.window_close import Closed, close_emitter
from penstock.records import Window, Windowed
from penstock.state.cells import HEADERS, SEQUENCE, TIMESTAMP, VALUE
from penstock.topology.operators import WindowAggregate
from penstock.windows import TimeWindows, UnlimitedWindows

_PANES = 16  # groups of windows that are kept at hand, for records that are a little out of order


@builds(WindowAggregate)
def window_aggregate(operator: WindowAggregate, node: NodeContext) -> Callable[..., None]:
    """Generate one function for exactly these windows, this aggregation and this store."""
    code, windows, store = Code(node.name), operator.windows, node.store(operator.store)
    code.variables["observed"] = "-1"
    drop_key = code.bind("drop_key", node.drop("null key in an aggregation"))
    code.write("if key is None:", f"    {drop_key}()", "    return")
    code.write("if timestamp > observed:", "    observed = timestamp")
    if operator.emit_on_close and isinstance(windows, TimeWindows):
        code.bind("emit_closed", _emit_closed(node, store, windows))
        code.write(f"emit_closed(observed - {windows.grace})", indent=1)
    if isinstance(windows, UnlimitedWindows):
        code.bind("drop_early", node.drop("before the unlimited window"))
        code.write(f"if timestamp < {windows.start}:", "    drop_early()", "    return", f"start = {windows.start}")
    else:
        code.bind("drop_late", node.drop("late for its window"))
        _write_starts(code, windows)
    if updates_in_place(operator.aggregation, node, store):
        _update_in_place(code, operator, node, store)
        process, loop = code.compile()
        if not operator.emit_on_close:  # what is emitted has the time and the headers of the record in hand
            node.offer_loop(loop)
        return process
    _read_and_write(code, operator, node, store)
    return code.compile()[0]


def _write_starts(code: Code, windows: TimeWindows) -> None:
    """Find the windows of a record: `start` of the only one, or `first` and `last`, without those that are closed."""
    size, advance, kept = windows.size, windows.advance, windows.size + windows.grace
    if size == advance:
        code.write(f"start = timestamp - timestamp % {size}")
        code.write(f"if start <= observed - {kept}:", "    drop_late()", "    return")
        return
    code.hops = True
    code.write(f"last = timestamp - timestamp % {advance}")
    if size % advance:
        code.write(f"first = timestamp - {size - advance}", f"first = first - first % {advance} if first > 0 else 0")
    else:
        code.write(f"first = last - {size - advance}", "if first < 0: first = 0")
    code.write(f"if first <= observed - {kept}:", f"    closed = observed - {kept}")
    code.write("while first <= closed and first <= last:", "    drop_late()", f"    first += {advance}", indent=1)
    code.write("if first > last: return", indent=1)


def _read_and_write(code: Code, operator: WindowAggregate, node: NodeContext, store: Any) -> None:
    """Read the row of each window, write it, and forward unless the store's cache or the close of the window does."""
    code.bind("fetch", store.fetch_window)
    code.bind("write", store.write)
    windows, indent = operator.windows, int(code.hops)
    if isinstance(windows, TimeWindows) and code.hops:
        code.write(f"for start in range(first, last + 1, {windows.advance}):")
    code.write(
        "row = fetch(key, start)",
        "if row is None:",
        "    old = None",
        "    changed_at = timestamp",
        "else:",
        "    old, changed_at = row",
        "    if timestamp > changed_at: changed_at = timestamp",
        *next_aggregate(code, operator.aggregation),
        indent=indent,
    )
    if operator.send_old and operator.aggregation.mutates and store.value_serde.mutable and not store.cached:
        # The aggregator may have changed the object it got: the old value is read again to send it on intact.
        code.write("if row is not None: old = fetch(key, start)[0]", indent=indent)
    if store.cached:
        # A tombstone that comes out of a cache has the timestamp of its record.
        code.write("if new is None: changed_at = timestamp", indent=indent)
    code.write("write(key, start, new, changed_at)", indent=indent)
    if operator.emit_on_close:
        return
    forward = node.table_forwarder(store, operator.send_old)
    if not store.cached:
        code.bind("forward", forward)
        code.bind("Window", Window)
        code.bind("Windowed", Windowed)
        end = f"start + {windows.size}" if isinstance(windows, TimeWindows) else windows.end
        code.write(f"forward(Windowed(key, Window(start, {end})), new, old, changed_at, True)", indent=indent)


def _update_in_place(code: Code, operator: WindowAggregate, node: NodeContext, store: Any) -> None:
    """Update the cells of the cache, which forwards them when it is flushed.

    Measured, hopping windows, 5 for each record, against a loop written by hand over a dict of (key, start), both with
    JSON in and out: 1.2 times its time for a sum, 1.4 times for a dict that is changed in place. Finding the windows'
    dicts once for all records between two window starts, instead of a tuple for each record and window, saved a quarter
    of the whole.
    """
    store.use_cells()
    if not operator.emit_on_close:
        node.table_forwarder(store, operator.send_old)
    for name, value in {"load": store.load, "tick": store.tick, "context": node.context}.items():
        code.bind(name, value)
    code.bind("open_window", store.open_window)
    windows, indent, cell_key = operator.windows, int(code.hops), "key"
    if not store.key_identity:
        code.bind("raw_key", store.raw_key)
        code.write("cell_key = raw_key(key)")
        cell_key = "cell_key"
    if code.hops and isinstance(windows, TimeWindows):
        code.bind("panes", {})
        code.write(
            "pane = panes.get(last)",
            "if pane is None or pane[0][1] != first:",
            f"    if len(panes) > {_PANES}: panes.clear()",
            "    pane = panes[last] = [",
            f"        (open_window(start).get, start) for start in range(first, last + 1, {windows.advance})",
            "    ]",
        )
    else:
        code.variables |= {"pane": "-1", "get": "None"}
        code.write("if start != pane:", "    pane = start", "    get = open_window(start).get")
    if operator.aggregation.mutates and store.value_serde.mutable:
        code.write("own = None")
        following = next_isolated(code, operator.aggregation, store.value_serde)
    else:
        following = next_aggregate(code, operator.aggregation)
    if code.hops and operator.aggregation.kind == "expression":
        # Windows that took the same records share one state, which an expression never changes: it is made once for all
        # of them, and serialised once. With five windows a record and hardly two records a window, the aggregator alone
        # had a fifth of a slot's time.
        code.write("shared = missing")
        code.bind("missing", object())
        following = [
            "if old is not shared:",
            "    shared = old",
            *(f"    {statement}" for statement in following),
        ]
    if code.hops:
        code.write("for get, start in pane:")
    code.write(
        f"cell = get({cell_key})",
        "if cell is None: cell = load(key, start)",
        f"old = cell[{VALUE}]",
        *following,
        # A tombstone that comes out of a cache has the timestamp of its record.
        f"if timestamp > cell[{TIMESTAMP}] or old is None or new is None: cell[{TIMESTAMP}] = timestamp",
        f"cell[{VALUE}] = new",
        f"cell[{SEQUENCE}] = tick()",
        f"cell[{HEADERS}] = context.headers",
        indent=indent,
    )


def _emit_closed(node: NodeContext, store: Any, windows: TimeWindows) -> Callable[[int], None]:
    find_closed, size, advance = store.find_closed, windows.size, windows.advance

    def closed(last: int, close_time: int) -> Closed:
        first = max(0, last - size + 1)
        first += -first % advance
        if first > close_time - size:
            return ()
        return ((key, row[0], row[1]) for key, row in find_closed(first, close_time - size))

    return close_emitter(node, closed)
