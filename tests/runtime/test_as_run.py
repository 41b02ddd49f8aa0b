from __future__ import annotations

from typing import Any

from penstock import StreamsBuilder, Topology
from tests.runtime.scripted_host import ScriptedStreams


def word_count(**options: Any) -> Topology:
    builder = StreamsBuilder()
    builder.stream("lines").flat_map_values(str.split).group_by(lambda word: word).count(name="counts", **options)
    return builder.build()


def described(topology: Topology, **settings: Any) -> str:
    app = ScriptedStreams(**settings)
    app._topology = topology
    try:
        return str(app.describe())
    finally:
        app.close("10s")


def test_an_application_shows_what_is_combined_before_the_shuffle() -> None:
    assert "Processor: counts-combine (stores: [])" in described(word_count())
    assert "combine" not in described(word_count(), statestore_cache_max_bytes=0)
    assert "combine" not in described(word_count(cache="off"))


def test_what_a_topology_says_itself_is_kafkas() -> None:
    topology = word_count()
    described(topology)
    assert "combine" not in str(topology.describe())
