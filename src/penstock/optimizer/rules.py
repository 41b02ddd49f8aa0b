"""All rules in the order they run. A rule is a function that changes the logical graph in place."""

from __future__ import annotations

from collections.abc import Callable, Collection
from dataclasses import dataclass

from penstock.optimizer.keep_null_keys import keep_null_keys
from penstock.optimizer.merge_repartition_topics import merge_repartition_topics
from penstock.optimizer.merge_sources import merge_sources
from penstock.optimizer.reuse_source_topics import reuse_source_topics
from penstock.optimizer.single_store_self_join import single_store_self_join
from penstock.topology.graph import Graph


@dataclass(frozen=True, slots=True)
class Rule:
    """A rewrite of the graph, and what asks for it.

    Attributes:
        apply: The rewrite.
        option: Value of `topology.optimization` that turns it on; None runs always.
    """

    apply: Callable[[Graph], None]
    option: str | None = None


RULES: tuple[Rule, ...] = (
    Rule(merge_sources),
    Rule(reuse_source_topics, "reuse.ktable.source.topics"),
    Rule(merge_repartition_topics, "merge.repartition.topics"),
    Rule(single_store_self_join, "single.store.self.join"),
    Rule(keep_null_keys),
)

OPTIONS = tuple(rule.option for rule in RULES if rule.option is not None)


def optimize(graph: Graph, options: Collection[str]) -> None:
    """Run the rules that always run and those that were asked for."""
    for rule in RULES:
        if rule.option is None or rule.option in options:
            rule.apply(graph)
