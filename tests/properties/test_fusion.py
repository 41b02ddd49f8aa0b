"""Chains of stateless operators, fused into one function, do what the operators do one after the other."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import KStream, LogAndContinueProcessingExceptionHandler, StreamsBuilder, TopologyTestDriver

Pair = tuple[str, str]


@dataclass(frozen=True)
class Step:
    """An operator, by the method that adds it and by what it makes of one record."""

    name: str
    add: Callable[[KStream[Any, Any]], KStream[Any, Any]]
    apply: Callable[[str, str], Iterable[Pair]]


def both(key: str, value: str) -> str:
    return f"{key}{value}"[-6:]


STEPS = (
    Step("filter", lambda s: s.filter(lambda k, v: len(v) % 3), lambda k, v: [(k, v)] if len(v) % 3 else []),
    Step("filter_not", lambda s: s.filter_not(lambda v: "b" in v), lambda k, v: [] if "b" in v else [(k, v)]),
    Step("map_values", lambda s: s.map_values(both), lambda k, v: [(k, both(k, v))]),
    Step("select_key", lambda s: s.select_key(both), lambda k, v: [(both(k, v), v)]),
    Step("map", lambda s: s.map(lambda k, v: (v, k)), lambda k, v: [(v, k)]),
    Step("flat_map_values", lambda s: s.flat_map_values(lambda v: list(v[:3])), lambda k, v: [(k, c) for c in v[:3]]),
    Step(
        "flat_map",
        lambda s: s.flat_map(lambda k, v: [(v, k), (k, both(k, v))]),
        lambda k, v: [(v, k), (k, both(k, v))],
    ),
    Step("peek", lambda s: s.peek(lambda v: None), lambda k, v: [(k, v)]),
    Step("merge", lambda s: s.merge(s), lambda k, v: [(k, v)]),
    Step("process_values", lambda s: s.process_values(_same), lambda k, v: [(k, v)]),
)


def _same(record: Any, context: Any) -> Any:
    yield record


@given(
    steps=st.lists(st.sampled_from(STEPS), max_size=7),
    records=st.lists(st.tuples(st.text("abc", max_size=2), st.text("abc", max_size=4)), max_size=4),
    guarded=st.booleans(),
)
@settings(max_examples=150, deadline=None)
def test_a_chain_is_its_steps_one_after_the_other(steps: list[Step], records: list[Pair], guarded: bool) -> None:
    builder = StreamsBuilder()
    stream = builder.stream("in")
    wanted = list(records)
    for step in steps:
        stream = step.add(stream)
        wanted = [after for key, value in wanted for after in step.apply(key, value)]
    stream.to("out")
    # A handler that goes on puts a guard around each node, and ends chains at loops.
    config = {"processing.exception.handler": LogAndContinueProcessingExceptionHandler} if guarded else {}
    with TopologyTestDriver(builder, config) as driver:
        driver.create_input_topic("in").pipe_key_value_list(records)
        assert driver.create_output_topic("out").read_key_values_to_list() == wanted
