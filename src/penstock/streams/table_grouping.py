"""Grouping a table by something else than its key."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

from penstock.errors import TopologyError
from penstock.functions import MAPPER, Function, function, is_expression
from penstock.source_line import user_line
from penstock.streams.parameters import Grouped, Named, SerdeLike
from penstock.streams.settings import gather
from penstock.streams.stream_base import K, V
from penstock.streams.table_base import TableBase
from penstock.topology.graph import OperatorNode
from penstock.topology.operators import TableRepartitionMap

if TYPE_CHECKING:
    from penstock.expr import Expression
    from penstock.streams.grouped_table import KGroupedTable


class TableGroupingOperators(TableBase[K, V]):
    """The part of KTable that groups."""

    __slots__ = ()

    def group_by(
        self,
        mapper: Callable[..., Any] | Expression,
        *parameters: Grouped | Named,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        name: str | None = None,
    ) -> KGroupedTable[Any, Any]:
        """Group the rows by a new key. An update of a row leaves its old group and joins the new one.

        Args:
            mapper: Function of (value) or (key, value) that gives `(new key, new value)`; an expression gives the
                new key, and the value stays. None, a null key or a null value leaves the row out.
            parameters: `Grouped`.
            key_serde: Serde of the new keys; the configured default.
            value_serde: Serde of the new values; the configured default.
            name: Name of the operator and of the repartition topic.
        """
        from penstock.streams.grouped_table import KGroupedTable

        line, place = user_line(), self._place
        settings = gather(
            "group_by", parameters, (Grouped, Named), line, key_serde=key_serde, value_serde=value_serde, name=name
        )
        select = keyed_by(mapper, line) if is_expression(mapper) else function(mapper, MAPPER, "the mapper", line=line)
        node = OperatorNode(
            self._graph.names.given_or_node(settings.name, "KTABLE-SELECT-"),
            lambda: TableRepartitionMap(select, node.is_versioned_upstream()),
            line=line,
        )
        self._graph.add(node, place.node)
        place.result.send_old_values(force=True)
        # An expression keeps the values, so their serde stays right.
        value = place.value_serde if settings.value_serde is None and is_expression(mapper) else settings.value_serde
        return KGroupedTable(place.graph, node, settings.name, settings.key_serde, value)


class _KeepValue:
    """A mapper to (new key, same value), with the key from an expression."""

    def __init__(self, select: Function) -> None:
        self._select = select
        self._call = select.bind("key", "value")

    def __call__(self, key: Any, value: Any) -> tuple[Any, Any]:
        return self._call(key, value), value

    def __reduce__(self) -> tuple[Any, ...]:
        return (_KeepValue, (self._select,))


def keyed_by(expression: Any, line: str | None) -> Function:
    """The mapper to (new key, same value) of an expression for the key."""
    select = function(expression, MAPPER, "the key of group_by", line=line)
    if "timestamp" in select.parameters:
        raise TopologyError(
            f"the key {select.text} of a table's group_by depends on the timestamp",
            line=line,
            hint="Old and new value of an update must find the same group; use the value or the key.",
        )
    return Function(_KeepValue(select), ("key", "value"), select.text)
