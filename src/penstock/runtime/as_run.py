"""A topology as Spark runs it: with the steps that only a host of batches has."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.optimizer.combine_before_shuffle import combine_before_shuffle
from penstock.topology.topology import Topology


def as_run(topology: Topology, settings: Mapping[str, Any]) -> Topology:
    """The topology with what these settings add to it; the same one if they add nothing.

    >>> from penstock import StreamsBuilder
    >>> from penstock.runtime.settings import Settings
    >>> builder = StreamsBuilder()
    >>> _ = builder.stream("lines").group_by(lambda line: line).count(name="counts")
    >>> [name for name in as_run(builder.build(), Settings()).nodes if "combine" in name]
    ['counts-combine']
    >>> [name for name in as_run(builder.build(), Settings(statestore_cache_max_bytes=0)).nodes if "combine" in name]
    []
    """
    # Without a cache every record gives an update of its own: there is nothing to combine.
    return combine_before_shuffle(topology) if settings["statestore.cache.max.bytes"] > 0 else topology
