"""With or without a cache, and however long it collects, the final tables are the same."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.cutting import cut, topology
from tests.properties.playing import Input, Player, final, inputs
from tests.properties.topologies import CACHED, CATALOG, UNCACHED

TABLES = [name for name, entry in CATALOG.items() if entry.is_table]


def tables(name: str, batches: list[list[Input]], *, cached: bool) -> tuple[object, object]:
    """The table that the results add up to, and what the stores hold."""
    with Player(topology(name, cached), CACHED if cached else UNCACHED, wall_clock=0) as player:
        for batch in batches:
            player.play(batch)
            player.flush()
        return final(player.rows()), player.tables()


@pytest.mark.parametrize("name", TABLES)
@given(data=st.data())
@settings(max_examples=20, deadline=None)
def test_the_final_table_is_that_without_a_cache(name: str, data: st.DataObject) -> None:
    records = data.draw(inputs(CATALOG[name].topics))
    ends = data.draw(st.lists(st.integers(0, 100), max_size=3))
    every_update = tables(name, [*([record] for record in records), []], cached=False)
    assert tables(name, cut(records, ends), cached=True) == every_update
