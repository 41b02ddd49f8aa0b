"""An aggregate of a table, kept up to date by adding and taking away, is the aggregate of the table's rows."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from functools import cache
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import KTable, StreamsBuilder, Topology
from tests.properties.cutting import cut
from tests.properties.playing import Player, final, inputs
from tests.properties.topologies import CACHED, CATALOG, UNCACHED, add_member, printed, remove_member

# A versioned table's updates do not come in the order of its versions, so they do not add up to it. A window that its
# store no longer shows is made anew without an old value (as in Kafka), so that nothing is taken away below: sessions in
# the last millisecond of their grace, and windows that one input of a cogroup finds open and another has closed.
EXCLUDED = {"versioned_table", "session", "cogroup_session", "suppress_sessions", "cogroup_tumbling"}
TABLES = [
    name
    for name, entry in CATALOG.items()
    if name not in EXCLUDED and isinstance(entry.recipe(StreamsBuilder()), KTable)
]


def group(key: Any, value: Any) -> tuple[str, str]:
    """Rows by the length of their value; members are told by their key."""
    text = str(value)
    return f"length {len(text)}", f"{printed(key)}={text}".replace(" ", "_")


@cache
def topology(name: str, cached: bool) -> Topology:
    """A table of the catalog, and three aggregates of it."""
    config = CACHED if cached else UNCACHED
    builder = StreamsBuilder(config)
    table = CATALOG[name].recipe(builder)
    assert isinstance(table, KTable)
    table.to_stream().map(lambda key, value: (printed(key), printed(value))).to("rows")
    groups = table.group_by(group, key_serde="string", value_serde="string")
    groups.count().to_stream().map_values(printed).to("counts")
    groups.aggregate("", add_member, remove_member).to_stream().to("members")
    groups.reduce(add_member, lambda members, value: remove_member(value, members)).to_stream().to("reduced")
    return builder.build({**config, **CATALOG[name].settings})


def recomputed(rows: Mapping[Any, str]) -> dict[str, str]:
    members: dict[str, str] = {}
    for key, value in rows.items():
        where, member = group(key, value)
        members[where] = add_member(member, members.get(where, ""))
    return members


@pytest.mark.parametrize("name", TABLES)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_aggregates_are_those_of_the_rows(name: str, data: st.DataObject) -> None:
    records = data.draw(inputs(CATALOG[name].topics))
    ends = data.draw(st.lists(st.integers(0, 100), max_size=3))
    cached = data.draw(st.booleans())
    with Player(topology(name, cached), CACHED if cached else UNCACHED, wall_clock=0) as player:
        for batch in cut(records, ends):
            player.play(batch)
            player.flush()
        wanted = recomputed(final(player.rows("rows")))
        assert final(player.rows("members")) == wanted
        assert final(player.rows("reduced")) == wanted
        counts = {key: value for key, value in final(player.rows("counts")).items() if value != "0"}
        assert counts == {key: str(len(members.split())) for key, members in wanted.items()}


@given(records=inputs(("in",)), ends=st.lists(st.integers(0, 100), max_size=3), cached=st.booleans())
@settings(max_examples=40, deadline=None)
def test_how_many_keys_were_counted_how_often(records: list[Any], ends: list[int], cached: bool) -> None:
    """From the records themselves: a count, counted again."""
    config = CACHED if cached else UNCACHED
    builder = StreamsBuilder(config)
    counts = builder.stream("in").group_by_key().count()
    counts.group_by(lambda count: (str(count), count), value_serde="long").count().to_stream().map_values(str).to("out")
    with Player(builder.build(config), config, wall_clock=0) as player:
        for batch in cut(records, ends):
            player.play(batch)
            player.flush()
        found = {key: value for key, value in final(player.rows()).items() if value != "0"}
    often = Counter(record.key for record in records if record.key is not None and record.value is not None)
    assert found == {str(n): str(keys) for n, keys in Counter(often.values()).items()}
