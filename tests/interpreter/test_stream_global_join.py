from __future__ import annotations

from typing import Any

import pytest

from penstock import StreamsBuilder
from tests.interpreter.piping import Piping, pair


def lookup_key(value: str) -> str | None:
    return value.split(",")[1] if "," in value else None


def run(kind: str, joiner: Any = pair, on: Any = lookup_key) -> Piping:
    builder = StreamsBuilder()
    stream, table = builder.stream("in"), builder.global_table("global")
    (stream.join if kind == "inner" else stream.left_join)(table, joiner, on=on).to("out")
    return Piping(builder)


def test_the_row_of_the_selected_key_at_that_moment() -> None:
    with run("inner") as piping:
        assert piping.values(("in", "k", "a,g", 5)) == []
        assert piping.pipe("global", "g", "G1", 100) == []
        assert piping.pipe("in", "k", "b,g", 6) == [("k", "b,g+G1", 6)]  # its timestamp, not the row's
        piping.pipe("global", "g", "G2", 1)
        assert piping.values(("in", "k", "c,g", 7)) == ["c,g+G2"]
        piping.pipe("global", "g", None, 2)
        assert piping.values(("in", "k", "d,g", 8)) == []
        assert piping.driver.dropped_records == 0


def test_a_left_join_always_emits() -> None:
    with run("left") as piping:
        piping.pipe("global", "g", "G", 0)
        assert piping.values(("in", "k", "a,g", 1), ("in", "k", "b,x", 2), ("in", "k", "c", 3)) == [
            "a,g+G", "b,x+None", "c+None",
        ]  # fmt: skip


@pytest.mark.parametrize(("kind", "dropped"), [("inner", 1), ("left", 0)])
def test_null_keys_and_values(kind: str, dropped: int) -> None:
    with run(kind) as piping:
        piping.pipe("global", "g", "G", 0)
        assert piping.pipe("in", None, "a,g", 1) == [(None, "a,g+G", 1)]  # the stream's own key may be null
        assert piping.pipe("in", "k", None, 2) == []  # the selector is not asked
        piping.pipe("in", "k", "no key", 3)
        assert piping.dropped("null value in a global table join") == 1
        assert piping.dropped("null lookup key in a global table join") == dropped


def test_the_selector_and_the_joiner_may_take_keys() -> None:
    def on_key(key: str, value: str) -> str:
        return key + value

    for joiner, expected in [
        (lambda stream_key, left, right: f"{stream_key}:{left}{right}", "a:bG"),
        (lambda stream_key, key, left, right: f"{stream_key},{key}:{left}{right}", "a,ab:bG"),
    ]:
        with run("inner", joiner, on_key) as piping:
            piping.pipe("global", "ab", "G", 0)
            assert piping.values(("in", "a", "b", 1)) == [expected]
