"""Joins of two tables, on the same key and on a foreign key."""

from __future__ import annotations

from penstock import StreamsBuilder
from tests.differential.catalog import Params, dsl
from tests.differential.functions import append, foreign_key, number, show
from tests.differential.parameters import JOIN_KINDS, kinds, versioned
from tests.differential.shapes import by_key, by_length, history, joined, table, write_table

_BOTH = versioned("lv", "rv")


def _enter(kind: str) -> None:
    @dsl("left", "right", choose=_BOTH, name=f"tt_{kind}")
    def plain(b: StreamsBuilder, p: Params) -> None:
        write_table(joined(kind, table(b, p, "left", "lv"), table(b, p, "right", "rv")))

    @dsl("left", "right", choose=_BOTH, name=f"tt_{kind}_filtered")
    def filtered(b: StreamsBuilder, p: Params) -> None:
        left = table(b, p, "left", "lv").filter(lambda k, v: number(v) % 3 != 0)
        right = table(b, p, "right", "rv").map_values(lambda v: None if number(v) % 3 == 0 else v + "!")
        write_table(joined(kind, left, right))

    @dsl("left", "right", choose=_BOTH, name=f"tt_{kind}_group")
    def grouped(b: StreamsBuilder, p: Params) -> None:
        write_table(history(by_length(joined(kind, table(b, p, "left", "lv"), table(b, p, "right", "rv")))))

    @dsl("left", "right", name=f"tt_{kind}_store")
    def stored(b: StreamsBuilder, p: Params) -> None:
        write_table(joined(kind, b.table("left"), b.table("right"), store="kv-j"))


def _enter_foreign_key(kind: str) -> None:
    @dsl("left", "right", choose=_BOTH, name=f"fk_{kind}", foreign_keys=True)
    def plain(b: StreamsBuilder, p: Params) -> None:
        left, right = table(b, p, "left", "lv"), table(b, p, "right", "rv")
        write_table(joined(kind, left, right, on=foreign_key, store="kv-j"))

    @dsl("left", "right", name=f"fk_{kind}_group", foreign_keys=True)
    def grouped(b: StreamsBuilder, p: Params) -> None:
        write_table(history(by_length(joined(kind, b.table("left"), b.table("right"), on=foreign_key))))


for _kind in JOIN_KINDS:
    _enter(_kind)
for _kind in ("inner", "left"):
    _enter_foreign_key(_kind)


@dsl("left", "right", choose=kinds)
def tt_chain_same(b: StreamsBuilder, p: Params) -> None:
    right = b.table("right")
    write_table(joined(p["k2"], joined(p["k1"], b.table("left"), right), right))


@dsl("left", "right", "third", choose=kinds)
def tt_chain_third(b: StreamsBuilder, p: Params) -> None:
    write_table(joined(p["k2"], joined(p["k1"], b.table("left"), b.table("right")), b.table("third")))


@dsl("left", "right", choose=kinds)
def tt_of_counts(b: StreamsBuilder, p: Params) -> None:
    counts = by_key(b, "left").count(store="kv-1").map_values(show)
    write_table(joined(p["k1"], counts, by_key(b, "right").reduce(append, store="kv-2")))
