"""Operators without state, and the steps between them: branches, repartition, topic choice."""

from __future__ import annotations

from penstock import StreamsBuilder
from tests.differential.catalog import Params, dsl
from tests.differential.functions import bucket, number, show
from tests.differential.parameters import modulus
from tests.differential.shapes import Texts, write, write_table


@dsl("in", choose=modulus)
def stateless_chain(b: StreamsBuilder, p: Params) -> None:
    write(
        b.stream("in")
        .filter(lambda k, v: v is None or number(v) % p["mod"] != 0)
        .map_values(lambda k, v: f"{show(k)}:{show(v)}")
        .filter_not(lambda k, v: v.endswith(":7"))
        .map(lambda k, v: (k if len(v) % 2 == 0 else None, v))
    )


@dsl("in", choose=modulus)
def flat_map_chain(b: StreamsBuilder, p: Params) -> None:
    write(
        b.stream("in")
        .flat_map(lambda k, v: [(f"{show(k)}{i}", v) for i in range(number(v) % 3)])
        .flat_map_values(lambda v: [f"{v}.{i}" for i in range(number(v) % p["mod"])])
    )


@dsl("left", "right")
def merge(b: StreamsBuilder, p: Params) -> None:
    left = b.stream("left").map_values(lambda v: "L" + show(v))
    write(left.merge(b.stream("right").map_values(lambda v: "R" + show(v))))


@dsl("in", choose=modulus)
def split_default(b: StreamsBuilder, p: Params) -> None:
    _write_branches(
        b.stream("in")
        .split(name="s-")
        .branch(lambda k, v: v is None, name="null")
        .branch(lambda k, v: number(v) % p["mod"] == 0, name="mod")
        .branch(lambda k, v: k is None)
        .default_branch(name="rest")
    )


@dsl("in", choose=modulus)
def split_no_default(b: StreamsBuilder, p: Params) -> None:
    _write_branches(
        b.stream("in")
        .split(name="s-")
        .branch(lambda k, v: number(v) % p["mod"] == 0)
        .branch(lambda k, v: number(v) > 5, function=lambda s: s.map_values(lambda v: v + "!"), name="big")
        .no_default_branch()
    )


def _write_branches(branches: dict[str, Texts]) -> None:
    for name, branch in sorted(branches.items()):
        write(branch, f"out-{name}")


@dsl("in")
def repartition(b: StreamsBuilder, p: Params) -> None:
    write(b.stream("in").repartition(name="rp").map_values(lambda k, v: f"{show(k)}={show(v)}"))


@dsl("in", choose=modulus)
def topic_extractor(b: StreamsBuilder, p: Params) -> None:
    b.stream("in").to(lambda k, v, context: bucket("out-", v, p) + ("e" if context.timestamp % 2 == 0 else "o"))


@dsl("in", choose=modulus)
def select_key_to_table(b: StreamsBuilder, p: Params) -> None:
    def key(k: str | None, v: str | None) -> str | None:
        if v is None:
            return k
        return None if number(v) % p["mod"] == 0 else bucket("x", v, p)

    write_table(b.stream("in").select_key(key).to_table(store="kv-t"))
