"""The demo's topology, as the README shows it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from penstock.topology.topology import Topology

_WORD = re.compile(r"[a-z']+")


def word_count(lines: str, counts: str) -> Topology:
    """Count the words of a topic of text; each change of a count goes to another topic.

    Args:
        lines: Topic with text as values.
        counts: Topic for words (keys, text) and counts (values, 8 bytes).
    """
    from penstock import StreamsBuilder

    builder = StreamsBuilder()
    (
        builder.stream(lines)
        .flat_map_values(words)
        .group_by(lambda word: word)
        .count()
        .to_stream()
        .to(counts, value_serde="long")
    )
    return builder.build()


def words(line: str) -> list[str]:
    """The words of a line.

    >>> words("The river, the mill.")
    ['the', 'river', 'the', 'mill']
    """
    return _WORD.findall(line.lower())
