"""Streams that look up a table or a global table."""

from __future__ import annotations

from penstock import StreamsBuilder
from tests.differential.catalog import Params, dsl
from tests.differential.functions import lookup_key, number
from tests.differential.parameters import lookup_grace, versioned
from tests.differential.shapes import joined, table, versioned_table, write

_RIGHT = versioned("rv")


def _enter(kind: str) -> None:
    @dsl("left", "right", choose=_RIGHT, name=f"st_{kind}")
    def plain(b: StreamsBuilder, p: Params) -> None:
        write(joined(kind, b.stream("left"), table(b, p, "right", "rv")))

    @dsl("left", "right", choose=_RIGHT, name=f"st_{kind}_filtered")
    def filtered(b: StreamsBuilder, p: Params) -> None:
        left = b.stream("left")
        right = table(b, p, "right", "rv").filter(lambda k, v: number(v) % 3 != 0).map_values(lambda v: v + "!")
        write(joined(kind, left, right))

    @dsl("left", "right", choose=_RIGHT, name=f"st_{kind}_rekeyed")
    def rekeyed(b: StreamsBuilder, p: Params) -> None:
        left = b.stream("left").select_key(lambda k, v: None if number(v) == 0 else k)
        write(joined(kind, left, table(b, p, "right", "rv")))

    @dsl("left", "right", choose=lookup_grace, name=f"st_{kind}_grace")
    def with_grace(b: StreamsBuilder, p: Params) -> None:
        left = b.stream("left")
        write(joined(kind, left, versioned_table(b, p, "right"), grace=p["grace"], name="j"))

    @dsl("left", "global", name=f"sg_{kind}")
    def with_global(b: StreamsBuilder, p: Params) -> None:
        left = b.stream("left")
        write(joined(kind, left, b.global_table("global", store="kv-global"), on=lookup_key))


for _kind in ("inner", "left"):
    _enter(_kind)
