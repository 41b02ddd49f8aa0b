"""What is nested deeply is built as long as Python takes it anywhere: inlined, as a function, or in pieces."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

import pytest

from penstock import Expression, StreamsBuilder, TopologyError, fn, v
from tests.interpreter.in_memory import in_memory_task
from tests.interpreter.test_loops import SERDES, loops, take

Below = Callable[[Any], Any]
Nest = Callable[[int], Expression]


def whens(depth: int) -> Expression:
    chosen: Any = fn.when(v.n > 0, 1).otherwise(0)
    for i in range(depth - 1):
        chosen = fn.when(v.n != i + 100, chosen).otherwise(i)
    return chosen  # type: ignore[no-any-return]


def ands(depth: int) -> Expression:
    both: Any = v.n > 0
    for i in range(depth):
        both = (v.n != i + 100) & both
    return both  # type: ignore[no-any-return]


def coalesced(depth: int) -> Expression:
    found: Any = v.n > 0
    for i in range(depth):
        found = fn.coalesce(v[f"m{i}"], found)
    return found  # type: ignore[no-any-return]


def by_key(stream: Any) -> Any:
    return stream.group_by_key()


def behind_a_chain(stream: Any) -> Any:
    return stream.map_values(lambda value: value).group_by_key()


def behind_loops(stream: Any) -> Any:
    for _ in range(4):
        stream = stream.flat_map_values(lambda value: [value])
    return stream.group_by_key()


def hopping(stream: Any) -> Any:
    return stream.group_by_key().hopping(50, 20)


def results(below: Below, expression: Expression, *, chunks: bool = True) -> list[bytes | None]:
    builder = StreamsBuilder()
    table = below(builder.stream("in", **SERDES)).agg(n=fn.count(), last=fn.last(expression))
    table.to_stream(lambda key, row: str(key)).to("out", **SERDES)
    task, outputs = in_memory_task(builder)
    assert loops(task)
    take(task, [(5, b"a", b'{"n": 7}'), (6, b"a", b'{"n": 0}'), (7, b"a", b'{"n": 8}')], chunks=chunks)
    task.flush()
    return [value for _, _, value, *_ in outputs.pending]


@pytest.mark.parametrize("below", [by_key, behind_a_chain, behind_loops, hopping])
@pytest.mark.parametrize(
    ("nest", "deepest", "last"),
    [(whens, 19, b"1"), (ands, 97, b"true"), (coalesced, 97, b"true")],
    ids=["when", "and", "coalesce"],
)
def test_an_aggregate_may_be_as_deep_as_an_expression_elsewhere(
    below: Below, nest: Nest, deepest: int, last: bytes
) -> None:
    for depth in (2, 5, 6, 10, 11, deepest):
        found = results(below, nest(depth))
        assert found
        assert set(found) == {b'{"last":%s,"n":3}' % last}
        assert results(below, nest(depth), chunks=False) == found


@pytest.mark.parametrize("most", range(10, 30))
def test_a_chain_may_open_any_number_of_loops(most: int) -> None:
    builder = StreamsBuilder()
    stream = builder.stream("in", **SERDES)
    for _ in range(most):
        stream = stream.flat_map_values(lambda value: [value])
    stream.to("copy", **SERDES)
    stream = stream.filter(lambda key, value: key != "b")
    stream.group_by_key().agg(last=fn.last(whens(5))).to_stream().to("out", **SERDES)
    task, outputs = in_memory_task(builder)
    take(task, [(5, b"a", b'{"n": 7}'), (6, b"b", b'{"n": 7}'), (7, b"c", b'{"n": 7}')], chunks=True)
    task.flush()
    assert sorted((topic, key) for topic, key, *_ in outputs.pending) == [
        ("copy", b"a"), ("copy", b"b"), ("copy", b"c"), ("out", b"a"), ("out", b"c")
    ]  # fmt: skip


@pytest.mark.parametrize("most", range(6, 18))
def test_an_aggregate_at_the_end_of_many_loops(most: int) -> None:
    builder = StreamsBuilder()
    stream = builder.stream("in", **SERDES)
    for _ in range(most):
        stream = stream.flat_map_values(lambda value: [value, value] if value["n"] == 1 and most < 8 else [value])
    stream.group_by_key().agg(n=fn.count(), last=fn.last(whens(5))).to_stream().to("out", **SERDES)
    task, outputs = in_memory_task(builder)
    take(task, [(5, b"a", b'{"n": 7}'), (6, b"b", b'{"n": 1}'), (7, None, b'{"n": 7}')], chunks=True)
    task.flush()
    many = 2**most if most < 8 else 1
    values = [value for _, _, value, *_ in outputs.pending]
    assert values == [b'{"last":1,"n":1}', b'{"last":1,"n":%d}' % many]
    assert task.context.dropped == {"null key in an aggregation": 1}


def arithmetic(depth: int) -> Expression:
    total: Any = v.n
    for i in range(depth):
        total = total + i
    return total  # type: ignore[no-any-return]


@pytest.mark.parametrize(("nest", "depth"), [(whens, 21), (ands, 100), (arithmetic, 3000)], ids=["when", "and", "plus"])
@pytest.mark.parametrize("aggregates", [True, False])
def test_what_python_does_not_take_is_refused_with_a_word(nest: Nest, depth: int, aggregates: bool) -> None:
    expression = nest(depth)
    stream = StreamsBuilder().stream("in", **SERDES)
    with pytest.raises(TopologyError, match=re.escape("nested too deeply to compile. Write it as a function")):
        stream.group_by_key().agg(n=fn.last(expression)) if aggregates else stream.map_values(expression)
