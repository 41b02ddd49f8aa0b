"""The windowed join of two streams."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.durations import Duration
from penstock.errors import TopologyError
from penstock.functions import Function
from penstock.state.builders import StoreBuilder, WindowStoreBuilder
from penstock.state.internal_builders import JoinBufferBuilder
from penstock.state.materialize import join_window
from penstock.streams.materialized import lives_in_memory, log_options
from penstock.streams.settings import Settings
from penstock.streams.stream_base import StreamBase
from penstock.topology.graph import Graph, OperatorNode, StreamStreamJoinNode
from penstock.topology.graph.joins import StreamJoinNames
from penstock.topology.operators import StreamJoinWindow
from penstock.windows import JoinWindows

if TYPE_CHECKING:
    from penstock.streams.kstream import KStream


def join_windows(
    what: str,
    windows: JoinWindows | None,
    spans: tuple[Duration | None, Duration | None, Duration | None],
    settings: Settings,
) -> JoinWindows:
    """The window of a join, from an object or from keywords."""
    within, before, after = spans
    line = settings.line
    if windows is not None:
        if spans != (None, None, None) or settings.grace is not None:
            raise TopologyError(
                f"the window of {what} is given twice: by JoinWindows and by keywords",
                line=line,
                hint="Keep one of them.",
            )
        return windows
    before = within if before is None else before
    after = within if after is None else after
    if before is None or after is None:
        raise TopologyError(
            f"{what} of two streams has no window", line=line, hint='Say how far apart records may be: within="10s".'
        )
    try:
        return JoinWindows(before, after, settings.grace or 0)
    except TopologyError as error:
        raise TopologyError(error.message, line=line, hint=error.hint) from None


def stream_stream_join(
    left: StreamBase[Any, Any],
    right: StreamBase[Any, Any],
    kind: str,
    windows: JoinWindows,
    joiner: Function,
    settings: Settings,
) -> KStream[Any, Any]:
    """The stream of joined records."""
    from penstock.streams.stateless import check_same_builder

    line, name = settings.line, settings.name
    check_same_builder(left, right, "join", line)
    left = _partitioned(left, None if name is None else f"{name}-left", settings, settings.value_serde)
    right = _partitioned(right, None if name is None else f"{name}-right", settings, settings.other_value_serde)
    one, other = left._place, right._place  # noqa: SLF001 - streams' own kind
    graph = one.graph
    sources = tuple(dict.fromkeys([*one.sources, *other.sources]))
    graph.copartition(sources)
    names, stores = _names(graph, kind, settings)
    key = one.key_serde if settings.key_serde is None else settings.key_serde
    this_value = one.value_serde if settings.value_serde is None else settings.value_serde
    other_value = other.value_serde if settings.other_value_serde is None else settings.other_value_serde
    this_store, other_store = _stores(graph, stores, windows, settings, key, this_value, other_value)
    graph.add(_keeper(names.this_windowed, this_store, line), one.node)
    graph.add(_keeper(names.other_windowed, other_store, line), other.node)
    outer = None
    if kind != "inner":
        outer = JoinBufferBuilder(
            name=stores[2],
            key_serde=key,
            value_serde=this_value,
            other_value_serde=other_value,
            persistent=not lives_in_memory(graph, settings),
            **log_options(settings.logging),
        )
    node = StreamStreamJoinNode(names, kind, windows, joiner, this_store.name, other_store.name, outer, line=line)
    graph.add(node, *dict.fromkeys([one.node, other.node]))
    # The key serde is only passed on if it was given: the two sides' own may differ.
    return left._at(node, sources=sources, key_serde=settings.key_serde, value_serde=None, rekeyed=False)  # noqa: SLF001


def _partitioned(
    stream: StreamBase[Any, Any], name: str | None, settings: Settings, value_serde: Any
) -> StreamBase[Any, Any]:
    if not stream._place.rekeyed:  # noqa: SLF001 - streams' own kind
        return stream
    return stream._repartitioned_for_join(name, settings.key_serde, value_serde, settings.line)  # noqa: SLF001


def _names(graph: Graph, kind: str, settings: Settings) -> tuple[StreamJoinNames, tuple[str, str, str]]:
    """Names of the nodes, and of the stores: this side's, the other side's, the unmatched records'."""
    name, base = settings.name, settings.store
    this_suffix = "-outer-this-join" if kind == "outer" else "-this-join"
    other_suffix = "-other-join" if kind == "inner" else "-outer-other-join"
    this_windowed = graph.names.given_or_node(name, "KSTREAM-WINDOWED-", "-this-windowed")
    other_windowed = graph.names.given_or_node(name, "KSTREAM-WINDOWED-", "-other-windowed")
    this = graph.names.node("KSTREAM-OUTERTHIS-" if kind == "outer" else "KSTREAM-JOINTHIS-")
    other = graph.names.node("KSTREAM-JOINOTHER-" if kind == "inner" else "KSTREAM-OUTEROTHER-")
    merge = graph.names.given_or_node(name, "KSTREAM-MERGE-", "-merge")
    nodes = StreamJoinNames(
        this_windowed,
        other_windowed,
        this if name is None else name + this_suffix,
        other if name is None else name + other_suffix,
        merge,
    )
    if base is None:
        shared = "KSTREAM-OUTERSHARED-" + this[-10:]
        stores = (f"{this}-store", f"{other}-store", f"{shared}-store")
        for store in stores if kind != "inner" else stores[:2]:
            graph.generated_stores[store] = None
    else:
        shared_suffix = "-outer-shared-join" if kind == "outer" else "-left-shared-join"
        stores = (f"{base}{this_suffix}-store", f"{base}{other_suffix}-store", f"{base}{shared_suffix}-store")
    return nodes, stores


def _stores(
    graph: Graph,
    names: tuple[str, str, str],
    windows: JoinWindows,
    settings: Settings,
    key: Any,
    this_value: Any,
    other_value: Any,
) -> tuple[StoreBuilder, StoreBuilder]:
    options = {"persistent": not lives_in_memory(graph, settings), **log_options(settings.logging)}
    suppliers = (settings.supplier, settings.other_supplier)
    if suppliers[0] is not None and suppliers[1] is not None and suppliers[0].name == suppliers[1].name:
        raise TopologyError(
            f"both sides of the join were given the store {suppliers[0].name}",
            line=settings.line,
            hint="Each side needs a store of its own name.",
        )
    made = []
    for name, supplier, value in zip(names, suppliers, (this_value, other_value), strict=False):
        if supplier is None:
            made.append(join_window(name, windows, key_serde=key, value_serde=value, **options))
        else:
            graph.generated_stores.pop(name, None)
            made.append(_supplied(supplier, windows, settings, key, value))
    return made[0], made[1]


def _supplied(supplier: Any, windows: JoinWindows, settings: Settings, key: Any, value: Any) -> WindowStoreBuilder:
    """A store the user brought; it must fit the window of the join."""
    wanted = {
        "retain_duplicates": True,
        "window_size": windows.size,
        "retention": windows.size + windows.grace,
    }
    for setting, right in wanted.items():
        given = getattr(supplier, setting, None)
        if given != right:
            raise TopologyError(
                f"the store supplier {getattr(supplier, 'name', supplier)} of the join has {setting} {given}",
                line=settings.line,
                hint=f"Its window (before + after = {windows.size} ms, grace {windows.grace} ms) needs {setting} {right}.",
            )
    return WindowStoreBuilder(
        name=supplier.name,
        key_serde=key,
        value_serde=value,
        retention=supplier.retention,
        window_size=supplier.window_size,
        retain_duplicates=True,
        persistent=supplier.persistent,
        **log_options(settings.logging),
    )


def _keeper(name: str, store: StoreBuilder, line: str | None) -> OperatorNode:
    """The node that keeps the records of one side."""
    return OperatorNode(name, StreamJoinWindow(store.name), builders=(store,), line=line)
