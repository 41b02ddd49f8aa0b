from __future__ import annotations

from typing import Any

import pytest

from penstock import StreamsBuilder
from penstock.topology.foreign_key_serdes import Instruction, Response, ResponseSerde, SubscriptionSerde
from tests.interpreter.piping import Output, Piping
from tests.properties.playing import Input, Player, final

CACHED = {"statestore.cache.max.bytes": 10_485_760}


def foreign_key(value: str) -> str | None:
    """`fk|text`; an empty one is null."""
    return value.split("|", maxsplit=1)[0] or None


def pair(left: Any, right: Any) -> str:
    return f"({left},{right})"


def run(kind: str, config: dict[str, Any] | None = None, **tables: Any) -> Piping:
    builder = StreamsBuilder()
    left, right = builder.table("left", **tables), builder.table("right", **tables)
    (left.join if kind == "inner" else left.left_join)(right, pair, on=foreign_key, name="fk").to_stream().to("out")
    return Piping(builder, config)


BOTH = pytest.mark.parametrize("kind", ["inner", "left"])


@pytest.mark.parametrize("config", [{}, CACHED])
@BOTH
def test_every_kind_of_left_change(kind: str, config: dict[str, Any]) -> None:
    inner = kind == "inner"
    with run(kind, config) as piping:
        piping.pipe("right", "1", "foo", 1)
        steps: list[tuple[str | None, str | None, str | None]] = [
            # left value, what an inner join gives ("-": nothing), what a left join gives
            ("1|a", "(1|a,foo)", "(1|a,foo)"),  # insert, right exists
            ("1|b", "(1|b,foo)", "(1|b,foo)"),  # same foreign key
            ("1|b", "(1|b,foo)", "(1|b,foo)"),  # no change at all
            ("2|b", None, "(2|b,None)"),  # another one, no right row
            ("2|c", "-", "(2|c,None)"),  # same again, no right row
            ("3|c", None, "(3|c,None)"),  # another one: a tombstone though nothing was out
            ("|c", None, "(|c,None)"),  # null foreign key
            ("|d", "-", "(|d,None)"),
            ("1|d", "(1|d,foo)", "(1|d,foo)"),  # from null to one that exists
            (None, None, None),  # delete of a row that had joined
            (None, "-", "-"),  # and again: it was not there
            ("4|e", "-", "(4|e,None)"),  # insert, no right row
            (None, None, None),  # delete of a row that never joined
            ("|f", "-", "(|f,None)"),  # insert with a null foreign key
            (None, "-", None),  # delete of such a row
        ]
        for timestamp, (value, in_inner, in_left) in enumerate(steps, 10):
            expected = in_inner if inner else in_left
            outputs = [] if expected == "-" else [("k", expected, timestamp)]
            assert piping.pipe("left", "k", value, timestamp) == outputs, (timestamp, value)
        assert piping.dropped("null foreign key") == (3 if inner else 0)


@BOTH
def test_right_changes_reach_all_left_rows_that_refer_to_them(kind: str) -> None:
    with run(kind) as piping:
        for key in ("r", "q", "\0", "z"):
            piping.pipe("left", key, "10|x" if key != "z" else "100|x", 1)
        expected = [("\0", "(10|x,baz)", 5), ("q", "(10|x,baz)", 5), ("r", "(10|x,baz)", 5)]
        assert piping.pipe("right", "10", "baz", 5) == expected
        assert piping.pipe("right", "10", "baz", 5) == expected  # also if nothing changed
        piping.pipe("left", "q", "11|x", 6)
        gone = None if kind == "inner" else "(10|x,None)"
        assert piping.pipe("right", "10", None, 7) == [("\0", gone, 7), ("r", gone, 7)]
        assert piping.pipe("right", "1", "not a prefix match", 8) == []


@BOTH
def test_an_answer_knows_nothing_that_a_cache_may_never_let_out(kind: str) -> None:
    builder = StreamsBuilder()
    left, right = builder.table("left", cache="off"), builder.table("right")
    (left.join if kind == "inner" else left.left_join)(right, pair, on=foreign_key).to_stream().to("out")
    with Player(builder, CACHED, wall_clock=0) as player:
        # The right row comes and goes while it is in the cache; in between the left side asks for it.
        player.play([Input("right", "1", "foo", 1), Input("left", "k", "1|a", 2), Input("right", "1", None, 3)])
        player.flush()
        assert final(player.rows()) == ({} if kind == "inner" else {"k": "(1|a,None)"})
        player.play([Input("right", "1", "bar", 4)])
        player.flush()
        assert final(player.rows()) == {"k": "(1|a,bar)"}


@BOTH
def test_timestamps(kind: str) -> None:
    inner = kind == "inner"
    with run(kind) as piping:
        piping.pipe("right", "1", "foo", 100)
        assert piping.pipe("left", "k", "1|a", 50) == [("k", "(1|a,foo)", 100)]
        assert piping.pipe("left", "k", "1|b", 150) == [("k", "(1|b,foo)", 150)]
        assert piping.pipe("right", "1", "bar", 30) == [("k", "(1|b,bar)", 30)]  # the right change's own
        piping.pipe("right", "1", "bar", 200)
        # To another key without a row: the left timestamp.
        assert piping.pipe("left", "k", "2|b", 60) == [("k", None if inner else "(2|b,None)", 60)]
        piping.pipe("left", "k", "1|b", 61)
        # To a null key and on delete, an inner join looks at the row of the old key, a left join does not.
        assert piping.pipe("left", "k", "|b", 62) == [("k", None, 200)] if inner else [("k", "(|b,None)", 62)]
        piping.pipe("left", "k", "1|b", 63)
        assert piping.pipe("left", "k", None, 64) == [("k", None, 200 if inner else 64)]


@BOTH
def test_null_primary_and_right_keys_are_dropped(kind: str) -> None:
    with run(kind) as piping:
        assert piping.pipe("left", None, "1|a", 1) == piping.pipe("right", None, "r", 1) == []
        assert piping.driver.dropped_records == 2


SUBSCRIPTIONS = "penstock-fk-subscription-registration-topic"
RESPONSES = "penstock-fk-subscription-response-topic"


@BOTH
def test_an_answer_to_an_earlier_left_row_is_dropped_and_counted(kind: str) -> None:
    with run(kind) as piping:
        piping.pipe("right", "1", "foo", 1)
        piping.pipe("left", "k", "1|a", 2)
        serde = ResponseSerde("string")
        stale = serde.serialize("t", Response(b"0" * 16, "bar", 0))
        piping.driver.pipe(RESPONSES, b"k", stale, 3)
        assert piping.pipe("right", "9", "-", 3) == []
        assert piping.dropped("answer to an earlier left row of a foreign-key join") == 1
        piping.driver.pipe(RESPONSES, b"k", serde.serialize("t", Response(None, None, 0)), 4)
        assert piping.dropped("answer to an earlier left row of a foreign-key join") == 2


def test_what_travels_to_the_right_side() -> None:
    with run("inner") as piping:
        piping.pipe("left", "k", "1|a", 2)
        piping.pipe("left", "k", "2|a", 3)
        piping.pipe("left", "k", None, 4)
        output = piping.driver.create_output_topic(SUBSCRIPTIONS, "string", SubscriptionSerde("string"))
        sent = output.read_key_values_to_list()
        assert [(key, Instruction(s.instruction), s.primary_key, s.partition) for key, s in sent] == [
            ("1", Instruction.PROPAGATE_ONLY_IF_FK_VAL_AVAILABLE, "k", 0),
            ("1", Instruction.DELETE_KEY_NO_PROPAGATE, "k", 0),
            ("2", Instruction.PROPAGATE_NULL_IF_NO_FK_VAL_AVAILABLE, "k", 0),
            ("2", Instruction.DELETE_KEY_AND_PROPAGATE, "k", 0),
        ]
        assert [s.value_hash is None for _, s in sent] == [False, False, False, True]


@BOTH
def test_versioned_tables_ignore_changes_that_are_not_the_latest(kind: str) -> None:
    with run(kind, versioned="1h") as piping:
        piping.pipe("right", "1", "foo", 100)
        assert piping.values(("left", "k", "1|a", 100)) == ["(1|a,foo)"]
        assert piping.values(("left", "k", "1|early", 50), ("right", "1", "early", 50)) == []
        assert piping.dropped("not the latest version in a foreign-key join") == 2


@BOTH
def test_subscriptions_survive_a_restart(kind: str) -> None:
    with run(kind) as piping:
        piping.pipe("left", "k", "1|a", 1)
        piping.driver.restart()
        assert piping.values(("right", "1", "foo", 2)) == ["(1|a,foo)"]


def test_keys_are_compared_as_bytes() -> None:
    builder = StreamsBuilder()
    left = builder.table("left", value_serde="json")
    right = builder.table("right", key_serde="json")
    joined = left.join(right, pair, on=lambda value: value["fk"])
    joined.to_stream().to("out")
    with Piping(builder) as piping:
        piping.pipe("right", {"a": 1}, "foo", 1)
        first: list[Output] = piping.pipe("left", "k", {"fk": {"a": 1}, "n": 1}, 2)
        assert [key for key, _, _ in first] == ["k"]
        assert len(piping.pipe("left", "k", {"fk": {"a": 1}, "n": 2}, 3)) == 1


def test_the_result_is_a_table_that_can_be_stored_and_grouped() -> None:
    builder = StreamsBuilder()
    left, right = builder.table("left"), builder.table("right")
    joined = left.join(right, lambda value, name: name, on=foreign_key, store="joined")
    counts = joined.group_by(lambda key, name: (name, name)).count()
    counts.to_stream().to("out", value_serde="long")
    with Piping(builder) as piping:
        piping.pipe("right", "1", "one", 1)
        piping.pipe("right", "2", "two", 1)
        assert piping.pipe("left", "a", "1|x", 2) == [("one", 1, 2)]
        assert piping.pipe("left", "b", "1|x", 3) == [("one", 2, 3)]
        assert [(k, v) for k, v, _ in piping.pipe("left", "a", "2|x", 4)] == [("one", 1), ("two", 1)]
        store = piping.driver.get_key_value_store("joined")
        assert (store.get("a"), store.get("b")) == ("two", "one")
