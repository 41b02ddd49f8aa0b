from __future__ import annotations

from penstock import StreamsBuilder
from penstock.spark.idle import IdleWait, task_inputs
from penstock.spark.layout import lay_out

SERDES = {"key_serde": "string", "value_serde": "string"}
A, B = ("a", 0), ("b", 0)


def test_the_inputs_of_tasks() -> None:
    builder = StreamsBuilder()
    builder.stream("a", **SERDES).merge(builder.stream("b", **SERDES)).to("out")
    builder.stream("c", **SERDES).to("out")
    layout = lay_out(builder.build(), {"a": 2, "b": 1, "c": 1})
    found = task_inputs(layout, [("a", 0), ("a", 1), ("b", 0), ("c", 0)])
    assert found == [(("a", 0), ("b", 0)), (("a", 1),), (("c", 0),)]


def test_without_a_time_nothing_waits() -> None:
    for idle in (-1, 0):
        assert IdleWait([(A, B)], idle).ready({A: 3, B: 0}, 0) == {A: 3, B: 0}


def test_a_task_waits_for_its_empty_partition_and_then_goes_on() -> None:
    wait = IdleWait([(A, B)], 100)
    assert wait.ready({A: 3, B: 0}, 1000) == {A: 0, B: 0}
    assert wait.ready({A: 5, B: 0}, 1099) == {A: 0, B: 0}
    assert wait.ready({A: 5, B: 0}, 1100) == {A: 5, B: 0}
    assert wait.ready({A: 2, B: 0}, 1101) == {A: 2, B: 0}, "it is not waited for again"


def test_data_ends_the_wait_and_a_new_gap_begins_another() -> None:
    wait = IdleWait([(A, B)], 100)
    assert wait.ready({A: 3, B: 0}, 0) == {A: 0, B: 0}
    assert wait.ready({A: 3, B: 1}, 10) == {A: 3, B: 1}
    assert wait.ready({A: 3, B: 0}, 20) == {A: 0, B: 0}
    assert wait.ready({A: 3, B: 0}, 120) == {A: 3, B: 0}


def test_a_partition_that_is_empty_for_long_is_not_waited_for() -> None:
    wait = IdleWait([(A, B)], 100)
    assert wait.ready({A: 0, B: 0}, 0) == {A: 0, B: 0}
    assert wait.ready({A: 1, B: 0}, 500) == {A: 1, B: 0}


def test_tasks_wait_for_their_own_partitions_only() -> None:
    wait = IdleWait([(A, B), (("a", 1), ("b", 1)), (("c", 0),)], 100)
    found = wait.ready({A: 3, B: 0, ("a", 1): 4, ("b", 1): 5, ("c", 0): 6}, 0)
    assert found == {A: 0, B: 0, ("a", 1): 4, ("b", 1): 5, ("c", 0): 6}
