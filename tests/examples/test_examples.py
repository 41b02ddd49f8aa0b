"""The examples in the test driver, and their generators."""

from __future__ import annotations

import itertools
from types import ModuleType

import pytest

from examples import clickstream, stock_statistics, word_count
from examples.clickstream import generate as clickstream_generator
from examples.stock_statistics import generate as stock_generator
from examples.word_count import generate as word_generator
from penstock.testing import TopologyTestDriver

START = 1_700_000_000_000


def test_word_count() -> None:
    with TopologyTestDriver(word_count.topology()) as driver:
        lines = driver.create_input_topic(word_count.LINES)
        counts = driver.create_output_topic(word_count.COUNTS)
        lines.pipe_input("The mill, the river.")
        lines.pipe_input("Don't stop the mill!")
        assert counts.read_key_values_to_list() == [
            ("the", 1), ("mill", 1), ("the", 2), ("river", 1), ("don't", 1), ("stop", 1), ("the", 3), ("mill", 2),
        ]  # fmt: skip
        assert driver.get_key_value_store("counts").get("mill") == 2


def test_stock_statistics() -> None:
    with TopologyTestDriver(stock_statistics.topology()) as driver:
        trades = driver.create_input_topic(stock_statistics.TRADES)
        statistics = driver.create_output_topic(stock_statistics.STATISTICS)
        trades.pipe_input("ACME", {"price": 10.0, "size": 100}, START)
        assert len(statistics.read_values_to_list()) == 5  # the trade is in five windows
        trades.pipe_input("MILL", {"price": 99.0, "size": 100}, START + 500)
        statistics.read_values_to_list()
        trades.pipe_input("ACME", {"price": 8.0, "size": 100}, START + 1500)
        results = [(r.key, r.value) for r in statistics.read_records_to_list()]
        # Four windows hold both trades, the youngest one only the second.
        assert [key for key, _ in results] == ["ACME"] * 5
        assert results[0][1] == {
            "start": START - 3000, "end": START + 2000, "lowest": 8.0, "trades": 2, "average": 9.0,
        }  # fmt: skip
        assert results[-1][1] == {
            "start": START + 1000, "end": START + 6000, "lowest": 8.0, "trades": 1, "average": 8.0,
        }  # fmt: skip


def test_a_trade_that_is_too_late_is_dropped() -> None:
    with TopologyTestDriver(stock_statistics.topology()) as driver:
        trades = driver.create_input_topic(stock_statistics.TRADES)
        trades.pipe_input("ACME", {"price": 10.0, "size": 100}, START + 20_000)
        trades.pipe_input("ACME", {"price": 10.0, "size": 100}, START)
        assert driver.dropped_records > 0


def test_clickstream() -> None:
    with TopologyTestDriver(clickstream.topology()) as driver:
        clicks = driver.create_input_topic(clickstream.CLICKS)
        searches = driver.create_input_topic(clickstream.SEARCHES)
        profiles = driver.create_input_topic(clickstream.PROFILES)
        activity = driver.create_output_topic(clickstream.ACTIVITY)
        profiles.pipe_input("u1", {"name": "Ann"}, START)
        searches.pipe_input("u1", {"text": "boots"}, START)
        clicks.pipe_input("u1", {"page": "/boots"}, START + 400)
        assert activity.read_values_to_list() == [{"page": "/boots", "user": "Ann", "search": "boots"}]
        clicks.pipe_input("u1", {"page": "/tent"}, START + 1001)  # a second and more after the search
        clicks.pipe_input("u9", {"page": "/map"}, START + 1002)  # nobody knows u9
        assert activity.is_empty  # a search may still come
        clicks.pipe_input("u1", {"page": "/later"}, START + 10_000)
        assert activity.read_key_values_to_list() == [
            ("u1", {"page": "/tent", "user": "Ann", "search": None}),
            ("u9", {"page": "/map", "user": None, "search": None}),
        ]


GENERATORS = [word_generator, stock_generator, clickstream_generator]


@pytest.mark.parametrize("generator", GENERATORS, ids=lambda module: module.__name__)
def test_the_same_seed_gives_the_same_records(generator: ModuleType) -> None:
    def first(seed: int) -> list[object]:
        return list(itertools.islice(generator.records(seed, START, 20), 300))

    assert first(1) == first(1)
    assert first(1) != first(2)
    assert all(record.topic in generator.TOPICS and record.timestamp >= START for record in first(1))  # type: ignore[attr-defined]


@pytest.mark.parametrize(
    ("generator", "example", "output"),
    [
        (word_generator, word_count, word_count.COUNTS),
        (stock_generator, stock_statistics, stock_statistics.STATISTICS),
        (clickstream_generator, clickstream, clickstream.ACTIVITY),
    ],
    ids=["word_count", "stock_statistics", "clickstream"],
)
def test_what_is_generated_fits_the_topology(generator: ModuleType, example: ModuleType, output: str) -> None:
    with TopologyTestDriver(example.topology()) as driver:
        for record in itertools.islice(generator.records(7, START, 50), 300):
            key = None if record.key is None else record.key.encode()
            driver.pipe(record.topic, key, record.value.encode(), record.timestamp)
        assert len(driver.outputs(output)) > 100
