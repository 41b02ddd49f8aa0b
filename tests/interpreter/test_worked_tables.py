"""The joins and aggregations of the Kafka Streams manual, row by row."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from penstock import JoinWindows, SessionWindows, StreamsBuilder, TimeWindows
from tests.interpreter.boundary_pipe import Pipe, Row, pair

SECOND = 1000

# One key; the timestamp is the number of the row. "-" is nothing, "T" a tombstone.
INPUTS = """
    1 L null
    2 R null
    3 L A
    4 R a
    5 L B
    6 R b
    7 L null
    8 R null
    9 L C
    10 R c
    11 R null
    12 L null
    13 R null
    14 R d
    15 L D
"""
EXPECTED = """
    ts | stream-stream   | st inner | st left | tt inner | tt left | tt outer
    1  | -               | -        | -       | -        | -       | -
    2  | -               | -        | -       | -        | -       | -
    3  | -               | -        | A,null  | -        | A,null  | A,null
    4  | A,a             | -        | -       | A,a      | A,a     | A,a
    5  | B,a             | B,a      | B,a     | B,a      | B,a     | B,a
    6  | A,b B,b         | -        | -       | B,b      | B,b     | B,b
    7  | -               | -        | -       | T        | T       | null,b
    8  | -               | -        | -       | -        | -       | T
    9  | C,a C,b         | -        | C,null  | -        | C,null  | C,null
    10 | A,c B,c C,c     | -        | -       | C,c      | C,c     | C,c
    11 | -               | -        | -       | T        | C,null  | C,null
    12 | -               | -        | -       | -        | T       | T
    13 | -               | -        | -       | -        | -       | -
    14 | A,d B,d C,d     | -        | -       | -        | -       | null,d
    15 | D,a D,b D,c D,d | D,d      | D,d     | D,d      | D,d     | D,d
"""


def column(title: str) -> list[list[str]]:
    head, *rows = [[cell.strip() for cell in line.split("|")] for line in EXPECTED.strip().splitlines()]
    index = head.index(title)
    return [[] if row[index] == "-" else row[index].split() for row in rows]


def outputs(build: Callable[[StreamsBuilder], Any], unit: int) -> list[list[str]]:
    found = []
    with Pipe(build) as pipe:
        for line in INPUTS.strip().splitlines():
            number, side, value = line.split()
            topic = "left" if side == "L" else "right"
            rows = pipe.send(topic, "k", None if value == "null" else value, int(number) * unit)
            found.append(["T" if value is None else value for _, value, _ in rows])
    return found


# The rows lie within one window of 15 s, so every kind of join gives the same.
WINDOW = JoinWindows(15 * SECOND, 15 * SECOND, 5 * SECOND)


@pytest.mark.parametrize("method", ["join", "left_join", "outer_join"])
def test_stream_stream(method: str) -> None:
    def build(b: StreamsBuilder) -> Any:
        return getattr(b.stream("left"), method)(b.stream("right"), pair, WINDOW)

    assert outputs(build, SECOND) == column("stream-stream")


@pytest.mark.parametrize(("title", "method"), [("st inner", "join"), ("st left", "left_join")])
def test_stream_table(title: str, method: str) -> None:
    assert outputs(lambda b: getattr(b.stream("left"), method)(b.table("right"), pair), 1) == column(title)


@pytest.mark.parametrize(
    ("title", "method"), [("tt inner", "join"), ("tt left", "left_join"), ("tt outer", "outer_join")]
)
def test_table_table(title: str, method: str) -> None:
    assert outputs(lambda b: getattr(b.table("left"), method)(b.table("right"), pair), 1) == column(title)


def foreign_key(value: str) -> str | None:
    return None if value.startswith("none") else value


@pytest.mark.parametrize("method", ["join", "left_join"])
def test_foreign_key(method: str) -> None:
    """The value of a left row is its foreign key."""
    inner = method == "join"

    def build(b: StreamsBuilder) -> Any:
        return getattr(b.table("left"), method)(b.table("right"), pair, on=foreign_key)

    def unmatched(key: str, value: str, *, was_out: bool) -> list[tuple[str, str | None]]:
        if inner:
            return [(key, None)] if was_out else []
        return [(key, f"{value},null")]

    steps: list[tuple[str, str, str, list[tuple[str, str | None]]]] = [
        ("right", "1", "foo", []),
        ("left", "k", "1", [("k", "1,foo")]),
        ("left", "k", "2", unmatched("k", "2", was_out=True)),
        # an inner join sends the tombstone again: it does not know whether anything was out
        ("left", "k", "3", unmatched("k", "3", was_out=True)),
        ("right", "3", "bar", [("k", "3,bar")]),
        ("left", "k", "none", unmatched("k", "none", was_out=True)),
        ("left", "k", "1", [("k", "1,foo")]),
        ("left", "q", "10", unmatched("q", "10", was_out=False)),
        ("left", "r", "10", unmatched("r", "10", was_out=False)),
        ("right", "10", "baz", [("q", "10,baz"), ("r", "10,baz")]),
    ]
    with Pipe(build) as pipe:
        for timestamp, (topic, key, value, expected) in enumerate(steps):
            rows = pipe.send(topic, key, value, timestamp)
            assert [(key, value) for key, value, _ in rows] == expected, f"row {timestamp}"


def test_table_group_by() -> None:
    """The sum of the lengths of names in each region."""

    def build(b: StreamsBuilder) -> Any:
        regions = b.table("users").group_by(lambda user, region: (region, str(len(user))))
        return regions.aggregate(
            "0", lambda v, total: str(int(total) + int(v)), lambda v, total: str(int(total) - int(v))
        )

    steps: list[tuple[str | None, str | None, list[tuple[str, str]]]] = [
        ("alice", "E", [("E", "5")]),
        ("bob", "A", [("A", "3")]),
        ("charlie", "A", [("A", "10")]),
        ("alice", "A", [("E", "0"), ("A", "15")]),
        ("charlie", None, [("A", "8")]),
        (None, "E", []),
        ("bob", "E", [("A", "5"), ("E", "3")]),
    ]
    with Pipe(build) as pipe:
        for timestamp, (user, region, expected) in enumerate(steps):
            rows = pipe.send("users", user, region, timestamp)
            assert [(key, value) for key, value, _ in rows] == expected, f"row {timestamp}"


def test_sessions() -> None:
    minute = 60 * SECOND
    with Pipe(lambda b: b.stream("in").group_by_key().windowed_by(SessionWindows("5m", grace="10m")).count()) as pipe:
        for key, at in [("green", 0), ("blue", 2), ("blue", 5), ("green", 6), ("green", 4), ("blue", 11)]:
            pipe.send("in", key, "x", at * minute)
        store = next(iter(pipe.driver.get_all_state_stores().values()))
        found = {(str(windowed), count) for key in ("green", "blue") for windowed, count in store.fetch(key)}
    assert found == {
        (f"[green@0/{6 * minute}]", 3),
        (f"[blue@{2 * minute}/{5 * minute}]", 2),
        (f"[blue@{11 * minute}/{11 * minute}]", 1),
    }


def test_hopping_windows() -> None:
    """Size 5000, advance 3000: [0,5000) [3000,8000) [6000,11000) ..."""
    with Pipe(lambda b: b.stream("in").group_by_key().windowed_by(TimeWindows(5000, 3000)).count()) as pipe:
        found: list[Row] = pipe.send("in", "k", "x", 4000) + pipe.send("in", "k", "x", 6000)
    assert [key for key, _, _ in found] == ["k@0/5000", "k@3000/8000", "k@3000/8000", "k@6000/11000"]
    assert [value for _, value, _ in found] == ["1", "1", "2", "1"]
