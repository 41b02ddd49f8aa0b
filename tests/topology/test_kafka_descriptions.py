"""describe() must give Kafka's own text, node by node. `python -m tests.differential --update-snapshots` renews them."""

from __future__ import annotations

from typing import Any

import pytest

from tests.differential.descriptions import KEPT, SNAPSHOTS, ours, variants

REQUESTS = dict(variants(KEPT))


@pytest.mark.parametrize("name", sorted(REQUESTS))
def test_description(name: str) -> None:
    assert ours(REQUESTS[name]) == (SNAPSHOTS / f"{name}.txt").read_text(encoding="utf-8")


def test_no_snapshot_is_left_over() -> None:
    assert {path.stem for path in SNAPSHOTS.glob("*.txt")} == set(REQUESTS)


KINDS = (
    "COGROUPKSTREAM-AGGREGATE", "COGROUPKSTREAM-MERGE", "KSTREAM-AGGREGATE", "KSTREAM-BRANCH", "KSTREAM-FILTER",
    "KSTREAM-FLATMAP", "KSTREAM-FLATMAPVALUES", "KSTREAM-FOREACH", "KSTREAM-JOIN", "KSTREAM-JOINOTHER",
    "KSTREAM-JOINTHIS", "KSTREAM-KEY-SELECT", "KSTREAM-LEFTJOIN", "KSTREAM-MAP", "KSTREAM-MAPVALUES", "KSTREAM-MERGE",
    "KSTREAM-OUTEROTHER", "KSTREAM-OUTERSHARED", "KSTREAM-OUTERTHIS", "KSTREAM-PEEK", "KSTREAM-PRINTER",
    "KSTREAM-PROCESSOR", "KSTREAM-PROCESSVALUES", "KSTREAM-REDUCE", "KSTREAM-SINK", "KSTREAM-SOURCE",
    "KSTREAM-TOTABLE", "KSTREAM-WINDOWED", "KTABLE-AGGREGATE", "KTABLE-FILTER", "KTABLE-FK-JOIN-OUTPUT",
    "KTABLE-FK-JOIN-SUBSCRIPTION-PROCESSOR", "KTABLE-FK-JOIN-SUBSCRIPTION-REGISTRATION",
    "KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE", "KTABLE-FK-JOIN-SUBSCRIPTION-RESPONSE-RESOLVER-PROCESSOR",
    "KTABLE-JOINOTHER", "KTABLE-JOINTHIS", "KTABLE-MAPVALUES", "KTABLE-MERGE", "KTABLE-REDUCE", "KTABLE-SELECT",
    "KTABLE-SINK", "KTABLE-SOURCE", "KTABLE-SUPPRESS", "KTABLE-TOSTREAM", "KTABLE-TRANSFORMVALUES",
)  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_of_node_is_in_a_snapshot(kind: str) -> None:
    texts: Any = [path.read_text(encoding="utf-8") for path in SNAPSHOTS.glob("*.txt")]
    assert any(f"{kind}-00000" in text for text in texts)
