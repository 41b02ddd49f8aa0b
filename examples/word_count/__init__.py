"""How often each word occurs in a stream of sentences.

    penstock run examples.word_count:topology

The word becomes the key, so that all its records come to one task: that is the exchange in the middle of the topology.
"""

from __future__ import annotations

import re

from penstock import StreamsBuilder, Topology

LINES, COUNTS = "sentences", "word-counts"


def topology() -> Topology:
    """Lines of text in, the latest count of each word out."""
    builder = StreamsBuilder()
    counts = builder.stream(LINES).flat_map_values(words).group_by(lambda word: word).count(store="counts")
    counts.to_stream().to(COUNTS, value_serde="long")
    return builder.build()


def words(line: str) -> list[str]:
    """The words of a line, in lower case."""
    return re.findall(r"[a-z']+", line.lower())
