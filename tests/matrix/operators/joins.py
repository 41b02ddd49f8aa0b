from __future__ import annotations

from typing import Any

from penstock import JoinWindows
from tests.matrix.catalog import Corner, Kept, operator
from tests.matrix.functions import add_value, group, number, pair, take_value

WINDOW = JoinWindows(200, 300, 400)
_METHODS = {"inner": "join", "left": "left_join", "outer": "outer_join"}


def _join(kind: str, left: Any, right: Any, *arguments: Any, **options: Any) -> Any:
    return getattr(left, _METHODS[kind])(right, pair, *arguments, **options)


def _enter_outer(kind: str) -> None:
    @operator(name=f"stream_stream_{kind}", left="events", right="events")
    def streams(c: Corner) -> None:
        c.write(_join(kind, c.stream("left"), c.stream("right"), WINDOW))

    @operator(name=f"stream_stream_{kind}_by_new_key", left="keyed", right="keyed")
    def rekeyed(c: Corner) -> None:
        c.write(_join(kind, c.stream("left").select_key(group), c.stream("right").select_key(group), WINDOW))

    @operator(name=f"table_table_{kind}", cached="rows", left="rows", right="rows")
    def tables(c: Corner) -> None:
        c.write(_join(kind, c.table("left"), c.table("right")))

    @operator(name=f"table_table_{kind}_grouped", cached="rows", left="rows", right="rows")
    def grouped(c: Corner) -> None:
        joined = _join(kind, c.table("left"), c.table("right"), store=f"matrix-joined-{kind}")
        c.write(joined.group_by(lambda k, v: (f"n{len(v)}", v)).count())

    @operator(name=f"table_table_{kind}_versioned", cached="rows", left="rows", right="rows")
    def versioned(c: Corner) -> None:
        c.write(_join(kind, c.table("left", versioned=1000), c.table("right", versioned=1000)))


def _enter_left(kind: str) -> None:
    # In Kafka Streams, too, a left row that goes from no foreign key to one without a right row before the answer to its
    # earlier key has come leaves the earlier result of an inner join behind. Caches hold such changes together (not of
    # versioned tables: they have none).
    left_behind: Kept = "settled rows" if kind == "inner" else "rows"

    @operator(name=f"stream_table_{kind}", left="events", right="rows")
    def stream_table(c: Corner) -> None:
        c.write(_join(kind, c.stream("left"), c.table("right")))

    @operator(name=f"stream_table_{kind}_by_new_key", left="keyed", right="rows")
    def rekeyed(c: Corner) -> None:
        c.write(_join(kind, c.stream("left").select_key(lambda v: f"k{number(v) % 8}"), c.table("right")))

    @operator(name=f"stream_table_{kind}_with_grace", left="events", right="rows")
    def with_grace(c: Corner) -> None:
        c.write(_join(kind, c.stream("left"), c.table("right", versioned=2000), grace=300, name=f"grace-{kind}"))

    @operator(name=f"foreign_key_{kind}", cached=left_behind, left="owners", right="rows")
    def foreign_key(c: Corner) -> None:
        c.write(_join(kind, c.table("left"), c.table("right"), on=_owner))

    @operator(name=f"foreign_key_{kind}_versioned", cached="rows", left="owners", right="rows")
    def foreign_key_versioned(c: Corner) -> None:
        left, right = c.table("left", versioned=1000), c.table("right", versioned=1000)
        c.write(_join(kind, left, right, on=_owner))

    @operator(name=f"foreign_key_{kind}_grouped", cached=left_behind, left="owners", right="rows")
    def foreign_key_grouped(c: Corner) -> None:
        joined = _join(kind, c.table("left"), c.table("right"), on=_owner)
        c.write(joined.group_by(lambda k, v: (f"n{len(v)}", v)).count())

    @operator(name=f"stream_global_{kind}", left="keyed", right="rows")
    def stream_global(c: Corner) -> None:
        c.write(_join(kind, c.stream("left"), c.builder.global_table(c.topic("right")), on=lambda v: f"k{v}"))


for _kind in ("inner", "left", "outer"):
    _enter_outer(_kind)
for _kind in ("inner", "left"):
    _enter_left(_kind)


def _owner(value: str) -> str | None:
    owner, _, _ = value.partition("|")
    return None if owner == "null" else owner


@operator()
def self_join(c: Corner) -> None:
    stream = c.stream()
    c.write(_join("inner", stream, stream, WINDOW))


@operator(left="events", right="events", third="rows")
def joins_in_a_row(c: Corner) -> None:
    pairs = _join("left", c.stream("left"), c.stream("right"), WINDOW)
    c.write(_join("left", pairs, c.table("third")))


@operator(left="events", right="rows", cached="rows")
def join_then_aggregate(c: Corner) -> None:
    joined = _join("inner", c.stream("left"), c.table("right"))
    c.write(joined.select_key(lambda v: f"n{v[1]}").group_by_key().aggregate("", add_value))


@operator(left="events", right="events", cached="rows")
def tables_of_aggregates(c: Corner) -> None:
    counts = c.stream("left").group_by_key().count()
    sums = c.stream("right").group_by(lambda v: f"k{number(v) % 8}").aggregate("", take_value)
    c.write(_join("outer", counts, sums))
