"""Tables, their stateless operators and their aggregations."""

from __future__ import annotations

from typing import Any

from penstock import StreamsBuilder
from tests.differential.catalog import Params, dsl
from tests.differential.functions import minus, number, plus, show
from tests.differential.parameters import all_of, modulus, versioned
from tests.differential.shapes import by_key, groups, history, holed_groups, table, write_table


@dsl("in", choose=versioned("v"))
def table_source(b: StreamsBuilder, p: Params) -> None:
    write_table(table(b, p, "in", "v"))


@dsl("in")
def to_table(b: StreamsBuilder, p: Params) -> None:
    write_table(b.stream("in").to_table(store="kv-t"))


@dsl("in", choose=modulus)
def table_filter(b: StreamsBuilder, p: Params) -> None:
    write_table(b.table("in").filter(lambda k, v: number(v) % p["mod"] == 0))


@dsl("in", choose=modulus)
def table_filter_store(b: StreamsBuilder, p: Params) -> None:
    write_table(b.table("in").filter(lambda k, v: number(v) % p["mod"] == 0, store="kv-f"))


@dsl("in", choose=all_of(modulus, versioned("v")))
def table_filter_map(b: StreamsBuilder, p: Params) -> None:
    kept = table(b, p, "in", "v").filter_not(lambda k, v: number(v) % p["mod"] == 0)
    write_table(kept.map_values(lambda v: v + "!"))


@dsl("in", choose=modulus)
def table_map_store(b: StreamsBuilder, p: Params) -> None:
    mapped = b.table("in").map_values(lambda k, v: None if number(v) % p["mod"] == 0 else k + v, store="kv-m")
    write_table(mapped.filter(lambda k, v: v != ""))


@dsl("in", choose=modulus)
def table_transform_values(b: StreamsBuilder, p: Params) -> None:
    class CallCounter:
        """Shows how often it was called, tombstones included."""

        def init(self, context: Any) -> None:
            self.calls = 0

        def transform(self, key: str, value: str | None) -> str | None:
            self.calls += 1
            dropped = value is not None and number(value) % p["mod"] == 0
            return None if dropped else f"{show(value)}#{self.calls}"

        def close(self) -> None:
            pass

    write_table(b.table("in").transform_values(CallCounter, store="kv-tv"))


_GROUPED = all_of(modulus, versioned("v"))


@dsl("in", choose=_GROUPED)
def table_group_agg(b: StreamsBuilder, p: Params) -> None:
    write_table(history(holed_groups(table(b, p, "in", "v"), p)))


@dsl("in", choose=_GROUPED)
def table_group_agg_null(b: StreamsBuilder, p: Params) -> None:
    def subtract(_key: str, value: str, aggregate: str) -> str | None:
        return None if number(aggregate) == number(value) else minus(aggregate, value)

    grouped = holed_groups(table(b, p, "in", "v"), p)
    write_table(grouped.aggregate("0", lambda k, v, a: plus(a, v), subtract, store="kv-agg"))


@dsl("in", choose=_GROUPED)
def table_group_count(b: StreamsBuilder, p: Params) -> None:
    write_table(holed_groups(table(b, p, "in", "v"), p).count(store="kv-agg"))


@dsl("in", choose=_GROUPED)
def table_group_reduce(b: StreamsBuilder, p: Params) -> None:
    write_table(holed_groups(table(b, p, "in", "v"), p).reduce(plus, minus, store="kv-agg"))


@dsl("in", choose=_GROUPED)
def table_filter_group_agg(b: StreamsBuilder, p: Params) -> None:
    big = table(b, p, "in", "v").filter(lambda k, v: number(v) > 2).map_values(lambda v: plus(v, "1"))
    write_table(history(holed_groups(big, p)))


@dsl("in", choose=modulus)
def reduce_then_group(b: StreamsBuilder, p: Params) -> None:
    write_table(history(groups(by_key(b).reduce(plus, store="kv-1"), p)))


@dsl("in", choose=modulus)
def count_then_group(b: StreamsBuilder, p: Params) -> None:
    write_table(history(groups(by_key(b).count(store="kv-1").map_values(show), p)))
