"""Topologies of the catalog, built once, and records cut into batches."""

from __future__ import annotations

from functools import cache
from itertools import pairwise

from penstock import Topology
from tests.properties.playing import Input
from tests.properties.topologies import CACHED, CATALOG, UNCACHED


@cache
def topology(name: str, cached: bool = False) -> Topology:
    return CATALOG[name].build(CACHED if cached else UNCACHED)


def cut(records: list[Input], ends: list[int]) -> list[list[Input]]:
    """The records as batches that end at these places."""
    places = [0, *sorted(end % (len(records) + 1) for end in ends), len(records)]
    return [records[start:end] for start, end in pairwise(places)]
