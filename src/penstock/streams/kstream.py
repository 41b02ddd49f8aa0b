"""KStream: an unbounded stream of records."""

from __future__ import annotations

from penstock.streams.grouping import GroupingOperators
from penstock.streams.outputs import OutputOperators
from penstock.streams.processing import ProcessingOperators
from penstock.streams.stateless import StatelessOperators
from penstock.streams.stream_base import K, V
from penstock.streams.stream_joins import JoinOperators


class KStream(
    StatelessOperators[K, V],
    GroupingOperators[K, V],
    JoinOperators[K, V],
    ProcessingOperators[K, V],
    OutputOperators[K, V],
):
    """A stream of records with keys and values. Get one from `StreamsBuilder.stream`.

    Every operator gives a new stream and leaves this one as it is, so a stream may be used several times.

    >>> from penstock import StreamsBuilder
    >>> words = StreamsBuilder().stream("lines").flat_map_values(lambda line: line.split())
    >>> words.filter(lambda word: len(word) > 3).to("long-words")
    """

    __slots__ = ()

    def __repr__(self) -> str:
        return f"KStream({self._place.name})"
