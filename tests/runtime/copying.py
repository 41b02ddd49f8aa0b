"""Functions and a topology for the tests on Spark: importable, as Spark's workers need them."""

from __future__ import annotations

from collections.abc import Callable

from penstock import StreamsBuilder, Topology


def double(value: str) -> str:
    return str(int(value) * 2)


def double_or_nothing(value: str) -> str:
    return str(int(value) * 2) if value.isdigit() else "nothing"


def doubling(source: str, target: str, function: Callable[[str], str] = double) -> Topology:
    builder = StreamsBuilder()
    builder.stream(source).map_values(function, name="doubling").to(target)
    return builder.build()


def counting(source: str, target: str) -> Topology:
    builder = StreamsBuilder()
    counts = builder.stream(source).group_by_key().count(name="counts")
    counts.to_stream().to(target, value_serde="long")
    return builder.build()
