"""Timestamps that cluster where windows open and close, out of order now and then."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import Any

Params = dict[str, Any]

_SPANS = ("size", "advance", "diff", "gap", "history", "wait", "interval", "i1", "i2", "retention", "shift")


def timestamps(random: Random, params: Params, count: int) -> Iterator[int]:
    spans = _spans(params)
    distances = _distances(spans, params.get("grace", 0))
    unit = max(1, random.choice(spans))
    disorder = random.choice((0.0, 0.2, 0.5))
    now = latest = random.choice((0, 0, 1, unit, 3 * unit, 10 * unit + 7))
    for _ in range(count):
        yield now
        now = max(0, _next(random, params, latest, unit, distances, disorder))
        latest = max(latest, now)


def _next(random: Random, params: Params, latest: int, unit: int, distances: list[int], disorder: float) -> int:
    draw = random.random()
    if draw < disorder:
        return latest - random.choice(distances)
    if draw < disorder + 0.15:  # around a multiple of the unit: where time windows start and end
        edge = latest // unit * unit + unit * random.choice((0, 1, 1, 2))
        return edge + random.choice((-1, 0, 1)) + random.choice((0, params.get("grace", 0)))
    if draw < 0.9:
        return latest + random.choice((0, 0, 1, 1, 2, max(1, unit // 3), max(1, unit // 2)))
    return latest + random.choice(distances)


def _spans(params: Params) -> list[int]:
    spans = {params[name] for name in _SPANS if name in params}
    if "before" in params:
        before, after = params["before"], params["after"]
        spans |= {abs(before), abs(after), before + after}
    if "diff" in params:
        spans.add(2 * params["diff"])
    return sorted(spans) or [5]


def _distances(spans: list[int], grace: int) -> list[int]:
    """Each span, with and without grace, and one to either side of it."""
    edges = {*spans, grace, *(span + grace for span in spans)}
    around = {edge + step for edge in edges for step in (-1, 0, 1)}
    return sorted({0, 1, 2} | {distance for distance in around if distance >= 0})
