"""Operators of a stream that look at one record at a time and keep nothing."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, TypeVar, overload

from penstock.errors import TopologyError, UnsupportedOperation
from penstock.functions import MAPPER, function
from penstock.source_line import user_line
from penstock.streams.branched import BranchedKStream
from penstock.streams.parameters import Named, Printed
from penstock.streams.settings import gather
from penstock.streams.stream_base import K, StreamBase, V
from penstock.topology.graph import OperatorNode
from penstock.topology.naming import check_name
from penstock.topology.operators import (
    Filter,
    FlatMap,
    FlatMapValues,
    ForEach,
    Map,
    MapValues,
    Operator,
    PassThrough,
    Peek,
    Print,
    SelectKey,
)

if TYPE_CHECKING:
    from penstock.expr import Expression
    from penstock.streams.kstream import KStream

KR = TypeVar("KR")
VR = TypeVar("VR")


class StatelessOperators(StreamBase[K, V]):
    """The stateless half of KStream."""

    __slots__ = ()

    def filter(
        self, predicate: Callable[..., Any] | Expression, *parameters: Named, name: str | None = None
    ) -> KStream[K, V]:
        """Keep the records for which the predicate holds.

        Args:
            predicate: Function of (value) or (key, value), or an expression.
            parameters: `Named`.
            name: Name of the operator.
        """
        return self._filter("filter", predicate, parameters, name, negate=False)

    def filter_not(
        self, predicate: Callable[..., Any] | Expression, *parameters: Named, name: str | None = None
    ) -> KStream[K, V]:
        """Keep the records for which the predicate does not hold."""
        return self._filter("filter_not", predicate, parameters, name, negate=True)

    def _filter(
        self, what: str, predicate: Any, parameters: tuple[Named, ...], name: str | None, *, negate: bool
    ) -> KStream[K, V]:
        line = user_line()
        settings = gather(what, parameters, (Named,), line, name=name)
        operator = Filter(function(predicate, MAPPER, f"the predicate of {what}", line=line), negate)
        return self._append(self._operator_node(settings.name, "KSTREAM-FILTER-", operator, line))

    @overload
    def map_values(self, mapper: Callable[..., VR], *parameters: Named, name: str | None = None) -> KStream[K, VR]: ...
    @overload
    def map_values(self, mapper: Expression, *parameters: Named, name: str | None = None) -> KStream[K, Any]: ...
    def map_values(self, mapper: Any, *parameters: Named, name: str | None = None) -> KStream[K, Any]:
        """Give each record a new value; the key stays.

        Args:
            mapper: Function of (value) or (key, value), or an expression.
            parameters: `Named`.
            name: Name of the operator.
        """
        line = user_line()
        settings = gather("map_values", parameters, (Named,), line, name=name)
        operator = MapValues(function(mapper, MAPPER, "the mapper of map_values", line=line))
        node = self._operator_node(settings.name, "KSTREAM-MAPVALUES-", operator, line)
        node.value_changing = True
        return self._append(node, value_serde=None)

    def map(self, mapper: Callable[..., tuple[KR, VR]], *parameters: Named, name: str | None = None) -> KStream[KR, VR]:
        """Give each record a new key and value. What needs the key next repartitions the stream.

        Args:
            mapper: Function of (value) or (key, value) that gives `(key, value)`.
            parameters: `Named`.
            name: Name of the operator.
        """
        line = user_line()
        settings = gather("map", parameters, (Named,), line, name=name)
        operator = Map(function(mapper, MAPPER, "the mapper of map", line=line))
        return self._rekeyed(settings.name, "KSTREAM-MAP-", operator, line, value_serde=None)

    def flat_map(
        self, mapper: Callable[..., Any] | Expression, *parameters: Named, name: str | None = None
    ) -> KStream[Any, Any]:
        """Give any number of keys and values for each record: an iterable of `(key, value)`."""
        line = user_line()
        settings = gather("flat_map", parameters, (Named,), line, name=name)
        operator = FlatMap(function(mapper, MAPPER, "the mapper of flat_map", line=line))
        return self._rekeyed(settings.name, "KSTREAM-FLATMAP-", operator, line, value_serde=None)

    def flat_map_values(
        self, mapper: Callable[..., Any] | Expression, *parameters: Named, name: str | None = None
    ) -> KStream[K, Any]:
        """Give any number of values for each record, all with its key; a generator is fine."""
        line = user_line()
        settings = gather("flat_map_values", parameters, (Named,), line, name=name)
        operator = FlatMapValues(function(mapper, MAPPER, "the mapper of flat_map_values", line=line))
        node = self._operator_node(settings.name, "KSTREAM-FLATMAPVALUES-", operator, line)
        node.value_changing = True
        return self._append(node, value_serde=None)

    @overload
    def select_key(self, mapper: Callable[..., KR], *parameters: Named, name: str | None = None) -> KStream[KR, V]: ...
    @overload
    def select_key(self, mapper: Expression, *parameters: Named, name: str | None = None) -> KStream[Any, V]: ...
    def select_key(self, mapper: Any, *parameters: Named, name: str | None = None) -> KStream[Any, V]:
        """Give each record a new key. What needs the key next repartitions the stream.

        Args:
            mapper: Function of (value) or (key, value), or an expression.
            parameters: `Named`.
            name: Name of the operator.
        """
        line = user_line()
        settings = gather("select_key", parameters, (Named,), line, name=name)
        operator = SelectKey(function(mapper, MAPPER, "the key selector of select_key", line=line))
        return self._rekeyed(settings.name, "KSTREAM-KEY-SELECT-", operator, line)

    def peek(self, action: Callable[..., Any], *parameters: Named, name: str | None = None) -> KStream[K, V]:
        """Call an action for each record and pass the record on."""
        line = user_line()
        settings = gather("peek", parameters, (Named,), line, name=name)
        operator = Peek(function(action, MAPPER, "the action of peek", line=line))
        return self._append(self._operator_node(settings.name, "KSTREAM-PEEK-", operator, line))

    def for_each(self, action: Callable[..., Any], *parameters: Named, name: str | None = None) -> None:
        """Call an action for each record; nothing comes after it."""
        line = user_line()
        settings = gather("for_each", parameters, (Named,), line, name=name)
        operator = ForEach(function(action, MAPPER, "the action of for_each", line=line))
        self._append(self._operator_node(settings.name, "KSTREAM-FOREACH-", operator, line))

    foreach = for_each

    def print(
        self,
        *parameters: Printed,
        label: str | None = None,
        file: Any = None,
        mapper: Callable[..., Any] | None = None,
        name: str | None = None,
    ) -> None:
        """Write each record as a line of text; nothing comes after it.

        Args:
            parameters: `Printed`.
            label: In front of each line; the name of the stream's node by default.
            file: Path to append to; standard output by default.
            mapper: Function of (value) or (key, value) that gives the text.
            name: Name of the operator.
        """
        line = user_line()
        settings = gather("print", parameters, (Printed, Named), line, label=label, file=file, mapper=mapper, name=name)
        text = None
        if settings.mapper is not None:
            text = function(settings.mapper, MAPPER, "the mapper of print", line=line)
        path = None if settings.file is None else str(settings.file)
        operator = Print(settings.label or self._place.name, path, text)
        self._append(self._operator_node(settings.name, "KSTREAM-PRINTER-", operator, line))

    def merge(self, other: KStream[K, V], *others: KStream[K, V] | Named, name: str | None = None) -> KStream[K, V]:
        """This stream and others as one; there is no order between them beyond that of their timestamps."""
        line = user_line()
        streams = [other, *(o for o in others if not isinstance(o, Named))]
        settings = gather("merge", [o for o in others if isinstance(o, Named)], (Named,), line, name=name)
        places = [self._place]
        for stream in streams:
            if not isinstance(stream, StreamBase):
                raise TopologyError(f"merge was given {stream!r}", line=line, hint="Give streams of the same builder.")
            check_same_builder(self, stream, "merge", line)
            places.append(stream._place)  # noqa: SLF001 - a stream's own kind
        node = self._operator_node(settings.name, "KSTREAM-MERGE-", PassThrough(), line)
        node.merges = True
        self._graph.add(node, *dict.fromkeys(place.node for place in places))
        return self._at(
            node,
            sources=tuple(dict.fromkeys(source for place in places for source in place.sources)),
            key_serde=None,  # either side's serde may be wrong for the other's records
            value_serde=None,
            rekeyed=any(place.rekeyed for place in places),
        )

    def split(self, *parameters: Named, name: str | None = None) -> BranchedKStream[K, V]:
        """Send each record to the first branch whose predicate holds.

        >>> from penstock import StreamsBuilder
        >>> big_or_rest = StreamsBuilder().stream("in").split(name="s-").branch(lambda v: v > 9, name="big")
        >>> sorted(big_or_rest.default_branch(name="rest"))
        ['s-big', 's-rest']
        """
        line = user_line()
        settings = gather("split", parameters, (Named,), line, name=name)
        return BranchedKStream.start(self._place, settings.name, line)

    def branches(
        self, *, default: str | None = None, **predicates: Callable[..., Any] | Expression
    ) -> dict[str, KStream[K, V]]:
        """Split into named branches; the keys of the result are the names given here.

        Args:
            default: Name of a branch for the records of no other.
            predicates: A predicate for each branch.
        """
        line = user_line()
        if not predicates:
            raise TopologyError("branches was given no predicate", line=line, hint="For example big=lambda v: v > 9.")
        split = BranchedKStream[K, V].start(self._place, None, line)
        for branch, predicate in predicates.items():
            split = split.branch(predicate, name=f"-{check_name(branch, 'branch', line=line)}")
        found = split.no_default_branch() if default is None else split.default_branch(name=f"-{default}")
        names = [*predicates, *([default] if default is not None else [])]
        return dict(zip(names, found.values(), strict=True))

    def _operator_node(self, given: str | None, prefix: str, operator: Operator, line: str | None) -> OperatorNode:
        return OperatorNode(self._graph.names.given_or_node(given, prefix), operator, line=line)

    def _rekeyed(
        self, given: str | None, prefix: str, operator: Operator, line: str | None, **changes: Any
    ) -> KStream[Any, Any]:
        node = self._operator_node(given, prefix, operator, line)
        node.key_changing = True
        return self._append(node, key_serde=None, rekeyed=True, **changes)

    def __getattr__(self, name: str) -> Any:
        if name in _REMOVED:
            raise UnsupportedOperation(f"KStream.{name} was removed from Kafka Streams", hint=_REMOVED[name])
        # With these two Python adds its "Did you mean", which finds flat_map_values for Java's flatMapValues.
        raise AttributeError(f"{type(self).__name__} has no attribute {name!r}", name=name, obj=self)


_REMOVED = {
    "transform": "Use process(), which takes a processor and gives a stream.",
    "flat_transform": "Use process(), which may forward any number of records.",
    "transform_values": "Use process_values().",
    "flat_transform_values": "Use process_values(), which may forward any number of records.",
    "branch": "Use split().branch(...).default_branch(), or branches(a=..., b=...).",
}


def check_same_builder(one: StreamBase[Any, Any], other: StreamBase[Any, Any], what: str, line: str | None) -> None:
    """Both streams must come from the same StreamsBuilder."""
    if one._place.graph is not other._place.graph:  # noqa: SLF001 - a stream's own kind
        raise TopologyError(
            f"{what} was given streams of two builders", line=line, hint="Build one topology with one StreamsBuilder."
        )
