"""Random requests: a topology, its parameters, and inputs that sit on the boundaries these make."""

from __future__ import annotations

import fnmatch
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from random import Random
from typing import Any

from tests.differential.catalog import Entry, catalog
from tests.differential.timestamps import timestamps

Request = dict[str, Any]
Input = tuple[str, str | None, str | None, int]

# Kafka loses data where the default retention and a jump in time meet; most requests keep clear of that.
ENDLESS_RETENTION = 10**9


@dataclass(frozen=True, slots=True)
class Plan:
    """What to generate.

    Attributes:
        only: Patterns of topology names; empty: all.
        store: `memory` or `rocksdb`.
        caching: True or False for all requests; None: one in five.
        quirks: Also inputs on which Kafka itself fails.
    """

    seed: int
    count: int
    only: tuple[str, ...] = ()
    store: str = "rocksdb"
    caching: bool | None = None
    quirks: bool = False


def names(only: Iterable[str]) -> list[str]:
    """The topologies that match a pattern.

    Raises:
        ValueError: If a pattern matches none.
    """
    known = list(catalog())
    patterns = list(only)
    for pattern in patterns:
        if not fnmatch.filter(known, pattern):
            raise ValueError(f"no topology matches {pattern}; known are: {', '.join(known)}")
    return [name for name in known if not patterns or any(fnmatch.fnmatchcase(name, p) for p in patterns)]


def requests(plan: Plan) -> Iterator[Request]:
    """At least one request for each topology; the same plan always gives the same ones."""
    entries = [catalog()[name] for name in names(plan.only)]
    for index in range(max(plan.count, len(entries))):
        entry = entries[index % len(entries)]
        yield request(Random(f"{plan.seed}/{entry.name}/{index}"), entry, f"{entry.name}#{plan.seed}.{index}", plan)


def request(random: Random, entry: Entry, identifier: str, plan: Plan) -> Request:
    """One random request."""
    params = entry.choose(random)
    if plan.quirks and "diff" in params and random.random() < 0.1:
        params["diff"] = 0
    made: Request = {"id": identifier, "topology": entry.name, "params": params}
    made["inputs"] = list(_inputs(random, entry, params, quirks=plan.quirks))
    made["caching"] = random.random() < 0.2 if plan.caching is None else plan.caching
    made["store_type"] = plan.store
    # sessions have no headers in Kafka: most requests keep clear of that, too
    made["headers"] = random.random() < (0.01 if "session" in entry.name or entry.name == "names_windows" else 0.2)
    if _retains(entry.name, params) and random.random() < _endless_share(entry.name, caching=made["caching"]):
        params["retain"] = ENDLESS_RETENTION
    if entry.wall_clock and random.random() < 0.5:
        made["advance_wall_clock"] = random.choice((1, 4, 10))
    if entry.optimized and random.random() < 0.5:
        made["config"] = {"topology.optimization": "all"}
    return made


def _inputs(random: Random, entry: Entry, params: dict[str, Any], *, quirks: bool) -> Iterator[Input]:
    nulls = random.choice((0.0, 0.1, 0.25))
    keys = random.choice((1, 2, 3))
    for timestamp in timestamps(random, params, random.choice((3, 5, 8, 12, 20, 30))):
        if entry.wall_clock and random.random() < 0.3:
            yield ("@wall", None, None, random.choice((1, 2, 5, 10, 30)))
        topic = random.choice(entry.topics)
        key = None if random.random() < 0.06 else f"k{random.randrange(keys)}"
        value = None if random.random() < nulls else str(random.randrange(10))
        if entry.name == "st_left_grace" and topic == "left" and not quirks:
            key = key or "k0"
        if entry.foreign_keys and topic == "right":
            key = None if key is None else f"f{random.randrange(keys)}"
        elif entry.foreign_keys and value is not None:
            owner = "null" if random.random() < 0.15 else f"f{random.randrange(keys)}"
            value = f"{owner}|{value}"
        yield (topic, key, value, timestamp)


def _retains(name: str, params: dict[str, Any]) -> bool:
    return bool({"size", "diff", "gap"} & params.keys()) and not name.startswith(("papi_window", "papi_session"))


def _endless_share(name: str, *, caching: bool) -> float:
    if caching:
        return 1.0
    if "_close" in name:
        return 0.8
    return 0.5 if "session" in name else 0.1
