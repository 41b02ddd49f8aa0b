"""Names, given (named_) and generated (names_), of every kind of node, store and internal topic."""

from __future__ import annotations

import os

from penstock import (
    BufferConfig,
    JoinWindows,
    Materialized,
    SessionWindows,
    SlidingWindows,
    StreamsBuilder,
    Suppressed,
    TimeWindows,
)
from tests.differential.catalog import Params, dsl
from tests.differential.functions import append, foreign_key, number, pair, plus, remove, show, window_key
from tests.differential.parameters import JOIN_KINDS, one_of
from tests.differential.processors.small import Echo, Pass, Reader, Same, Writer
from tests.differential.shapes import by_key, joined, write, write_table
from tests.differential.topologies.processor_api import texts


@dsl("in", "in2")
def names_stateless(b: StreamsBuilder, p: Params) -> None:
    s = (
        b.stream("in")
        .filter(lambda k, v: True)
        .filter_not(lambda k, v: False)
        .map(lambda k, v: (k, v))
        .map_values(lambda v: v)
        .flat_map(lambda k, v: [(k, v)])
        .flat_map_values(lambda v: [show(v)])
        .select_key(lambda k, v: k)
        .peek(lambda k, v: None)
        .process_values(Same)
        .process(Pass)
    )
    s.for_each(lambda k, v: None)
    s.print(file=os.devnull)
    s.merge(b.stream("in2")).to("out")


@dsl("in", "in2")
def named_stateless(b: StreamsBuilder, p: Params) -> None:
    s = (
        b.stream("in", name="source")
        .filter(lambda k, v: True, name="keep")
        .map(lambda k, v: (k, v), name="pairs")
        .map_values(lambda v: v, name="values")
        .flat_map_values(lambda v: [show(v)], name="many")
        .select_key(lambda k, v: k, name="keys")
        .peek(lambda k, v: None, name="look")
        .process_values(Same, name="same")
        .process(Pass, name="pass")
    )
    s.for_each(lambda k, v: None, name="each")
    s.merge(b.stream("in2", name="other"), name="merged").to("out", name="sink")


@dsl("in", "in2", "in3", "in4")
def names_sources(b: StreamsBuilder, p: Params) -> None:
    write(b.stream("in", "in2").map_values(lambda v: v), "out-1")
    write(b.stream("in3").merge(b.stream("in3")), "out-2")
    write_table(b.table("in4", name="facts", store="kv-facts"), "out-3")


@dsl("in", "in-other")
def names_pattern(b: StreamsBuilder, p: Params) -> None:
    write(b.stream(pattern="in.*").map_values(show))


@dsl("in")
def names_split(b: StreamsBuilder, p: Params) -> None:
    (
        b.stream("in")
        .split()
        .branch(lambda k, v: v is None, consumer=lambda s: write(s, "out-1"))
        .branch(lambda k, v: k is None, consumer=lambda s: write(s, "out-2"), name="nokey")
        .default_branch(consumer=lambda s: write(s, "out-3"))
    )


@dsl("in")
def names_aggregates(b: StreamsBuilder, p: Params) -> None:
    grouped = by_key(b)
    write_table(grouped.count(), "out-1")
    write_table(grouped.reduce(append), "out-2")
    write_table(grouped.aggregate("", lambda k, v, a: append(a, v)), "out-3")


@dsl("in")
def names_rekeyed_aggregates(b: StreamsBuilder, p: Params) -> None:
    write_table(b.stream("in").group_by(lambda k, v: v).count(), "out-1")
    write_table(
        b.stream("in").select_key(lambda k, v: v).map_values(lambda v: v).group_by_key().reduce(append), "out-2"
    )
    groups = b.stream("in").group_by(lambda k, v: v, name="groups")
    write_table(groups.aggregate("", lambda k, v, a: append(a, v)), "out-3")


@dsl("in", "in2", "in3")
def named_aggregates(b: StreamsBuilder, p: Params) -> None:
    groups = b.stream("in").group_by(lambda k, v: v, name="groups")
    write_table(groups.count(name="counting", store="kv-counts"), "out-1")
    write_table(b.stream("in2").group_by(lambda k, v: v).reduce(append, name="reducing", store="kv-reduced"), "out-2")
    folded = by_key(b, "in3").aggregate("", lambda k, v, a: append(a, v), name="folding", store="kv-folded")
    write_table(folded, "out-3")


@dsl("in", "in2", "in3")
def names_windows(b: StreamsBuilder, p: Params) -> None:
    closing = Suppressed.until_window_closes(BufferConfig.unbounded())
    texts = {"key_serde": "string", "value_serde": "string"}
    tumbling = b.stream("in").group_by(lambda k, v: v, **texts).windowed_by(TimeWindows(10)).count()
    tumbling.suppress(closing).to_stream(lambda k, v: window_key(k)).map_values(show).to("out-1")
    sliding = by_key(b, "in2").windowed_by(SlidingWindows(10)).reduce(append)
    sliding.to_stream(lambda k, v: window_key(k)).to("out-2")
    sessions = (
        b.stream("in3")
        .group_by_key(**texts)
        .windowed_by(SessionWindows(10))
        .aggregate("", lambda k, v, a: append(a, v), lambda k, x, y: append(x, y), **texts)
    )
    sessions.suppress(closing.with_name("quiet")).to_stream(lambda k, v: window_key(k)).to("out-3")


@dsl("in", "in2")
def names_unnamed_stores(b: StreamsBuilder, p: Params) -> None:
    """A Materialized without a name: count draws a number more than reduce and aggregate do."""
    grouped = by_key(b)
    write_table(grouped.count(Materialized.with_("string", "long")), "out-1")
    write_table(grouped.reduce(append, Materialized.with_("string", "string")), "out-2")
    folded = grouped.aggregate("", lambda k, v, a: append(a, v), Materialized.with_("string", "string"))
    write_table(folded, "out-3")
    facts = b.table("in2").group_by(lambda k, v: (v, v))
    write_table(facts.count(Materialized.with_("string", "long")), "out-4")


@dsl("left", "right")
def names_cogroup(b: StreamsBuilder, p: Params) -> None:
    left = b.stream("left").group_by(lambda k, v: v).cogroup(lambda k, v, a: append(a, v))
    right = by_key(b, "right")
    write_table(left.cogroup(right, lambda k, v, a: append(a, v)).aggregate(""))


@dsl("left", "right")
def named_cogroup(b: StreamsBuilder, p: Params) -> None:
    left = b.stream("left").group_by(lambda k, v: v, name="one").cogroup(lambda k, v, a: append(a, v))
    right = b.stream("right").group_by(lambda k, v: v, name="two")
    both = left.cogroup(right, lambda k, v, a: append(a, v))
    write_table(both.aggregate("", name="together", store="kv-agg"))


@dsl("in")
def names_repartition(b: StreamsBuilder, p: Params) -> None:
    write(b.stream("in").repartition().map_values(show))


@dsl("in", "in2", "in3")
def names_tables(b: StreamsBuilder, p: Params) -> None:
    waiting = Suppressed.until_time_limit(10, BufferConfig.unbounded())
    t = (
        b.table("in")
        .filter(lambda k, v: True)
        .filter_not(lambda k, v: False)
        .map_values(lambda v: v)
        .transform_values(Echo)
    )
    write_table(t.suppress(waiting), "out-1")
    write_table(t.group_by(lambda k, v: (v, v)).count(), "out-2")
    write_table(b.table("in2").group_by(lambda k, v: (v, v)).reduce(append, remove), "out-3")
    write_table(b.stream("in3").to_table(), "out-4")


@dsl("in", "in2")
def named_tables(b: StreamsBuilder, p: Params) -> None:
    facts = b.table("in", name="facts").filter(lambda k, v: True, name="keep")
    same = facts.map_values(lambda v: v, name="same", store="kv-same")
    write(same.to_stream(name="changes"), "out-1")
    groups = same.group_by(lambda k, v: (v, v), name="groups")
    write_table(
        groups.aggregate(
            "", lambda k, v, a: append(a, v), lambda k, v, a: remove(a, v), name="folding", store="kv-agg"
        ),
        "out-2",
    )
    write_table(b.stream("in2").select_key(lambda k, v: v).to_table(name="latest", store="kv-latest"), "out-3")


@dsl("left", "right", choose=one_of(kind=JOIN_KINDS))
def named_ss_join(b: StreamsBuilder, p: Params) -> None:
    left = b.stream("left").select_key(lambda k, v: k)
    right = b.stream("right").select_key(lambda k, v: k)
    write(joined(p["kind"], left, right, JoinWindows(10, 10), name="near", store="pairs"))


@dsl("left", "right")
def named_tt_join(b: StreamsBuilder, p: Params) -> None:
    left, right = b.table("left"), b.table("right")
    write_table(left.join(right, pair, name="both").left_join(right, pair, name="again", store="kv-j"))


@dsl("left", "right", foreign_keys=True)
def named_fk_join(b: StreamsBuilder, p: Params) -> None:
    left, right = b.table("left"), b.table("right")
    write_table(left.left_join(right, pair, on=foreign_key, name="owner", store="kv-j"))


@dsl("left", "right", "global")
def named_lookup(b: StreamsBuilder, p: Params) -> None:
    known = b.stream("left").select_key(lambda k, v: k).join(b.table("right"), pair, name="lookup")
    write(known.left_join(b.global_table("global"), pair, on=lambda k, v: k, name="anywhere"))


@dsl("left", "right")
def named_process(b: StreamsBuilder, p: Params) -> None:
    b.add_state_store(texts(p, "kv-p"))
    first = b.stream("left").process(Pass, "kv-p", name="first")
    write_table(first.group_by_key().count(name="counting", store="kv-counts"), "out-1")
    write(b.stream("right").process_values(Same, "kv-p", name="second"), "out-2")


@dsl("in", "global")
def names_global_store(b: StreamsBuilder, p: Params) -> None:
    store = texts(p, "kv-global").with_logging_disabled()
    b.add_global_store(store, "global", lambda: Writer("kv-global"), key_serde="string", value_serde="string")
    write(b.stream("in").process_values(lambda: Reader("kv-global")))


@dsl("in", optimized=True)
def names_shared_key(b: StreamsBuilder, p: Params) -> None:
    """One key change read by several operators: the optimizer may share their repartition topic."""
    s = b.stream("in").filter(lambda k, v: v is not None).select_key(lambda k, v: f"k{number(v) % 2}")
    write_table(s.group_by_key().count(store="kv-1"), "out-1")
    write_table(s.map_values(lambda v: v).group_by_key().reduce(plus, store="kv-2"), "out-2")


@dsl("left", "right", optimized=True)
def names_table_reuse(b: StreamsBuilder, p: Params) -> None:
    table = b.table("right", store="kv-right")
    write(joined("left", b.stream("left"), table))
