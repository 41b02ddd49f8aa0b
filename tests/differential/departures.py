"""Where penstock does not do as Kafka Streams does, on purpose. The only list: any other difference is a bug."""

from __future__ import annotations

import fnmatch
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

Request = dict[str, Any]


@dataclass(frozen=True, slots=True)
class Departure:
    """A rule of Kafka's that penstock does not copy.

    Attributes:
        topologies: Pattern of the names of the topologies that can show it.
        shows: Whether this request can show it.
        reason: What Kafka does, and why not here.
    """

    topologies: str
    shows: Callable[[Request], bool]
    reason: str


def departure(request: Request) -> Departure | None:
    """The departure this request can show, if any."""
    for known in DEPARTURES:
        if fnmatch.fnmatchcase(request["topology"], known.topologies) and known.shows(request):
            return known
    return None


def _always(_request: Request) -> bool:
    return True


def _uncached(request: Request) -> bool:
    return not request["caching"]


def _default_retention(request: Request) -> bool:
    return "retain" not in request["params"]


def _cached_default_retention(request: Request) -> bool:
    windowed = bool({"size", "diff", "gap"} & request["params"].keys())
    return bool(request["caching"]) and windowed and _default_retention(request)


def _headers(request: Request) -> bool:
    return bool(request.get("headers"))


def _same_time_twice(request: Request) -> bool:
    moments = [(key, timestamp) for _, key, _, timestamp in request["inputs"]]
    return _uncached(request) and len(moments) > len(set(moments))


def _tombstone_in_memory(request: Request) -> bool:
    return request["store_type"] == "memory" and any(
        key is not None and value is None for topic, key, value, _ in request["inputs"] if topic != "@wall"
    )


def _same_end_in_memory(request: Request) -> bool:
    times = [timestamp for _, _, _, timestamp in request["inputs"]]
    return request["store_type"] == "memory" and len(times) > len(set(times))


def _no_difference(request: Request) -> bool:
    return bool(request["params"].get("diff") == 0)


def _left_without_key(request: Request) -> bool:
    return any(t == "left" and key is None and value is not None for t, key, value, _ in request["inputs"])


DEPARTURES = (
    Departure(
        "count_then_group",
        _uncached,
        "with caching off Kafka gives the initializer's value as the old value of a first update, and a table "
        "aggregation below then subtracts what was never added",
    ),
    Departure(
        "suppress_then_*",
        _always,
        "Kafka's suppress emits the old value of the last buffered update instead of the value last emitted",
    ),
    Departure(
        "*_close",
        _default_retention,
        "Kafka loses a closed window that leaves the retention with the record that closes it",
    ),
    Departure(
        "session_group_table",
        _same_time_twice,
        "a second record on a session of one instant has no old value in Kafka, and is counted twice below",
    ),
    Departure(
        "*",
        _cached_default_retention,
        "rows in Kafka's record cache stay visible after their retention",
    ),
    Departure(
        "*session*",
        _headers,
        "an update of a session has no headers in Kafka; here it has those of the record that caused it, as any other",
    ),
    Departure(
        "names_windows",
        _headers,
        "an update of a session has no headers in Kafka; here it has those of the record that caused it, as any other",
    ),
    Departure(
        "ss_*",
        _tombstone_in_memory,
        "a null value moves the time of Kafka's in-memory join stores, though it is not stored",
    ),
    Departure(
        "clickstream*",
        _tombstone_in_memory,
        "a null value moves the time of Kafka's in-memory join stores, though it is not stored",
    ),
    Departure(
        "papi_window_store",
        lambda request: bool(request["params"]["dups"]) and _tombstone_in_memory(request),
        "a null value moves the time of Kafka's in-memory stores that keep duplicates, though it is not stored",
    ),
    Departure(
        "session_*_close",
        _same_end_in_memory,
        "Kafka's in-memory stores order sessions of one end by key and falling start, its persistent ones by start",
    ),
    Departure(
        "papi_session_store",
        _same_end_in_memory,
        "Kafka's in-memory stores order sessions of one end by key and falling start, its persistent ones by start",
    ),
    Departure(
        "*sliding*",
        _no_difference,
        "Kafka builds a sliding window of difference 0 and fails on its first record; penstock refuses to build it",
    ),
    Departure(
        "st_left_grace",
        _left_without_key,
        "Kafka fails on a null key in a left join with a grace period; penstock joins it with nothing",
    ),
)
