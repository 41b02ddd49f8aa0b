"""Combining before a shuffle changes what travels, never the answer."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import StreamsBuilder, Topology, fn, v
from penstock.interpreter.sink import Collector
from penstock.interpreter.task import Task
from penstock.optimizer.combine_before_shuffle import combine_before_shuffle
from penstock.records import Headers
from penstock.runtime.settings import Settings
from penstock.state.bytes_store import MemoryBytesStore

Sent = tuple[str, "bytes | None", "bytes | None", int]


def word_count(**options: Any) -> Topology:
    builder = StreamsBuilder()
    words = builder.stream("in").flat_map_values(str.split).group_by(lambda word: word)
    words.count(name="counts", **options).to_stream().to("out", value_serde="long")
    return builder.build()


def longest() -> Topology:
    builder = StreamsBuilder()
    words = builder.stream("in").flat_map_values(str.split).group_by(lambda word: word[0])
    words.reduce(lambda a, b: max(a, b, key=len), name="longest", associative=True).to_stream().to("out")
    return builder.build()


def statistics() -> Topology:
    builder = StreamsBuilder()
    numbers = builder.stream("in").flat_map_values(str.split).map_values(lambda word: {"n": len(word)})
    grouped = numbers.group_by(lambda value: str(value["n"] % 3), value_serde="json")
    table = grouped.agg(count=fn.count(), total=fn.sum(v.n), low=fn.min(v.n), mean=fn.avg(v.n))
    table.to_stream().to("out", value_serde="json")
    return builder.build()


def tags() -> Topology:
    """A reducer that changes what it gets, and values that several keys have in common."""
    builder = StreamsBuilder()
    numbers = builder.stream("in").map_values(lambda line: {"n": 1, "words": line.split()})
    by_word = numbers.flat_map(lambda key, value: [(word, value) for word in value["words"]])

    def add(total: dict[str, Any], value: dict[str, Any]) -> dict[str, Any]:
        total["n"] += value["n"]
        total["words"] = []
        return total

    table = by_word.group_by_key(key_serde="string", value_serde="json").reduce(add, name="tags", associative=True)
    table.to_stream().map_values(lambda value: value["n"]).to("out", value_serde="json")
    return builder.build()


class Run(Collector):
    """A topology over two tasks in batches: what its repartition topics and outputs get."""

    def __init__(self, topology: Topology) -> None:
        self.sent: list[Sent] = []
        self._settings = Settings({"application.id": "app"})
        stores: dict[str, MemoryBytesStore] = {}
        self._task = Task(
            topology,
            config=self._settings.task_config(),
            collector=self,
            bytes_store=lambda name: stores.setdefault(name, MemoryBytesStore()),
        )
        self.results: dict[bytes | None, tuple[bytes | None, int]] = {}
        self.repartitioned = 0

    def send(
        self,
        topic: str,
        key: bytes | None,
        value: bytes | None,
        timestamp: int,
        headers: Headers,
        partition: int | None,
    ) -> None:
        self.sent.append((topic, key, value, timestamp))

    def partition_count(self, topic: str) -> int:
        return 1

    def batch(self, lines: list[tuple[str, int]]) -> None:
        for offset, (line, timestamp) in enumerate(lines):
            self._task.source("in", 0).accept(offset, timestamp, None, line.encode(), None)
        self._task.flush()
        while self.sent:
            sent, self.sent = self.sent, []
            for topic, key, value, timestamp in sent:
                if topic.endswith("-repartition"):
                    self.repartitioned += 1
                    self._task.source(topic, 0).accept(0, timestamp, key, value, None)
                else:
                    self.results[key] = (value, timestamp)
            self._task.flush()


words = st.text("abc", min_size=1, max_size=3)
batches = st.lists(
    st.lists(st.tuples(st.lists(words, max_size=6).map(" ".join), st.integers(0, 50)), max_size=8), max_size=4
)


@pytest.mark.parametrize("topology", [word_count, longest, statistics, tags])
def test_the_answer_is_the_same(topology: Any) -> None:
    plain, combined = topology(), combine_before_shuffle(topology())
    assert combined is not plain
    assert any(name.endswith("-combine") for name in combined.nodes)

    @settings(max_examples=60, deadline=None)
    @given(batches)
    def check(given_batches: list[list[tuple[str, int]]]) -> None:
        one, other = Run(plain), Run(combined)
        for lines in given_batches:
            one.batch(lines)
            other.batch(lines)
            if topology is longest:  # of equally long words the first one wins, which the order decides
                assert {k: (len(x or b""), t) for k, (x, t) in one.results.items()} == {
                    k: (len(x or b""), t) for k, (x, t) in other.results.items()
                }
            else:
                assert one.results == other.results

    check()


def test_one_row_a_key_travels() -> None:
    plain, combined = Run(word_count()), Run(combine_before_shuffle(word_count()))
    lines = [("a b a a", 1), ("b a", 2)]
    plain.batch(lines)
    combined.batch(lines)
    assert (plain.repartitioned, combined.repartitioned) == (6, 2)


def test_what_comes_out_of_a_cache_is_combined_and_sent_in_the_same_batch() -> None:
    builder = StreamsBuilder()
    counts = builder.stream("in").group_by(lambda word: word).count(name="counts")
    updates = counts.to_stream().group_by(str, value_serde="long")
    updates.count(name="updates").to_stream().to("out", value_serde="long")
    topology = combine_before_shuffle(builder.build())
    assert [name for name in topology.nodes if name.endswith("-combine")] == ["counts-combine", "updates-combine"]
    run = Run(topology)
    run.batch([("a", 1), ("b", 2), ("a", 3)])
    one = (1).to_bytes(8, "big")
    assert run.results == {b"2": (one, 3), b"1": (one, 2)}


def test_describe_shows_it() -> None:
    text = str(combine_before_shuffle(word_count()).describe())
    assert "Processor: counts-combine (stores: [])" in text
    assert "counts-combine" not in str(word_count().describe())


def test_single_updates_are_not_combined() -> None:
    topology = word_count(cache="off")
    assert combine_before_shuffle(topology) is topology


def test_windows_and_plain_aggregates_are_left_alone() -> None:
    builder = StreamsBuilder()
    grouped = builder.stream("in").group_by(lambda value: value)
    grouped.tumbling("1m").count(name="windowed")
    grouped.aggregate(list, lambda value, aggregate: [*aggregate, value], name="plain", value_serde="json")
    grouped.reduce(lambda a, b: b, name="unpromised")
    topology = builder.build()
    assert combine_before_shuffle(topology) is topology
