from __future__ import annotations

import random
from math import exp

import pytest

from penstock.spark.pace import Pace


def run(pace: Pace, batches: int, *, fixed: float, each: float, noise: float = 0.0, seed: int = 1) -> list[int]:
    """Batches over an endless backlog; the sizes the pace gave, one for each batch."""
    rng = random.Random(seed)
    sizes = []
    for _ in range(batches):
        sizes.append(pace.records)
        pace.adapt(pace.records, (fixed + each * pace.records) * rng.uniform(1 - noise, 1 + noise))
    return sizes


def test_it_starts_small_and_is_near_its_target_after_a_few_batches() -> None:
    sizes = run(Pace(1000, 10_000_000), 8, fixed=200, each=0.004)
    assert sizes[0] == 10_000
    assert sizes[1] == 10_000, "the first batch warms up and is not judged"
    best = (1000 - 200) / 0.004
    assert sizes[-1] == pytest.approx(best, rel=0.4)
    assert sizes == sorted(sizes)


@pytest.mark.parametrize("each", [0.0005, 0.004, 0.02, 0.5, 5.0])
@pytest.mark.parametrize("fixed", [20, 200, 450])
@pytest.mark.parametrize("seed", [1, 2, 3])
def test_with_noise_it_settles_and_does_not_swing(each: float, fixed: float, seed: int) -> None:
    pace = Pace(1000, 1_000_000_000)
    run(pace, 30, fixed=fixed, each=each, noise=0.15, seed=seed)
    sizes = run(pace, 60, fixed=fixed, each=each, noise=0.15, seed=seed + 10)
    times = [fixed + each * n for n in sizes]
    assert all(500 < time < 1600 for time in times)
    turns = sum((b - a) * (c - b) < 0 for a, b, c in zip(sizes, sizes[1:], sizes[2:], strict=False))
    assert turns <= 4


def test_slow_functions_get_small_batches() -> None:
    sizes = run(Pace(1000, 1_000_000), 12, fixed=200, each=4.0)
    assert sizes[-1] <= 260
    assert min(sizes) >= 100


def test_where_the_fixed_part_is_over_the_target_batches_grow_all_the_same() -> None:
    sizes = run(Pace(1000, 10_000_000), 20, fixed=3000, each=0.004)
    assert sizes[-1] > 300_000, "smaller batches would not be faster"
    assert 3000 + 0.004 * sizes[-1] < 8000


def test_small_batches_of_a_quiet_stream_do_not_slow_down_a_burst() -> None:
    pace = Pace(1000, 10_000_000)
    run(pace, 10, fixed=200, each=0.004)
    before = pace.records
    for _ in range(100):
        pace.adapt(10, 250)
    assert pace.records == before


def test_one_hiccup_costs_at_most_half() -> None:
    pace = Pace(1000, 10_000_000)
    before = run(pace, 10, fixed=200, each=0.004)[-1]
    pace.adapt(pace.records, 60_000)
    assert pace.records >= before // 2


def test_a_batch_that_waited_for_its_turn_says_only_that_it_was_fast_enough() -> None:
    pace = Pace(1000, 500_000, interval_ms=30_000)
    for _ in range(10):
        pace.adapt(pace.records, 30_000)
    assert pace.records == 500_000


def test_with_a_long_interval_a_batch_may_take_that_long() -> None:
    pace = Pace(1000, 100_000_000, interval_ms=10_000)
    for _ in range(40):
        pace.adapt(pace.records, max(10_000, 200 + 0.01 * pace.records))
    assert 5_000 < 200 + 0.01 * pace.records < 20_000


def test_it_never_gives_more_than_the_limit() -> None:
    assert max(run(Pace(1000, 30_000), 10, fixed=1, each=0.0001)) == 30_000
    assert Pace(1000, 50).records == 50


@pytest.mark.parametrize(("records", "elapsed"), [(0, 100.0), (10, 0.0), (-1, 5.0)])
def test_empty_batches_say_nothing(records: int, elapsed: float) -> None:
    pace = Pace(1000, 1_000_000)
    for _ in range(5):
        pace.adapt(records, elapsed)
    assert pace.records == 10_000


def test_over_a_large_backlog_batches_are_longer_and_the_pace_stays() -> None:
    pace = Pace(1000, 10_000_000)
    usual = run(pace, 20, fixed=200, each=0.004)[-1]
    assert pace.allowed(usual // 2) == usual
    assert pace.allowed(2 * usual) == 2 * usual
    assert pace.allowed(1_000 * usual) == 4 * usual
    for _ in range(20):
        records = pace.allowed(1_000 * usual)
        pace.adapt(records, 200 + 0.004 * records)
    assert pace.records == pytest.approx(usual, rel=0.3)


def test_before_the_pace_is_known_nothing_is_stretched() -> None:
    assert Pace(1000, 10_000_000).allowed(10_000_000) == 10_000


def counting(records: int) -> float:
    """Milliseconds of a batch that counts 50,000 keys: those of its records, and those of the keys among them."""
    return 250 + 0.0026 * records + 0.009 * 50_000 * (1 - exp(-records / 50_000))


def test_where_a_batch_merges_its_records_long_ones_grow_until_they_take_four_times_the_target() -> None:
    pace = Pace(1000, 10_000_000)
    for _ in range(8):
        pace.adapt(pace.records, counting(pace.records))
    usual = pace.records
    for _ in range(8):
        records = pace.allowed(100_000_000)
        pace.adapt(records, counting(records))
    assert pace.allowed(100_000_000) > 8 * usual, "four times as many take not even twice as long"
    assert 3000 < counting(pace.allowed(100_000_000)) < 4500
    assert pace.records == usual
    assert pace.allowed(2 * usual) == 2 * usual
    for _ in range(4):
        records = pace.allowed(100_000_000)
        pace.adapt(records, 5 * counting(records))
    assert 5 * counting(pace.allowed(100_000_000)) < 7000
    assert pace.allowed(100_000_000) >= pace.records


def test_the_end_of_a_backlog_says_nothing_about_long_batches() -> None:
    pace = Pace(1000, 10_000_000)
    run(pace, 20, fixed=200, each=0.004)
    longest = pace.allowed(100_000_000)
    pace.adapt(pace.records * 2, 200 + 0.004 * 2 * pace.records)
    assert pace.allowed(100_000_000) == longest
