"""Partial aggregates in front of a repartition: one record a key and batch goes through instead of all of them.

Values travel as the aggregate they add up to, with the largest timestamp and the last headers of their records.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.interpreter.aggregate import step
from penstock.interpreter.compiler import NodeContext, builds
from penstock.isolation import own_copy
from penstock.topology.operators import Aggregation, CombinePartials


def _advance(aggregation: Aggregation) -> Callable[[Any, Any, int, Any], Any]:
    advance = step(aggregation)
    if not aggregation.mutates:
        return advance
    # A reducer may change its first value, which others hold, too: another key, or a branch beside this one.
    return lambda key, value, timestamp, aggregate: advance(key, own_copy(value), timestamp, aggregate)


@builds(CombinePartials)
def combine_partials(operator: CombinePartials, node: NodeContext) -> Callable[..., None]:
    """Aggregate in a dict until the batch ends."""
    forward, context, advance = node.forward, node.context, _advance(operator.aggregation)
    drop_value = node.drop("null value in an aggregation")
    key_serde = node.key_serde(operator.key_serde)
    identity: Callable[[Any], Any] | None = None if key_serde.key_identity else key_serde.encoder("")
    counts = operator.aggregation.kind == "count"
    partials: dict[Any, list[Any]] = {}
    find = partials.get

    def release() -> None:
        held = list(partials.values())
        partials.clear()
        before = context.headers
        for key, aggregate, timestamp, headers in held:
            context.headers = headers
            forward(key, aggregate, timestamp)
        context.headers = before

    node.services.after_flush.append(release)
    node.services.held.append(partials.__len__)
    if identity is None:
        # Most of what a word count does: a call for each word costs as much as the rest.
        node.offer_tail(
            "if value is None:",
            "    drop_value()",
            "    {skip}",
            "partial = find(key)",
            "if partial is None:",
            f"    partials[key] = [key, {'1' if counts else 'advance(key, value, timestamp, None)'}, "
            "timestamp, context.headers]",
            "else:",
            f"    partial[1] = {'partial[1] + 1' if counts else 'advance(key, value, timestamp, partial[1])'}",
            "    if timestamp > partial[2]: partial[2] = timestamp",
            "    partial[3] = context.headers",
            drop_value=drop_value,
            find=find,
            partials=partials,
            advance=advance,
            context=context,
        )

    def process(key: Any, value: Any, timestamp: int) -> None:
        if value is None:
            drop_value()
            return
        at = key if identity is None else identity(key)
        partial = find(at)
        if partial is None:
            partials[at] = [key, 1 if counts else advance(key, value, timestamp, None), timestamp, context.headers]
            return
        partial[1] = partial[1] + 1 if counts else advance(key, value, timestamp, partial[1])
        if timestamp > partial[2]:
            partial[2] = timestamp
        partial[3] = context.headers

    return process
