"""Rows of a cached table that go straight to a topic are written in the bytes the store has of them."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import StreamsBuilder, fn, v
from penstock.serde.json_serde import JsonSerde
from penstock.testing import TopologyTestDriver

TEXT: dict[str, Any] = {"key_serde": "string", "value_serde": "json"}


def written(builder: StreamsBuilder, *, cache: bool) -> list[tuple[bytes | None, bytes | None]]:
    settings = {"statestore.cache.max.bytes": 1_000_000 if cache else 0}
    with TopologyTestDriver(builder.build(), settings) as driver:
        source = driver.create_input_topic("trades", "string", "json")
        for key, price in (("a", 1.5), ("b", 2.0), ("a", 2.5)):
            source.pipe_input(key, {"price": price, "size": 3}, timestamp=5)
        driver.advance_wall_clock_time(100_000)
        records = driver.create_output_topic("totals", "bytes", "bytes").read_records_to_list()
        return [(record.key, record.value) for record in records]


def totals(**serdes: Any) -> StreamsBuilder:
    builder = StreamsBuilder()
    table = builder.stream("trades", **TEXT).group_by_key().agg(n=fn.count(), sum=fn.sum(v.price))
    table.to_stream().to("totals", **serdes)
    return builder


@pytest.mark.parametrize(
    ("value_serde", "expected"),
    [
        ("json", b'{"n":2,"sum":4.0}'),
        (JsonSerde(sort_keys=False), b'{"n":2,"sum":4.0}'),  # another serde than the store's: serialised again
    ],
)
def test_with_and_without_a_cache_the_last_bytes_are_the_same(value_serde: Any, expected: bytes) -> None:
    builder = totals(key_serde="string", value_serde=value_serde)
    cached = written(builder, cache=True)
    assert dict(cached)[b"a"] == expected
    assert dict(cached) == dict(written(builder, cache=False))


def test_what_stands_between_table_and_topic_is_not_skipped() -> None:
    builder = StreamsBuilder()
    table = builder.stream("trades", **TEXT).group_by_key().agg(n=fn.count())
    table.to_stream().map_values(lambda row: {"n": row["n"] * 10}).to("totals", **TEXT)
    assert dict(written(builder, cache=True))[b"a"] == b'{"n":20}'


def test_two_readers_of_a_table_both_get_their_rows() -> None:
    builder = totals(**TEXT)
    table = builder.stream("others", **TEXT).group_by_key().count(store="c")
    table.to_stream().to("totals", key_serde="string", value_serde="long")
    table.to_stream().to("counts", key_serde="string", value_serde="long")
    with TopologyTestDriver(builder.build()) as driver:
        driver.create_input_topic("others", "string", "json").pipe_input("k", 1, timestamp=1)
        driver.advance_wall_clock_time(100_000)
        for topic in ("totals", "counts"):
            assert driver.create_output_topic(topic, "string", "long").read_key_value() == ("k", 1)
