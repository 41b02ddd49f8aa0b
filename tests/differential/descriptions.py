"""Kafka's own describe() texts of the topologies, kept as snapshots that penstock's must equal."""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Iterator
from pathlib import Path
from random import Random
from typing import Any

from tests.differential.catalog import catalog
from tests.differential.oracle import Oracle
from tests.differential.penstock_side import describe

Request = dict[str, Any]

SNAPSHOTS = Path(__file__).parents[1] / "topology" / "snapshots"

# Together these show every kind of node, store and internal topic, with generated and with given names.
KEPT = (
    "aggregate_by_key", "assembled_chain", "assembled_read_only", "assembled_separate", "assembled_store", "clickstream",
    "cogroup_rekeyed", "cogroup_session", "count_group_by", "fk_inner", "fk_left_group", "flat_map_chain",
    "merge", "named_aggregates", "named_cogroup", "named_fk_join", "named_lookup", "named_process", "named_ss_join",
    "named_stateless", "named_tables", "named_tt_join", "names_aggregates", "names_cogroup", "names_global_store",
    "names_pattern", "names_rekeyed_aggregates", "names_repartition", "names_shared_key", "names_sources",
    "names_split", "names_stateless", "names_table_reuse", "names_tables", "names_unnamed_stores", "names_windows", "papi_window_store",
    "process_values", "reduce_then_group", "repartition", "select_key_to_table", "session_count_close", "sg_left",
    "split_default", "ss_chain", "ss_inner", "ss_left_rekeyed", "ss_outer", "ss_self", "st_inner", "st_inner_grace",
    "st_left_rekeyed", "stock_stats", "suppress_then_join", "suppress_windowed_limit", "table_filter_group_agg",
    "table_transform_values", "topic_extractor", "tt_chain_same", "tt_inner_store", "tt_of_counts", "tt_outer_group",
)  # fmt: skip


def variants(names: Iterable[str] | None = None) -> Iterator[tuple[str, Request]]:
    """A request for each topology, by the name of its snapshot; those the optimizer changes come twice."""
    for name, entry in catalog().items():
        if names is not None and name not in names:
            continue
        request: Request = {
            "id": name,
            "topology": name,
            "params": entry.choose(Random(name)),
            "inputs": [],
            "caching": False,
            "store_type": "rocksdb",
            "describe": True,
        }
        if name == "named_ss_join":
            for kind in ("inner", "left", "outer"):
                yield f"{name}_{kind}", request | {"params": {"kind": kind}}
            continue
        yield name, request
        if entry.optimized:
            yield f"{name}_optimized", request | {"config": {"topology.optimization": "all"}}


def compare(names: Iterable[str], *, update: bool) -> int:
    """Print every difference between Kafka's texts and ours; return their number. `update` writes the snapshots."""
    wanted = list(variants(names))
    different = 0
    with Oracle() as oracle:
        for (name, request), answer in zip(wanted, oracle.answers([r for _, r in wanted]), strict=True):
            kafka = _normal(answer.get("describe") or f"error: {answer['error']}")
            if update and request["topology"] in KEPT:
                SNAPSHOTS.mkdir(parents=True, exist_ok=True)
                (SNAPSHOTS / f"{name}.txt").write_text(kafka, encoding="utf-8")
            text = ours(request)
            if text != kafka:
                different += 1
                lines = difflib.unified_diff(kafka.split("\n"), text.split("\n"), "kafka", "penstock", lineterm="")
                print(f"\n{name}:", *lines, sep="\n")
    print(f"{len(wanted) - different} equal, {different} different")
    return different


def ours(request: Request) -> str:
    """penstock's text, or why there is none."""
    try:
        return _normal(describe(request))
    except Exception as error:  # noqa: BLE001 - a topology that cannot be built is a difference, not the end
        return f"error: {type(error).__name__}: {error}"


def _normal(text: str) -> str:
    """Without the name of a topic extractor, which is each language's own."""
    return re.sub(r"\(extractor class: .*\)", "(extractor class: ..)", text)
