"""The join of a stream with a table."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.errors import TopologyError
from penstock.functions import Function
from penstock.state.internal_builders import GraceBufferBuilder
from penstock.streams.materialized import lives_in_memory
from penstock.streams.settings import Settings
from penstock.streams.stream_base import StreamBase
from penstock.streams.table_base import TableBase
from penstock.topology.graph import StreamTableJoinNode
from penstock.topology.operators import StreamTableJoin

if TYPE_CHECKING:
    from penstock.streams.kstream import KStream


def stream_table_join(
    stream: StreamBase[Any, Any], table: TableBase[Any, Any], kind: str, joiner: Function, settings: Settings
) -> KStream[Any, Any]:
    """The stream of records joined with the rows of their keys."""
    line, right = settings.line, table._place  # noqa: SLF001 - a table's own kind
    if right.graph is not stream._place.graph:  # noqa: SLF001
        raise TopologyError(
            "join was given a stream and a table of two builders",
            line=line,
            hint="Build one topology with one StreamsBuilder.",
        )
    if stream._place.rekeyed:  # noqa: SLF001
        stream = stream._repartitioned_for_join(settings.name, settings.key_serde, settings.value_serde, line)  # noqa: SLF001
    left = stream._place  # noqa: SLF001
    graph = left.graph
    sources = tuple(dict.fromkeys([*left.sources, *right.sources]))
    graph.copartition(sources)
    prefix = "KSTREAM-LEFTJOIN-" if kind == "left" else "KSTREAM-JOIN-"
    name = graph.names.given_or_node(settings.name, prefix)
    key = left.key_serde if settings.key_serde is None else settings.key_serde
    buffer = None
    if settings.grace is not None:
        if not right.node.is_versioned():
            raise TopologyError(
                "a grace period needs a versioned table",
                node=name,
                line=line,
                hint='Give the table a history: builder.table(topic, versioned="1h").',
            )
        buffer = GraceBufferBuilder(
            name=f"{name}-Buffer",
            key_serde=key,
            value_serde=left.value_serde if settings.value_serde is None else settings.value_serde,
            persistent=not lives_in_memory(graph, settings),
        )
        if settings.name is None:
            graph.generated_stores[buffer.name] = None
    operator = StreamTableJoin(
        kind == "left", right.result.view(), joiner, settings.grace, None if buffer is None else buffer.name
    )
    node = StreamTableJoinNode(name, operator, buffer, line=line)
    return stream._append(node, sources=sources, key_serde=key, value_serde=None, rekeyed=False)  # noqa: SLF001
