"""Holding updates of a table back."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.durations import Duration
from penstock.errors import TopologyError
from penstock.source_line import user_line
from penstock.state.internal_builders import SuppressBufferBuilder
from penstock.streams.parameters import Named
from penstock.streams.settings import gather
from penstock.streams.stream_base import K, V
from penstock.streams.table_base import TableBase
from penstock.streams.table_place import TablePlace
from penstock.topology.graph import GraphNode, OperatorNode
from penstock.topology.graph.tables import SuppressResult
from penstock.topology.naming import check_name
from penstock.topology.operators import Suppress
from penstock.windows import BufferConfig, Suppressed

if TYPE_CHECKING:
    from penstock.streams.ktable import KTable


class SuppressOperator(TableBase[K, V]):
    """The part of KTable that suppresses."""

    __slots__ = ()

    def suppress(
        self,
        suppressed: Suppressed | Named | None = None,
        *parameters: Named,
        until: Duration | None = None,
        max_records: int | None = None,
        max_bytes: int | None = None,
        when_full: str = "emit",
        name: str | None = None,
    ) -> KTable[K, V]:
        """Hold updates back: one for each key, until its time comes.

        Args:
            suppressed: `Suppressed.until_window_closes(...)` or `Suppressed.until_time_limit(...)`, in place of
                the keywords.
            parameters: `Named`.
            until: "window_closes" for the final result of each window, or how much stream time to wait.
            max_records: Limit of the buffer in keys.
            max_bytes: Limit of the buffer in bytes.
            when_full: "emit" the oldest early, or "fail". Final results always fail.
            name: Name of the operator; the buffer is `<name>-store`.

        >>> from penstock import StreamsBuilder
        >>> counts = StreamsBuilder().stream("in").group_by_key().tumbling("1m").count()
        >>> final = counts.suppress(until="window_closes")
        """
        line, place, graph = user_line(), self._place, self._graph
        if isinstance(suppressed, Named):
            parameters, suppressed = (suppressed, *parameters), None
        settings = gather("suppress", parameters, (Named,), line, name=name)
        what = _what(suppressed, until, max_records, max_bytes, when_full, line)
        given = _one_name(what.name, settings.name, line)
        node_name = given if given is not None else graph.names.node("KTABLE-SUPPRESS-")
        buffer, _ = graph.store_name(None if given is None else f"{given}-store", "KTABLE-SUPPRESS-")
        wait = _window_close(place.node, node_name, line) if what.wait is None else what.wait
        result = SuppressResult(place.result, buffer)
        node = OperatorNode(
            node_name,
            lambda: _operator(buffer, wait, what, result, node),
            builders=(_builder(buffer, place, what.buffer),),
            line=line,
        )
        node.versioned = False
        return self._derive_suppressed(node, result)

    def _derive_suppressed(self, node: GraphNode, result: SuppressResult) -> KTable[K, V]:
        from penstock.streams.ktable import KTable

        place = self._place
        self._graph.add(node, place.node)
        return KTable(
            TablePlace(
                place.graph,
                node.name,
                node,
                place.sources,
                result,
                place.key_serde,
                place.value_serde,
                windowed=place.windowed,
            )
        )


def _operator(buffer: str, wait: int, what: Suppressed, result: SuppressResult, node: GraphNode) -> Suppress:
    if node.is_versioned_upstream():
        raise TopologyError(
            "a versioned table cannot be suppressed",
            node=node.name,
            line=node.line,
            hint="Remove the suppress, or the history of the table (it is inherited from upstream).",
        )
    return Suppress(
        store=buffer,
        wait=wait,
        until_window_closes=what.wait is None,
        max_records=what.buffer.record_limit,
        max_bytes=what.buffer.byte_limit,
        strict=what.buffer.strict,
        parent=result.parent.view(),
        send_old=result.send_old,
    )


def _builder(name: str, place: TablePlace, buffer: BufferConfig) -> SuppressBufferBuilder:
    return SuppressBufferBuilder(
        name=name,
        key_serde=place.key_serde,
        value_serde=place.value_serde,
        logging=buffer.logging,
        log_config=tuple((str(k), str(v)) for k, v in buffer.topic_config),
    )


def _what(
    suppressed: Suppressed | None,
    until: Any,
    max_records: int | None,
    max_bytes: int | None,
    when_full: str,
    line: str | None,
) -> Suppressed:
    """The object given, or the one the keywords stand for."""
    keywords = (until, max_records, max_bytes)
    if (suppressed is None) == (until is None) or (suppressed is not None and keywords != (None, None, None)):
        raise TopologyError(
            "suppress needs either until= or a Suppressed",
            line=line,
            hint='For example suppress(until="window_closes") or suppress(until="10s", max_records=1000).',
        )
    if suppressed is not None:
        if not isinstance(suppressed, Suppressed):
            raise TopologyError(
                f"suppress was given {suppressed!r}", line=line, hint='Give a Suppressed, or until="window_closes".'
            )
        return suppressed
    if when_full not in {"emit", "fail"}:
        raise TopologyError(f"when_full is {when_full!r}", line=line, hint='Give "emit" or "fail".')
    limited = max_records is not None or max_bytes is not None
    final = until == "window_closes"
    strict = final or when_full == "fail" or not limited
    buffer = BufferConfig(record_limit=max_records, byte_limit=max_bytes, strict=strict)
    return Suppressed.until_window_closes(buffer) if final else Suppressed.until_time_limit(until, buffer)


def _one_name(first: str | None, second: str | None, line: str | None) -> str | None:
    if first is not None and second is not None:
        raise TopologyError(
            "name of suppress is given twice: by Suppressed and by name=", line=line, hint="Keep one of them."
        )
    given = first if first is not None else second
    return None if given is None else check_name(given, "the name of suppress", line=line)


def _window_close(node: GraphNode, name: str, line: str | None) -> int:
    """How long after its end a window of the nearest windowed operators upstream closes."""
    found = _search(node, set())
    if found is None:
        raise TopologyError(
            "suppress waits for windows to close, but no windowed aggregation is upstream",
            node=name,
            line=line,
            hint='Aggregate by windows first (group.tumbling("1m").count()), or wait for a time: suppress(until="1m").',
        )
    return found


def _search(node: GraphNode, seen: set[GraphNode]) -> int | None:
    if node in seen:
        return None
    seen.add(node)
    if node.window_close is not None:
        return node.window_close
    found = [close for parent in node.parents if (close := _search(parent, seen)) is not None]
    return max(found, default=None)
