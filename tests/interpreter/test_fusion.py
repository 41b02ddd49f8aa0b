"""Fused chains: one function, in which every line knows its node."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import StreamsBuilder, StreamsError, TopologyTestDriver, ts, v
from penstock.functions import MAPPER, function
from penstock.interpreter.context import TaskContext
from penstock.interpreter.fusion import compile_chain, not_a_pair
from penstock.interpreter.tracing import failing_node
from penstock.records import KeyValue
from penstock.topology.nodes import ProcessorNode
from penstock.topology.operators import Filter, FlatMapValues, ForEach, Map, MapValues, Operator, SelectKey


def chain(*operators: Operator, forward: Any = None) -> tuple[Any, list[Any]]:
    """The compiled chain, with nodes n0, n1, ..., and what it forwards."""
    out: list[Any] = []
    nodes = [ProcessorNode(f"n{i}", ("above",), operator) for i, operator in enumerate(operators)]
    return compile_chain(nodes, TaskContext(), forward or (lambda *record: out.append(record))), out


def f(given: Any) -> Any:
    return function(given, MAPPER, "a function")


def test_a_chain_is_one_function_that_ends_with_what_comes_below() -> None:
    process, out = chain(Filter(f(lambda v: v > 1), negate=False), MapValues(f(lambda v: v * 10)), SelectKey(f(v)))
    for value in (1, 2, 3):
        process("k", value, 7)
    assert out == [(20, 20, 7), (30, 30, 7)]


def test_functions_get_what_they_take() -> None:
    process, out = chain(
        MapValues(f(lambda key, value: (key, value))), MapValues(f(lambda value: [value])), MapValues(f(ts + 1))
    )
    process("k", 1, 7)
    assert out == [("k", 8, 7)]


def test_skipping_inside_a_loop_skips_one_value() -> None:
    process, out = chain(FlatMapValues(f(range)), Filter(f(lambda v: v % 2), negate=False))
    process("k", 5, 7)
    assert out == [("k", 1, 7), ("k", 3, 7)]


def test_loops_nest_and_each_keeps_its_key() -> None:
    process, out = chain(
        FlatMapValues(f(range)), SelectKey(f(lambda k, v: f"{k}{v}")), FlatMapValues(f(lambda v: [v, -v])),
        Map(f(lambda k, v: (f"{k}!", v))),
    )  # fmt: skip
    process("k", 2, 7)
    assert out == [("k0!", 0, 7), ("k0!", 0, 7), ("k1!", 1, 7), ("k1!", -1, 7)]


def test_after_for_each_nothing_goes_on() -> None:
    seen: list[Any] = []
    process, out = chain(ForEach(f(seen.append)))
    process("k", 1, 7)
    assert (seen, out) == ([1], [])


def test_pairs_may_be_key_values_and_nothing_else() -> None:
    process, out = chain(Map(f(lambda value: KeyValue(value, "x"))))
    process("k", 1, 7)
    assert out == [(1, "x", 7)]
    for result in ("ab", [1, 2], None, {"a": 1, "b": 2}):
        with pytest.raises(StreamsError, match=r"Return a \(key, value\) tuple or a KeyValue"):
            not_a_pair(result)


@pytest.mark.parametrize(("value", "node"), [(None, "n0"), ("x", "n1"), ("0", "n2"), ("5", "below")])
def test_a_failure_tells_its_node(value: Any, node: str) -> None:
    def below(key: Any, value: Any, timestamp: int) -> None:
        raise KeyError(value)

    below.__code__ = below.__code__.replace(co_name="node:below")
    process, _ = chain(
        Filter(f(lambda v: v.isprintable()), negate=False),
        MapValues(f(int)),
        MapValues(f(lambda v: 1 / v)),
        forward=below,
    )
    with pytest.raises((AttributeError, ValueError, ZeroDivisionError, KeyError)) as caught:
        process("k", value, 7)
    assert failing_node(caught.value) == node


def test_a_stream_that_is_used_twice_ends_the_chain() -> None:
    builder = StreamsBuilder()
    doubled = builder.stream("in").map_values(lambda value: value * 2)
    doubled.map_values(str.upper).to("upper")
    doubled.map_values(str.lower).to("lower")
    with TopologyTestDriver(builder) as driver:
        driver.create_input_topic("in").pipe_input("k", "aB", 0)
        assert driver.create_output_topic("upper").read_value() == "ABAB"
        assert driver.create_output_topic("lower").read_value() == "abab"


def test_printing(capsys: pytest.CaptureFixture[str], tmp_path: Any) -> None:
    builder = StreamsBuilder()
    stream = builder.stream("in", name="read")
    stream.print()
    stream.print(label="seen", mapper=lambda key, value: f"{key}={value}")
    stream.print(file=tmp_path / "lines", label="f")
    with TopologyTestDriver(builder) as driver:
        driver.create_input_topic("in").pipe_key_value_list([("a", "1"), ("b", None)])
    assert capsys.readouterr().out.splitlines() == ["[read]: a, 1", "[seen]: a=1", "[read]: b, None", "[seen]: b=None"]
    assert (tmp_path / "lines").read_text().splitlines() == ["[f]: a, 1", "[f]: b, None"]
