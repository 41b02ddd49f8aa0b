from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from penstock import StreamsBuilder, Topology
from penstock.errors import MissingSourceTopicError
from penstock.spark.job import Limits
from penstock.spark.losses import DataLossError
from penstock.spark.offsets import Offsets, records_between
from penstock.spark.planner import Planner
from tests.spark.fake_kafka import At, FakeKafka, make_job

SERDES: dict[str, Any] = {"key_serde": "string", "value_serde": "string"}


class Clock:
    now = 1000

    def __call__(self) -> int:
        return self.now


def stream(*topics: str, pattern: str | None = None, **options: Any) -> Topology:
    builder = StreamsBuilder()
    builder.stream(*topics, pattern=pattern, **options).to("out")
    return builder.build()


def join() -> StreamsBuilder:
    builder = StreamsBuilder()
    table = builder.table("prices", **SERDES)
    builder.stream("orders", **SERDES).join(table, lambda a, b: a, **SERDES).to("out")
    return builder


def ranges(planner: Planner, start: Offsets, end: Offsets) -> dict[At, tuple[int, int]]:
    return {
        (r.topic, r.partition): (r.start, r.end)
        for plan in planner.slots(start, end)
        for _, _, found in plan.tasks
        for r in found
    }


@pytest.fixture
def kafka() -> FakeKafka:
    found = FakeKafka()
    found.add("a", range(10, 20), start=10)
    return found


def test_a_batch_goes_from_the_start_to_the_end(kafka: FakeKafka, tmp_path: Path) -> None:
    planner = Planner(make_job(stream("a"), {"a": 1}, tmp_path), kafka, kafka, Clock())
    start = planner.initial()
    assert start == {"batch": -1, "clock": 0, "ticked": 0, "topics": {"a": {"0": 10}}, "globals": {}}
    end = planner.next(start)
    assert end == {**start, "batch": 0, "clock": 1000, "topics": {"a": {"0": 20}}, "ids": {"a": "a 1"}}
    assert ranges(planner, start, end) == {("a", 0): (10, 20)}
    assert records_between(start, end) == 10
    assert planner.next(end) is end, "nothing new, no batch"


def test_tasks_are_spread_over_the_slots(tmp_path: Path) -> None:
    kafka = FakeKafka()
    for partition in range(3):
        kafka.add("a", range(4), partition=partition)
    planner = Planner(make_job(stream("a"), {"a": 3}, tmp_path, slots=2), kafka, kafka, Clock())
    start = planner.initial()
    plans = planner.slots(start, planner.next(start))
    assert [[(s, p) for s, p, _ in plan.tasks] for plan in plans] == [[(0, 0), (0, 2)], [(0, 1)]]


def test_a_batch_takes_no_more_than_its_limits(tmp_path: Path) -> None:
    kafka = FakeKafka()
    kafka.add("a", range(9_000))
    kafka.add("a", range(1_000), partition=1)
    made = make_job(stream("a"), {"a": 2}, tmp_path, limits=Limits(max_records=1000))
    planner = Planner(made, kafka, kafka, Clock())
    assert planner.next(planner.initial())["topics"] == {"a": {"0": 900, "1": 100}}


def test_bytes_are_limited_by_a_look_at_the_records(tmp_path: Path) -> None:
    kafka = FakeKafka()
    kafka.add("a", range(5_000), size=50_000)
    made = make_job(stream("a"), {"a": 1}, tmp_path, limits=Limits(max_bytes=10_000_000))
    planner = Planner(made, kafka, kafka, Clock())
    assert planner.next(planner.initial())["topics"] == {"a": {"0": 200}}
    assert kafka.asked == ["size"]


def test_few_records_are_not_looked_at(kafka: FakeKafka, tmp_path: Path) -> None:
    planner = Planner(make_job(stream("a"), {"a": 1}, tmp_path), kafka, kafka, Clock())
    planner.next(planner.initial())
    assert kafka.asked == []


def test_joined_topics_are_reprocessed_in_time_order(tmp_path: Path) -> None:
    kafka = FakeKafka()
    kafka.add("orders", range(0, 100_000, 10))
    kafka.add("prices", range(0, 100_000, 1000))
    made = make_job(join(), {"orders": 1, "prices": 1}, tmp_path, limits=Limits(max_records=500))
    planner = Planner(made, kafka, kafka, Clock())
    position, batches = planner.initial(), 0
    while (end := planner.next(position)) is not position:
        at = {topic: offsets["0"] for topic, offsets in end["topics"].items()}
        orders, prices = kafka.logs["orders", 0].times, kafka.logs["prices", 0].times
        if at["orders"] < len(orders) and at["prices"] < len(prices):
            assert abs(orders[at["orders"]] - prices[at["prices"]]) <= 1000
        assert records_between(position, end) <= 500
        position, batches = end, batches + 1
    assert position["topics"] == {"orders": {"0": 10_000}, "prices": {"0": 100}}
    assert batches <= 28


def test_a_task_waits_for_a_partition_without_data(tmp_path: Path) -> None:
    kafka, clock = FakeKafka(), Clock()
    kafka.add("orders", range(5))
    kafka.add("prices", [])
    made = make_job(join(), {"orders": 1, "prices": 1}, tmp_path, max_task_idle_ms=200)
    planner = Planner(made, kafka, kafka, clock)
    start = planner.initial()
    assert planner.next(start) is start
    clock.now += 199
    assert planner.next(start) is start
    clock.now += 1
    assert planner.next(start)["topics"] == {"orders": {"0": 5}, "prices": {"0": 0}}


def test_a_stream_with_a_new_key_waits_for_the_table_it_is_joined_with(tmp_path: Path) -> None:
    kafka, clock = FakeKafka(), Clock()
    kafka.add("orders", range(5))
    kafka.add("prices", [])
    builder = StreamsBuilder()
    orders = builder.stream("orders", **SERDES).select_key(lambda value: value)
    orders.join(builder.table("prices", **SERDES), lambda order, price: order).to("out")
    planner = Planner(
        make_job(builder, {"orders": 1, "prices": 1}, tmp_path, max_task_idle_ms=200), kafka, kafka, clock
    )
    start = planner.initial()
    assert planner.next(start) is start
    kafka.add("prices", [3])
    clock.now += 100
    assert planner.next(start)["topics"] == {"orders": {"0": 5}, "prices": {"0": 1}}


def test_punctuation_makes_batches_without_data(kafka: FakeKafka, tmp_path: Path) -> None:
    from penstock import PunctuationType

    class Ticking:
        def init(self, context: Any) -> None:
            context.schedule(100, PunctuationType.WALL_CLOCK_TIME, lambda now: None)

        def process(self, record: Any) -> None: ...

    builder = StreamsBuilder()
    builder.stream("a", **SERDES).process(Ticking)
    clock = Clock()
    planner = Planner(make_job(builder, {"a": 1}, tmp_path), kafka, kafka, clock)
    first = planner.next(planner.initial())
    assert (first["batch"], first["ticked"]) == (0, 1000)
    clock.now += 99
    assert planner.next(first) is first
    clock.now += 1
    second = planner.next(first)
    assert (second["batch"], second["ticked"], records_between(first, second)) == (1, 1100, 0)
    assert all(plan.tick for plan in planner.slots(first, second))
    assert not any(plan.tick for plan in planner.slots(second, second | {"batch": 2}))


def test_new_partitions_are_read_from_their_first_record_and_a_replay_reads_the_same(tmp_path: Path) -> None:
    kafka, read = FakeKafka(), stream(pattern="a.*")
    kafka.add("a1", range(20))
    before = Planner(make_job(read, {"a1": 1}, tmp_path), kafka, kafka, Clock())
    start = before.next(before.initial())

    kafka.add("a1", range(23))
    kafka.add("a1", range(8), partition=1, start=2)
    kafka.add("a2", range(5))
    now = Planner(make_job(read, kafka.partitions(), tmp_path), kafka, kafka, Clock())
    end = now.next(start)
    assert end["topics"] == {"a1": {"0": 23, "1": 10}, "a2": {"0": 5}}
    assert end["begins"] == {"a1": {"1": 2}, "a2": {"0": 0}}
    kafka.add("a1", [], partition=1, start=99)
    replayed = Planner(make_job(read, kafka.partitions(), tmp_path), kafka, kafka, Clock())
    assert ranges(replayed, start, end) == {("a1", 0): (20, 23), ("a1", 1): (2, 10), ("a2", 0): (0, 5)}
    assert records_between(start, end) == 3 + 8 + 5


def test_latest_for_a_new_topic_is_decided_once(kafka: FakeKafka, tmp_path: Path) -> None:
    planner = Planner(make_job(stream("a", offset_reset="latest"), {"a": 1}, tmp_path), kafka, kafka, Clock())
    start = {"batch": 4, "clock": 0, "topics": {}, "globals": {}}
    assert planner.next(start) is start
    kafka.add("a", range(11), start=10)
    assert ranges(planner, start, planner.next(start)) == {("a", 0): (20, 21)}


def test_a_topic_that_is_no_longer_read_is_left_out(kafka: FakeKafka, tmp_path: Path) -> None:
    planner = Planner(make_job(stream("a"), {"a": 1}, tmp_path), kafka, kafka, Clock())
    start = {"batch": 4, "clock": 0, "topics": {"a": {"0": 15}, "gone": {"0": 15}}, "globals": {}}
    assert planner.next(start)["topics"] == {"a": {"0": 20}}


def test_records_that_are_gone_end_the_query(kafka: FakeKafka, tmp_path: Path) -> None:
    planner = Planner(make_job(stream("a"), {"a": 1}, tmp_path), kafka, kafka, Clock())
    start = {"batch": 4, "clock": 0, "topics": {"a": {"0": 5}}, "globals": {}}
    with pytest.raises(DataLossError) as raised:
        planner.next(start)
    assert str(raised.value) == (
        "offset 5 of a-0 is next, but it holds offsets 10 to 20. Retention removed records before they were read, or a "
        "topic was deleted and made again. Set penstock.fail.on.data.loss=false to go on with what is there, or reset the "
        "application."
    )


def test_or_they_are_skipped_counted_and_reported(
    kafka: FakeKafka, tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    made = make_job(stream("a"), {"a": 1}, tmp_path, fail_on_data_loss=False)
    planner = Planner(made, kafka, kafka, Clock())
    start = {"batch": 4, "clock": 0, "topics": {"a": {"0": 5}}, "globals": {}, "lost": 2}
    end = planner.next(start)
    assert (end["topics"], end["begins"], end["lost"]) == ({"a": {"0": 20}}, {"a": {"0": 10}}, 7)
    assert ranges(planner, start, end) == {("a", 0): (10, 20)}
    assert "offset 5 of a-0 is next, but it holds offsets 10 to 20; going on with what is there" in caplog.text
    kafka.add("a", range(11), start=10)
    assert planner.next(end)["lost"] == 7
    assert "begins" not in planner.next(end)


def test_a_topic_that_was_made_again_is_read_from_its_first_record(tmp_path: Path) -> None:
    kafka = FakeKafka()
    kafka.add("a", [])
    made = make_job(stream("a"), {"a": 1}, tmp_path, fail_on_data_loss=False)
    planner = Planner(made, kafka, kafka, Clock())
    start = {"batch": 4, "clock": 0, "topics": {"a": {"0": 5}}, "globals": {}}
    end = planner.next(start)
    assert end["topics"] == {"a": {"0": 0}}
    assert planner.next(end) is end, "noticed once"


@pytest.mark.parametrize("records", [5, 8])
def test_also_if_it_is_as_long_as_the_old_one_by_now(records: int, tmp_path: Path) -> None:
    kafka = FakeKafka()
    kafka.add("a", range(5))
    planner = Planner(make_job(stream("a"), {"a": 1}, tmp_path), kafka, kafka, Clock())
    end = planner.next(planner.initial())
    kafka.made["a"] = 2
    kafka.add("a", range(records))
    with pytest.raises(
        DataLossError, match=f"offset 5 of a-0 is next, .* 0 to {records} of another topic of that name"
    ):
        Planner(make_job(stream("a"), {"a": 1}, tmp_path), kafka, kafka, Clock()).next(end)
    goes_on = Planner(make_job(stream("a"), {"a": 1}, tmp_path, fail_on_data_loss=False), kafka, kafka, Clock())
    later = goes_on.next(end)
    assert ranges(goes_on, end, later) == {("a", 0): (0, records)}
    assert goes_on.next(later) is later, "noticed once"


def gone_and_back(
    kafka: FakeKafka, tmp_path: Path, start: dict[str, Any], again: Callable[[], None]
) -> dict[At, tuple[int, int]]:
    """What is read of the topics of a pattern after `b` was deleted, two batches were done and it was made again."""
    read = stream(pattern="[ab]", offset_reset="latest")

    def batch(begin: Offsets | None) -> tuple[Offsets, dict[At, tuple[int, int]]]:
        made = make_job(read, kafka.partitions(), tmp_path, start=start)
        planner = Planner(made, kafka, kafka, Clock())
        begin = planner.initial() if begin is None else begin
        kafka.add("a", range(kafka.logs["a", 0].end + 1))
        end = planner.next(begin)
        return end, ranges(planner, begin, end)

    kafka.add("a", range(5))
    end, _ = batch(None)
    kafka.add("b", range(5000))
    end, _ = batch(end)
    for at in [at for at in kafka.logs if at[0] == "b"]:
        del kafka.logs[at]
    end, _ = batch(end)
    again()
    return batch(end)[1]


@pytest.mark.parametrize("start", [{}, {"positions": {"b": {"0": 1000}}}, {"positions": {"b": "latest"}}])
@pytest.mark.parametrize("records", [10, 1500, 7000])
def test_a_topic_of_a_pattern_that_is_made_again_is_read_from_its_first_record(
    records: int, start: dict[str, Any], tmp_path: Path
) -> None:
    """Not from where the old one started: those of the new one before that were passed over, or the start refused."""
    kafka = FakeKafka()
    kafka.add("b", range(1000))

    def again() -> None:
        kafka.made["b"] = 2 if records > 5000 else 1  # a shorter one is known to be another also by that
        kafka.add("b", range(records))

    read = gone_and_back(kafka, tmp_path, start, again)
    assert read["b", 0] == (0, records)


def test_so_are_its_other_partitions(tmp_path: Path) -> None:
    """One that is longer than it was, and one that the old topic did not have."""
    kafka = FakeKafka()
    kafka.add("b", range(1000))
    kafka.add("b", range(20), partition=1)

    def again() -> None:
        for partition in range(3):
            kafka.add("b", range(50), partition=partition)

    read = gone_and_back(kafka, tmp_path, {}, again)
    assert {at: found for at, found in read.items() if at[0] == "b"} == {("b", p): (0, 50) for p in range(3)}


def test_partitions_that_a_topic_got_while_it_was_not_read_start_with_their_first_record(tmp_path: Path) -> None:
    kafka = FakeKafka()
    kafka.add("b", range(1000))

    def again() -> None:
        kafka.add("b", range(5003))
        kafka.add("b", range(7), partition=1)

    read = gone_and_back(kafka, tmp_path, {}, again)
    assert (read["b", 0], read["b", 1]) == ((5000, 5003), (0, 7))


def test_a_topic_that_is_deleted_ends_the_query(kafka: FakeKafka, tmp_path: Path) -> None:
    planner = Planner(make_job(stream("a"), {"a": 1}, tmp_path), kafka, kafka, Clock())
    start = planner.initial()
    kafka.logs.clear()
    with pytest.raises(
        MissingSourceTopicError, match=r"the topic a, read by KSTREAM-SOURCE-0000000000 at .*, was deleted"
    ):
        planner.next(start)


def test_global_tables_are_followed_to_a_noted_end(kafka: FakeKafka, tmp_path: Path) -> None:
    builder = StreamsBuilder()
    builder.global_table("rates", store="rates-store", **SERDES)
    builder.stream("a", **SERDES).to("out")
    kafka.add("rates", range(7))
    planner = Planner(make_job(builder, {"a": 1, "rates": 1}, tmp_path), kafka, kafka, Clock())
    start = planner.initial()
    end = planner.next(start)
    assert (start["topics"], end["globals"]) == ({"a": {"0": 10}}, {"rates": {"0": 7}})
    assert planner.slots(start, end)[0].globals_to == (("rates", 0, 7),)


def test_the_pace_follows_the_time_of_batches(tmp_path: Path) -> None:
    kafka = FakeKafka()
    kafka.add("a", range(1_000_000))
    planner = Planner(make_job(stream("a"), {"a": 1}, tmp_path), kafka, kafka, Clock())
    position, sizes = planner.initial(), []
    for _ in range(6):
        end = planner.next(position)
        sizes.append(records_between(position, end))
        planner.learned(sizes[-1], 100 + sizes[-1] * 0.01)
        position = end
    assert sizes == pytest.approx([10_000, 10_000, 50_000, 90_000, 360_000, 390_000], rel=0.01)
    # From the fifth on it knows the pace: four times as much, because so much waits; then what takes four times as long.


def test_a_topic_that_comes_back_goes_on_where_it_was(tmp_path: Path) -> None:
    kafka, both, alone = FakeKafka(), stream("a", "b"), stream("a")
    kafka.add("a", range(10))
    kafka.add("b", range(10))

    def batch(topology: Topology, start: Offsets | None) -> tuple[Offsets, dict[At, tuple[int, int]]]:
        topics = {"a": 1} if topology is alone else {"a": 1, "b": 1}
        planner = Planner(make_job(topology, topics, tmp_path), kafka, kafka, Clock())
        begin = planner.initial() if start is None else start
        end = planner.next(begin)
        return end, ranges(planner, begin, end)

    end, _ = batch(both, None)
    for number in range(2):
        kafka.add("a", range(20 + number))
        end, read = batch(alone, end)
        assert set(read) == {("a", 0)}
    kafka.add("b", range(15))
    end, read = batch(both, end)
    assert read["b", 0] == (10, 15)
    assert "left" not in end
    kafka.add("a", range(30))
    end, _ = batch(alone, end)
    kafka.add("b", range(3))  # deleted and made again
    _, read = batch(both, end)
    assert read["b", 0] == (0, 3)
