from __future__ import annotations

from typing import Any

from penstock import StreamsBuilder
from penstock.spark.idle import IdleWait, task_inputs
from penstock.spark.layout import lay_out

SERDES: dict[str, Any] = {"key_serde": "string", "value_serde": "string"}
A, B, C = ("a", 0), ("b", 0), ("c", 0)


def test_the_inputs_of_tasks() -> None:
    builder = StreamsBuilder()
    builder.stream("a", **SERDES).merge(builder.stream("b", **SERDES)).to("out")
    builder.stream("c", **SERDES).to("out")
    layout = lay_out(builder.build(), {"a": 2, "b": 1, "c": 1})
    found = task_inputs(layout, (), [A, ("a", 1), B, C])
    assert found == [((A,), (B,)), ((("a", 1),),), ((C,),)]


def test_a_shuffle_brings_records_of_all_partitions_above_it() -> None:
    builder = StreamsBuilder()
    rekeyed = builder.stream("a", **SERDES).select_key(lambda value: value)
    rekeyed.join(builder.table("b", **SERDES), lambda left, right: left).to("out")
    topology = builder.build()
    layout = lay_out(topology, {"a": 2, "b": 2})
    stream = (A, ("a", 1))
    found = task_inputs(layout, topology.internal_topics, [*stream, B, ("b", 1)])
    assert found == [((A,),), ((("a", 1),),), ((B,), stream), ((("b", 1),), stream)]


def test_a_foreign_key_join_does_not_wait_for_its_own_answers() -> None:
    builder = StreamsBuilder()
    left, right = builder.table("a", **SERDES), builder.table("b", **SERDES)
    left.join(right, lambda left, right: left, on=lambda value: value).to_stream().to("out")
    topology = builder.build()
    found = task_inputs(lay_out(topology, {"a": 1, "b": 1}), topology.internal_topics, [A, B])
    assert sorted(found) == [((A,),), ((B,), (A,))]


def test_a_topic_that_is_written_and_read_is_no_shuffle() -> None:
    builder = StreamsBuilder()
    builder.stream("a", **SERDES).to("b", **SERDES)
    builder.stream("b", **SERDES).merge(builder.stream("c", **SERDES)).to("out")
    found = task_inputs(lay_out(builder.build(), {"a": 1, "b": 1, "c": 1}), (), [A, B, C])
    assert sorted(found) == [((A,),), ((B,), (C,))]


def test_without_a_time_nothing_waits() -> None:
    for idle in (-1, 0):
        assert IdleWait([((A,), (B,))], idle).ready({A: 3, B: 0}, 0) == {A: 3, B: 0}


def test_a_task_waits_for_its_empty_partition_and_then_goes_on() -> None:
    wait = IdleWait([((A,), (B,))], 100)
    assert wait.ready({A: 3, B: 0}, 1000) == {A: 0, B: 0}
    assert wait.ready({A: 5, B: 0}, 1099) == {A: 0, B: 0}
    assert wait.ready({A: 5, B: 0}, 1100) == {A: 5, B: 0}
    assert wait.ready({A: 2, B: 0}, 1101) == {A: 2, B: 0}, "it is not waited for again"


def test_data_ends_the_wait_and_a_new_gap_begins_another() -> None:
    wait = IdleWait([((A,), (B,))], 100)
    assert wait.ready({A: 3, B: 0}, 0) == {A: 0, B: 0}
    assert wait.ready({A: 3, B: 1}, 10) == {A: 3, B: 1}
    assert wait.ready({A: 3, B: 0}, 20) == {A: 0, B: 0}
    assert wait.ready({A: 3, B: 0}, 120) == {A: 3, B: 0}


def test_a_partition_that_is_empty_for_long_is_not_waited_for() -> None:
    wait = IdleWait([((A,), (B,))], 100)
    assert wait.ready({A: 0, B: 0}, 0) == {A: 0, B: 0}
    assert wait.ready({A: 1, B: 0}, 500) == {A: 1, B: 0}


def test_tasks_wait_for_their_own_partitions_only() -> None:
    other = ((("a", 1),), (("b", 1),))
    wait = IdleWait([((A,), (B,)), other, ((C,),)], 100)
    found = wait.ready({A: 3, B: 0, ("a", 1): 4, ("b", 1): 5, C: 6}, 0)
    assert found == {A: 0, B: 0, ("a", 1): 4, ("b", 1): 5, C: 6}


def test_what_would_come_through_a_shuffle_waits_for_the_table_behind_it() -> None:
    other, shuffle = ("b", 1), (A, ("a", 1))
    wait = IdleWait([((B,), shuffle), ((other,), shuffle)], 100)
    nothing = {A: 0, ("a", 1): 0, B: 0, other: 0}
    assert wait.ready({**nothing, A: 3, other: 2}, 0) == nothing, (
        "also what the other task would do without the shuffle"
    )
    assert wait.ready({**nothing, A: 3, B: 1, other: 2}, 50) == {**nothing, A: 3, B: 1, other: 2}


def test_a_table_waits_for_what_comes_through_a_shuffle() -> None:
    shuffle = (A, ("a", 1))
    wait = IdleWait([((B,), shuffle)], 100)
    assert wait.ready({A: 0, ("a", 1): 0, B: 5}, 0) == {A: 0, ("a", 1): 0, B: 0}
    assert wait.ready({A: 0, ("a", 1): 1, B: 5}, 50) == {A: 0, ("a", 1): 1, B: 5}, "one partition of it is enough"
    assert wait.ready({A: 0, ("a", 1): 0, B: 5}, 60) == {A: 0, ("a", 1): 0, B: 0}
    assert wait.ready({A: 0, ("a", 1): 0, B: 5}, 160) == {A: 0, ("a", 1): 0, B: 5}
