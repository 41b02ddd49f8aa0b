"""A flush of many updates in one loop gives what it gives update by update."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock import KTable, Materialized, StreamsBuilder, TimeWindows, fn, v
from penstock.handlers import Response
from penstock.interpreter.guards import TaskFailed
from penstock.records import Headers
from penstock.state import caching
from tests.interpreter.in_memory import in_memory_task

Sent = list[tuple[str, "bytes | None", "bytes | None", int, Headers]]
Recipe = Callable[[KTable[Any, Any]], None]
SERDES: dict[str, Any] = {"key_serde": "string", "value_serde": "json"}


def run(recipe: Recipe, *, drains: bool, **settings: Any) -> tuple[Sent, dict[str, int]]:
    """What a task writes for a batch of records that a cached aggregation takes."""
    builder = StreamsBuilder()
    windows = TimeWindows(1000, grace=60_000)
    windowed = builder.stream("in", **SERDES).group_by_key().windowed_by(windows)
    recipe(windowed.agg(Materialized.as_("s"), avg=fn.avg(v["n"])))
    task, outputs = in_memory_task(builder, **settings)
    store = task.stores["s"]
    assert (store._drain is not None) == drains
    source = task.source("in", 0)
    for i in range(200):
        headers = [("h", b"1")] if i % 7 == 0 else None
        source.accept(i, 100 * i, f"k{i % 5}".encode(), b'{"n": %d}' % i, headers)
    task.flush()
    return outputs.pending, dict(task.context.dropped)


def one_by_one(monkeypatch: pytest.MonkeyPatch, recipe: Recipe) -> tuple[Sent, dict[str, int]]:
    monkeypatch.setattr(caching, "_WORTH_A_DRAIN", 1_000_000)
    found = run(recipe, drains=True)
    monkeypatch.undo()
    return found


def plain(table: KTable[Any, Any]) -> None:
    stream = table.to_stream().map(lambda k, a: (f"{k.key}@{k.window.start}", {"average": a["avg"]}))
    stream.to("out", **SERDES)


def several(table: KTable[Any, Any]) -> None:
    doubled = table.map_values(lambda a: None if a["avg"] > 150 else 2 * a["avg"])
    kept = (
        doubled.to_stream()
        .select_key(lambda k, _: k.key if k.window.start % 2000 else None)
        .filter(lambda v: v != 30.0)
    )
    kept.peek(lambda k, v: None).map_values(str).to("out", key_serde="string", value_serde="string")


@pytest.mark.parametrize("recipe", [plain, several])
def test_the_same_records(monkeypatch: pytest.MonkeyPatch, recipe: Recipe) -> None:
    expected, dropped = one_by_one(monkeypatch, recipe)
    assert len(expected) > 20
    assert any(headers for *_, headers in expected)
    assert run(recipe, drains=True) == (expected, dropped)


def test_a_failing_function_is_named_with_its_node() -> None:
    def recipe(table: KTable[Any, Any]) -> None:
        table.to_stream().map(lambda k, a: (k.key, 1 / 0), name="divide").to("out", **SERDES)

    with pytest.raises(TaskFailed, match=r"ZeroDivisionError.*node divide, .*test_drain.py"):
        run(recipe, drains=True)


def test_what_cannot_be_serialised_is_found_one_by_one() -> None:
    def recipe(table: KTable[Any, Any]) -> None:
        numbers = table.to_stream().map(
            lambda k, a: (f"{k.key}@{k.window.start}", int(a["avg"]) if k.window.start else "x")
        )
        numbers.to("out", key_serde="string", value_serde="long")

    with pytest.raises(TaskFailed, match=r"node KSTREAM-SINK"):
        run(recipe, drains=True)
    skip = {"production.exception.handler": lambda *_, **__: Response.resume()}
    sent, dropped = run(recipe, drains=True, **skip)
    assert len(sent) == 95
    assert dropped["production error"] == 5


def test_topics_chosen_by_the_record_go_one_by_one() -> None:
    def recipe(table: KTable[Any, Any]) -> None:
        chosen = table.to_stream().map(lambda k, a: (k.key, a))
        chosen.to(lambda key, value, context: f"out-{key}", **SERDES)

    sent, _ = run(recipe, drains=False)
    assert {topic for topic, *_ in sent} == {f"out-k{i}" for i in range(5)}
