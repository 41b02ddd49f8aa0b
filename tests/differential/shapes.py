"""Pieces many topologies share: sources, stores, windows and outputs. Dsl.java holds the same ones.

The name of a store starts with its kind: kv-, win-, ses- or ver-.
"""

from __future__ import annotations

from typing import Any

from penstock import (
    JoinWindows,
    KGroupedStream,
    KGroupedTable,
    KStream,
    KTable,
    SessionWindows,
    SlidingWindows,
    StreamsBuilder,
    TimeWindows,
)
from tests.differential.functions import append, bucket, number, pair, remove, text, window_key

Params = dict[str, Any]
Texts = KStream[Any, Any]
Table = KTable[Any, Any]


# ---- sources
def by_key(b: StreamsBuilder, topic: str = "in") -> KGroupedStream[Any, Any]:
    return b.stream(topic).group_by_key()


def stored_table(b: StreamsBuilder, topic: str) -> Table:
    return b.table(topic, store=f"kv-{topic}")


def versioned_table(b: StreamsBuilder, p: Params, topic: str) -> Table:
    return b.table(topic, store=f"ver-{topic}", versioned=p["history"])


def table(b: StreamsBuilder, p: Params, topic: str, versioned_flag: str) -> Table:
    """A stored table, versioned when the request sets the flag."""
    return versioned_table(b, p, topic) if p.get(versioned_flag) else stored_table(b, topic)


# ---- stores
def window_store(p: Params) -> dict[str, Any]:
    return _retained({"store": "win-agg"}, p)


def session_store(p: Params) -> dict[str, Any]:
    return _retained({"store": "ses-agg"}, p)


def _retained(keywords: dict[str, Any], p: Params) -> dict[str, Any]:
    return keywords | {"retention": p["retain"]} if "retain" in p else keywords


# ---- windows
def time_windows(p: Params) -> TimeWindows:
    windows = TimeWindows.of_size_and_grace(p["size"], p["grace"])
    return windows.advance_by(p["advance"]) if "advance" in p else windows


def sliding_windows(p: Params) -> SlidingWindows:
    return SlidingWindows.of_time_difference_and_grace(p["diff"], p["grace"])


def session_windows(p: Params) -> SessionWindows:
    return SessionWindows.of_inactivity_gap_and_grace(p["gap"], p["grace"])


def join_windows(p: Params) -> JoinWindows:
    return JoinWindows(p["before"], p["after"], p["grace"])


# ---- joins and table aggregations
def joined(kind: str, left: Any, right: Any, *arguments: Any, **keywords: Any) -> Any:
    method = {"inner": "join", "left": "left_join", "outer": "outer_join"}[kind]
    return getattr(left, method)(right, pair, *arguments, **keywords)


def holed_groups(t: Table, p: Params) -> KGroupedTable[Any, Any]:
    """Value 0 maps to nothing, value 9 to a key of None, the others to one of a few groups."""

    def group(_key: str, value: str) -> tuple[str | None, str] | None:
        if number(value) == 0:
            return None
        return (None, value) if number(value) == 9 else (bucket("g", value, p), value)

    return t.group_by(group)


def groups(t: Table, p: Params) -> KGroupedTable[Any, Any]:
    return t.group_by(lambda k, v: (bucket("g", v, p), v))


def by_length(t: Table) -> KGroupedTable[Any, Any]:
    return t.group_by(lambda k, v: (f"n{len(v) % 2}", v))


def history(grouped: KGroupedTable[Any, Any]) -> Table:
    """Adder and subtractor that write their history, so that every wrong old value shows."""
    return grouped.aggregate("0", lambda k, v, a: append(a, v), lambda k, v, a: remove(a, v), store="kv-agg")


# ---- outputs
def write(stream: Texts, topic: str = "out") -> None:
    stream.map_values(text).to(topic)


def write_table(t: Table, topic: str = "out") -> None:
    write(t.to_stream(), topic)


def write_windowed(t: Table) -> None:
    write(t.to_stream(lambda k, v: window_key(k)))
