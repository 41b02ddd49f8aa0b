"""Splitting a stream: each record goes to the first branch that wants it."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Generic

from penstock.errors import TopologyError
from penstock.functions import MAPPER, Function, function
from penstock.source_line import user_line
from penstock.streams.parameters import Branched, Named
from penstock.streams.settings import Settings, gather
from penstock.streams.stream_base import K, StreamPlace, V
from penstock.topology.graph import OperatorNode
from penstock.topology.operators import Branch, PassThrough

if TYPE_CHECKING:
    from penstock.expr import Expression
    from penstock.streams.kstream import KStream


class _Split:
    """The node that all branches of one split share; grows with each branch."""

    def __init__(self, place: StreamPlace, given: str | None, line: str | None) -> None:
        self.place = place
        self.predicates: list[Function] = []
        self.children: list[str] = []
        self.default: str | None = None
        self.node = OperatorNode(place.graph.names.given_or_node(given, "KSTREAM-BRANCH-"), self._operator, line=line)
        place.graph.add(self.node, place.node)

    def _operator(self) -> Branch:
        return Branch(tuple(self.predicates), tuple(self.children), self.default)


class BranchedKStream(Generic[K, V]):
    """A stream being split. Branches are tried in the order they are added."""

    __slots__ = ("_found", "_split")

    def __init__(self, split: _Split, found: dict[str, KStream[K, V]]) -> None:
        self._split = split
        self._found = found

    @classmethod
    def start(cls, place: StreamPlace, name: str | None, line: str | None) -> BranchedKStream[Any, Any]:
        """Begin to split the stream at a place; used by `KStream.split`."""
        return BranchedKStream(_Split(place, name, line), {})

    def branch(
        self,
        predicate: Callable[..., Any] | Expression,
        *parameters: Branched | Named,
        name: str | None = None,
        function: Callable[[KStream[K, V]], Any] | None = None,  # noqa: A002, RUF100 - Kafka's word
        consumer: Callable[[KStream[K, V]], Any] | None = None,
    ) -> BranchedKStream[K, V]:
        """Add a branch.

        Args:
            predicate: Function of (value) or (key, value), or an expression.
            parameters: `Branched`.
            name: Appended to the name of the split; its position (from 1) by default.
            function: Gives the entry of the result from the branch's stream; None leaves it out.
            consumer: Takes the branch's stream, which is then not in the result.
        """
        line = user_line()
        settings = gather(
            "branch", parameters, (Branched, Named), line, name=name, function=function, consumer=consumer
        )
        self._split.predicates.append(_predicate(predicate, line))
        child, found = self._add(settings, len(self._split.predicates))
        self._split.children.append(child)
        return BranchedKStream(self._split, found)

    def default_branch(
        self,
        *parameters: Branched | Named,
        name: str | None = None,
        function: Callable[[KStream[K, V]], Any] | None = None,
        consumer: Callable[[KStream[K, V]], Any] | None = None,
    ) -> dict[str, KStream[K, V]]:
        """End the split with a branch for the records of no other; its position is 0."""
        line = user_line()
        settings = gather(
            "default_branch", parameters, (Branched, Named), line, name=name, function=function, consumer=consumer
        )
        if self._split.default is not None:
            raise TopologyError(
                "a split has two default branches", node=self._split.node.name, line=line, hint="End a split once."
            )
        self._split.default, found = self._add(settings, 0)
        return found

    def no_default_branch(self) -> dict[str, KStream[K, V]]:
        """End the split; records of no branch are dropped."""
        return dict(self._found)

    def _add(self, settings: Settings, position: int) -> tuple[str, dict[str, KStream[K, V]]]:
        from penstock.streams.kstream import KStream

        if settings.function is not None and settings.consumer is not None:
            raise TopologyError("a branch has a function and a consumer", line=settings.line, hint="Give one of them.")
        split, graph = self._split, self._split.place.graph
        name = split.node.name + (settings.name if settings.name is not None else str(position))
        graph.names.node(name)  # a branch draws a number, though its name does not show it
        node = OperatorNode(name, PassThrough(), line=settings.line)
        graph.add(node, split.node)
        stream: KStream[K, V] | None = KStream(replace(split.place, name=name, node=node))
        if settings.consumer is not None:
            settings.consumer(stream)
            stream = None
        elif settings.function is not None:
            stream = settings.function(stream)
        return name, self._found if stream is None else {**self._found, name: stream}


def _predicate(given: Any, line: str | None) -> Function:
    return function(given, MAPPER, "the predicate of branch", line=line)
