"""Random parameters of topologies: mostly small, so that inputs hit the boundaries often."""

from __future__ import annotations

from collections.abc import Callable
from random import Random
from typing import Any

Params = dict[str, Any]
Chooser = Callable[[Random], Params]

JOIN_KINDS = ("inner", "left", "outer")
_SPANS = (1, 2, 3, 5, 7, 10, 10, 20, 50, 100, 1000, 70_000)  # the last is longer than a segment of a window store


def nothing(_random: Random) -> Params:
    return {}


def modulus(random: Random) -> Params:
    return {"mod": random.choice((2, 3, 4))}


def tumbling(random: Random) -> Params:
    size = random.choice(_SPANS)
    return {"size": size, "grace": _grace(random, size)}


def hopping(random: Random) -> Params:
    size = random.choice(_SPANS)
    advances = sorted({max(1, size // 5), max(1, size // 3), max(1, size // 2), max(1, size - 1), size})
    advance = random.choice([a for a in advances if size <= 12 * a])
    return {"size": size, "advance": advance, "grace": _grace(random, size)}


def sliding(random: Random) -> Params:
    difference = random.choice((1, 2, 3, 5, 10, 10, 20, 50, 1000, 70_000))
    return {"diff": difference, "grace": _grace(random, difference)}


def session(random: Random) -> Params:
    gap = random.choice((0, 1, 2, 5, 10, 10, 50, 1000, 70_000))
    return {"gap": gap, "grace": _grace(random, gap)}


def join_window(random: Random) -> Params:
    span = random.choice(_SPANS)
    before, after = random.choice([
        (span, span), (span, 0), (0, span), (span, span // 2), (span // 3, span), (0, 0),
        (2 * span, -span), (-span, 2 * span), (-span, span), (span, -span),
    ])  # fmt: skip
    return {"before": before, "after": after, "grace": _grace(random, span)}


def versioned(*flags: str) -> Chooser:
    """A history retention, and for each flag whether that table is versioned."""

    def choose(random: Random) -> Params:
        history = random.choice((1, 5, 10, 50, 100, 1000, 10_000))
        return {"history": history, **{flag: random.random() < 0.4 for flag in flags}}

    return choose


def lookup_grace(random: Random) -> Params:
    history = random.choice((5, 10, 50, 100, 1000))
    return {"history": history, "grace": random.choice((0, 1, 2, history // 2, history - 1, history))}


def suppression(random: Random) -> Params:
    return {"wait": random.choice((0, 1, 2, 5, 10, 50)), "max": random.choice((1, 1, 2, 3, 5))}


def kinds(random: Random) -> Params:
    return {"k1": random.choice(JOIN_KINDS), "k2": random.choice(JOIN_KINDS)}


def one_of(**choices: tuple[Any, ...]) -> Chooser:
    return lambda random: {name: random.choice(values) for name, values in choices.items()}


def window_store(random: Random) -> Params:
    size = random.choice(_SPANS)
    return {
        "size": size,
        "retention": size * random.choice((1, 2, 3)),
        "look": size * random.choice((1, 2, 5)),
        "dups": random.random() < 0.4,
    }


def session_store(random: Random) -> Params:
    size = random.choice(_SPANS)
    return {
        "size": size,
        "retention": size * random.choice((1, 3, 10)),
        "look": size * random.choice((1, 2, 5)),
        "unit": random.choice((0, 1, 2)),
    }


def all_of(*choosers: Chooser) -> Chooser:
    """The parameters of several choosers; a later one wins."""

    def choose(random: Random) -> Params:
        params: Params = {}
        for chooser in choosers:
            params.update(chooser(random))
        return params

    return choose


def _grace(random: Random, size: int) -> int:
    return random.choice((0, 0, 1, 2, max(size - 1, 0), size, size + 1, 2 * size, 3 * size + 1))
