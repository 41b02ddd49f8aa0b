"""A user's transformer of a table's values."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from penstock.source_line import user_line
from penstock.streams.materialized import Materialized
from penstock.streams.parameters import Named, SerdeLike
from penstock.streams.processing import check_stores
from penstock.streams.settings import gather
from penstock.streams.stream_base import K, V
from penstock.streams.table_base import TableBase
from penstock.topology.graph import OperatorNode
from penstock.topology.graph.tables import TransformValuesResult
from penstock.topology.operators import TableTransformValues
from penstock.topology.suppliers import check_supplier, stores_of

if TYPE_CHECKING:
    from penstock.streams.ktable import KTable


class TransformOperator(TableBase[K, V]):
    """The part of KTable that transforms values."""

    __slots__ = ()

    def transform_values(
        self,
        transformer: Any,
        *stores: str | Materialized | Named,
        store: Any = None,
        key_serde: SerdeLike = None,
        value_serde: SerdeLike = None,
        cache: str | None = None,
        logging: Any = None,
        name: str | None = None,
    ) -> KTable[K, Any]:
        """Give each row a new value by a transformer that may keep state; it is called for tombstones too.

        Args:
            transformer: Class or function that makes a transformer: an object with `transform(key, value)`, and
                optionally `init(context)` and `close()`.
            stores: Names of stores the transformer uses; also `Materialized`, `Named`.
            store: Materialise the result: name of the store, a `Materialized`, or a store supplier.
            key_serde: Serde of keys; the table's own by default.
            value_serde: Serde of the new values; the configured default.
            cache: "batch" or "off".
            logging: Whether the store has a changelog, or settings of its topic.
            name: Name of the operator.
        """
        line = user_line()
        settings = gather(
            "transform_values",
            [s for s in stores if not isinstance(s, str)],
            (Materialized, Named),
            line,
            store=store,
            key_serde=key_serde,
            value_serde=value_serde,
            cache=cache,
            logging=logging,
            name=name,
        )
        used = check_stores(stores, line)
        kept = self._optional_store(settings, "KTABLE-TRANSFORMVALUES-")
        node_name = self._graph.names.given_or_node(settings.name, "KTABLE-TRANSFORMVALUES-")
        supplier = check_supplier(transformer, node_name, line)
        own = stores_of(transformer)
        result = TransformValuesResult(self._place.result, supplier, (*used, *(b.name for b in own)), kept)
        key, value = self._serdes(settings, None)

        def operator() -> TableTransformValues:
            # Without a store, the old value is what the transformer makes of the parent's old row.
            parent = result.parent.view() if kept is None and result.send_old else None
            return TableTransformValues(supplier, kept, result.send_old, parent)

        node = OperatorNode(
            node_name,
            operator,
            stores=used,
            builders=(*own, *self._builders(settings, kept, key, value)),
            line=line,
        )
        return self._derive(node, result, settings, key, value, kept)
