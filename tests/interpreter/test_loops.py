"""A chunk of records taken in one loop gives what its records give one by one."""

from __future__ import annotations

import logging
from collections.abc import Callable
from typing import Any

import pytest

from penstock import KStream, LogAndContinueProcessingExceptionHandler, Record, StreamsBuilder, fn, k, ts, v
from penstock.expr.errors import ExpressionError
from penstock.interpreter.context import Chunk
from penstock.interpreter.task import Task
from penstock.serde.primitives import BytesSerde
from penstock.testing.driver import _Outputs
from tests.interpreter.in_memory import in_memory_task

Recipe = Callable[[KStream[Any, Any]], Any]
Raw = tuple[int, "bytes | None", "bytes | None"]
SERDES: dict[str, Any] = {"key_serde": "string", "value_serde": "json"}
# Late ones, and ones without a key, a value, or the member.
RECORDS: list[Raw] = [
    (1000 + 10 * i - 200 * (i % 11 == 5), None if i % 13 == 7 else b"k%d" % (i % 4), value)
    for i in range(120)
    for value in [None if i % 17 == 3 else b"{}" if i % 19 == 4 else b'{"n": %d, "o": null}' % i]
]


def build(recipe: Recipe, **settings: Any) -> tuple[Task, _Outputs]:
    builder = StreamsBuilder()
    recipe(builder.stream("in", **SERDES)).to_stream(lambda key, row: str(key)).to("out", **SERDES)
    return in_memory_task(builder, **settings)


def take(task: Task, records: list[Raw], *, chunks: bool) -> None:
    source = task.source("in", 0)
    timestamps, keys, values = (list(column) for column in zip(*records, strict=True))
    offsets = range(100, 100 + len(records))
    if chunks:
        source.accept_columns(offsets, timestamps, keys, values, None)
        return
    source.enter()
    for offset, timestamp, key, value in zip(offsets, timestamps, keys, values, strict=True):
        source.accept(offset, timestamp, key, value, None)


def loops(task: Task) -> bool:
    name = next(iter(task._sources))
    return task._compiler.loop_below(name) is not None


def by_key(stream: KStream[Any, Any]) -> Any:
    return stream.group_by_key().agg(n=fn.count(), sum=fn.sum(v["n"]), avg=fn.avg(v["n"]))


def by_key_and_time(stream: KStream[Any, Any]) -> Any:
    return stream.group_by_key().agg(last=fn.last(k), first=fn.min(ts), even=fn.count_distinct(v["n"] % 2))


def odd_names(stream: KStream[Any, Any]) -> Any:
    parts = {"{skip} return": fn.sum(v["n"]), "{}": fn.first(v["return"]), "return": fn.last(v["{0}"])}
    return stream.map_values(lambda value: value).group_by_key().agg(**parts)


def behind_a_chain(stream: KStream[Any, Any]) -> Any:
    many = stream.filter(v["n"] > 20).flat_map_values(lambda value: [value["n"], value["n"] + 1, None])
    return many.group_by_key().aggregate(list, lambda value, seen: [*seen, value], value_serde="json")


def hopping(stream: KStream[Any, Any]) -> Any:
    return stream.group_by_key().hopping(50, 20, grace=70).agg(sum=fn.sum(v["n"]))


def tumbling(stream: KStream[Any, Any]) -> Any:
    return stream.filter(lambda key, value: key != "k1").group_by_key().tumbling(50).agg(n=fn.count())


@pytest.mark.parametrize("recipe", [by_key, by_key_and_time, odd_names, behind_a_chain, hopping])
def test_a_chunk_gives_what_its_records_give(recipe: Recipe) -> None:
    found = []
    for chunks in (True, False):
        task, outputs = build(recipe)
        assert loops(task)
        take(task, RECORDS, chunks=chunks)
        in_hand = (task.context.offset, task.context.timestamp, task.context.raw_value)
        task.flush()
        found.append((outputs.pending, task.context.dropped, task.commit_metadata(), task.operator_clocks(), in_hand))
    assert found[0] == found[1]
    assert len(found[0][0]) >= 4
    assert found[0][1]  # something was dropped


def test_without_a_loop_it_is_the_same() -> None:
    task, _ = build(tumbling)
    assert not loops(task)  # a window's clock cannot stand in the chain above it
    take(task, RECORDS, chunks=True)
    assert task.context.stream_time == max(timestamp for timestamp, _, _ in RECORDS)


@pytest.mark.parametrize(
    "recipe", [by_key, lambda s: s.map_values(lambda x: x).group_by_key().agg(n=fn.sum(v["n"]))], ids=["bare", "chain"]
)
def test_an_error_names_its_record_and_leaves_those_before_it(recipe: Recipe) -> None:
    bad: list[Raw] = [(5, b"a", b'{"n": 1}'), (9, b"a", b'{"n": "x"}'), (50, b"a", b'{"n": 2}')]
    task, outputs = build(recipe)
    with pytest.raises(ExpressionError) as caught:
        take(task, bad, chunks=True)
    message = str(task.failed(caught.value))
    assert "v.n = 'x'" in message
    assert "node KSTREAM-AGGREGATE" in message
    assert "offset 101" in message
    assert (task.context.stream_time, task.context.raw_value) == (9, b'{"n": "x"}')
    task.flush()
    assert len(outputs.pending) == 1


def test_a_handler_may_skip_single_records() -> None:
    bad: list[Raw] = [(5, b"a", b'{"n": 1}'), (9, b"a", b'{"n": "x"}'), (50, b"a", b'{"n": 2}')]
    handler = {"processing.exception.handler": LogAndContinueProcessingExceptionHandler()}
    task, outputs = build(lambda s: s.group_by_key().agg(n=fn.sum(v["n"])), **handler)
    assert not loops(task)
    take(task, bad, chunks=True)
    task.flush()
    assert [value for _, _, value, *_ in outputs.pending] == [b'{"n":3}']


def test_a_dropped_record_is_logged_with_its_offset(caplog: pytest.LogCaptureFixture) -> None:
    task, _ = build(by_key)
    with caplog.at_level(logging.WARNING, "penstock.task"):
        take(task, [(1, b"a", b"{}"), (2, None, b"{}"), (3, b"a", b"{}")], chunks=True)
    assert "null key in an aggregation" in caplog.text
    assert "topic in, partition 0, offset 101; 1 so far" in caplog.text


class Asks:
    """Asks with its first record for a punctuator that is due at once."""

    def __init__(self, fired: list[int]) -> None:
        self._fired = fired
        self._asked = False

    def init(self, context: Any) -> None:
        self._context = context

    def process(self, record: Record[Any, Any]) -> None:
        if not self._asked:
            self._asked = True
            start = self._context.current_stream_time_ms()
            self._context.schedule(1000, "stream", self._fired.append, start=start)


@pytest.mark.parametrize("chunks", [True, False])
def test_who_is_due_already_runs_after_the_first_record_however_old(chunks: bool) -> None:
    fired: list[int] = []
    builder = StreamsBuilder()
    builder.stream("in", **SERDES).group_by_key().agg(n=fn.count()).to_stream().process(lambda: Asks(fired))
    task, _ = in_memory_task(builder)
    assert loops(task)
    take(task, [(5000, b"a", b"{}")], chunks=chunks)
    task.flush()
    assert fired == []
    take(task, [(4000, b"a", b"{}"), (4100, b"a", b"{}")], chunks=chunks)
    assert fired == [5000]


class Forgets(BytesSerde):
    """Forgets the nulls of a column."""

    def column_decoder(self, topic: str) -> Any:
        return lambda column: [value for value in column if value is not None]


@pytest.mark.parametrize(
    ("values", "taken", "last"),
    [([b"x", None, b"y"], 2, 101), ([b"x", b"y", None], 2, 101), ([None, None, None], 0, 100)],
)
def test_a_decoder_that_loses_values_is_found_out(values: list[bytes | None], taken: int, last: int) -> None:
    builder = StreamsBuilder()
    stream = builder.stream("in", key_serde="string", value_serde=Forgets())
    stream.group_by_key().agg(n=fn.count()).to_stream().to("out", **SERDES)
    task, outputs = in_memory_task(builder)
    assert loops(task)
    with pytest.raises(ValueError, match="shorter"):
        take(task, [(5, b"a", values[0]), (6, b"b", values[1]), (7, b"c", values[2])], chunks=True)
    assert task.context.offset == last
    task.flush()
    assert len(outputs.pending) == taken
    with pytest.raises(ValueError, match="shorter"):  # the same where inputs are merged by time
        task.source("in", 0).prepare_columns([0, 1, 2], [5, 6, 7], [b"a", b"b", b"c"], values)


def test_a_chunk_of_which_nothing_was_taken() -> None:
    chunk = Chunk([7, 8], [50, 60], [b"k", b"l"], [b"v", b"w"])
    assert (chunk.taken, chunk.stream_time, chunk.in_hand()) == (0, -1, (7, 50, b"k", b"v"))
    assert list(zip("ab", chunk.position, strict=True)) == [("a", 50), ("b", 60)]
    assert (chunk.taken, chunk.stream_time, chunk.in_hand()) == (2, 60, (8, 60, b"l", b"w"))
