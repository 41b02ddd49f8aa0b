"""User processors inside a stream."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from penstock.errors import TopologyError
from penstock.source_line import user_line
from penstock.streams.parameters import Named
from penstock.streams.settings import gather
from penstock.streams.stream_base import K, StreamBase, V
from penstock.topology.graph import OperatorNode
from penstock.topology.naming import check_name
from penstock.topology.operators import Process
from penstock.topology.suppliers import check_supplier, stores_of

if TYPE_CHECKING:
    from penstock.streams.kstream import KStream


class ProcessingOperators(StreamBase[K, V]):
    """The part of KStream that runs user processors."""

    __slots__ = ()

    def process(self, processor: Any, *stores: str | Named, name: str | None = None) -> KStream[Any, Any]:
        """Send each record through a processor, which may forward any records.

        Args:
            processor: A `Processor` class, a function that gives a new processor on each call, or a generator
                function of `(record, context)` that yields the records to forward.
            stores: Names of the stores the processor uses.
            name: Name of the operator.
        """
        node = self._processor_node("process", "KSTREAM-PROCESSOR-", processor, stores, name, fixed_key=False)
        node.key_changing = True
        node.value_changing = True
        return self._append(node, key_serde=None, value_serde=None, rekeyed=True)

    def process_values(self, processor: Any, *stores: str | Named, name: str | None = None) -> KStream[K, Any]:
        """Send each record through a processor that cannot change its key, so that nothing is repartitioned.

        Args:
            processor: A `FixedKeyProcessor` class, a function that gives a new one on each call, or a generator
                function of `(record, context)`.
            stores: Names of the stores the processor uses.
            name: Name of the operator.
        """
        node = self._processor_node("process_values", "KSTREAM-PROCESSVALUES-", processor, stores, name, fixed_key=True)
        node.value_changing = True
        return self._append(node, value_serde=None)

    def _processor_node(
        self, what: str, prefix: str, processor: Any, stores: tuple[Any, ...], name: str | None, *, fixed_key: bool
    ) -> OperatorNode:
        line = user_line()
        settings = gather(what, [s for s in stores if not isinstance(s, str)], (Named,), line, name=name)
        # A given name draws no number here, unlike everywhere else; Kafka does the same.
        node_name = self._graph.names.node(prefix) if settings.name is None else settings.name
        supplier = check_supplier(processor, node_name, line)
        return OperatorNode(
            node_name,
            Process(supplier, fixed_key),
            stores=check_stores(stores, line),
            builders=stores_of(processor),
            line=line,
        )


def check_stores(given: Iterable[Any], line: str | None) -> tuple[str, ...]:
    """The names of stores among positional arguments, each once."""
    names = [check_name(name, "the store", line=line) for name in given if isinstance(name, str)]
    for name in names:
        if names.count(name) > 1:
            raise TopologyError(f"the store {name} is named twice", line=line, hint="Name each store once.")
    return tuple(names)
