"""Where a batch ends changes nothing: with the cache off, the same records give the same results in the same order."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.cutting import cut, topology
from tests.properties.playing import Input, Player, Row, inputs
from tests.properties.topologies import CACHED, CATALOG, UNCACHED


def results(
    name: str, batches: list[list[Input]], *, columns: bool = False, cached: bool = False
) -> tuple[list[Row], object]:
    """What comes out, and what the stores hold at the end."""
    with Player(topology(name, cached), CACHED if cached else UNCACHED, wall_clock=0) as player:
        for batch in batches:
            (player.play_columns if columns else player.play)(batch)
            player.flush()
        return player.rows(), player.stored()


@pytest.mark.parametrize("name", CATALOG)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_the_ends_of_batches_change_nothing(name: str, data: st.DataObject) -> None:
    records = data.draw(inputs(CATALOG[name].topics))
    ends = data.draw(st.lists(st.integers(0, 100), max_size=5))
    alone = results(name, [*([record] for record in records), []])
    assert results(name, cut(records, ends)) == alone


@pytest.mark.parametrize("name", [name for name in CATALOG if not topology(name).internal_topics])
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_columns_of_records_give_what_single_records_give(name: str, data: st.DataObject) -> None:
    records = data.draw(inputs(CATALOG[name].topics))
    ends = data.draw(st.lists(st.integers(0, 100), max_size=5))
    alone = results(name, [*([record] for record in records), []])
    batches = cut(records, ends)
    assert results(name, batches, columns=True) == alone
    assert results(name, batches, columns=True, cached=True) == results(name, batches, cached=True)


@pytest.mark.parametrize("name", CATALOG)
@given(data=st.data())
@settings(max_examples=5, deadline=None)
def test_stores_that_keep_headers_give_the_same_results(name: str, data: st.DataObject) -> None:
    records = data.draw(inputs(CATALOG[name].topics))
    ends = data.draw(st.lists(st.integers(0, 100), max_size=5))
    config = data.draw(st.sampled_from((CACHED, UNCACHED)))
    kept = {**config, "dsl.store.format": "HEADERS"}
    with (
        Player(topology(name, config is CACHED), config, wall_clock=0) as plain,
        Player(CATALOG[name].build(kept), kept, wall_clock=0) as keeping,
    ):
        for batch in cut(records, ends):
            plain.play(batch)
            plain.flush()
            keeping.play(batch)
            keeping.move()
            assert keeping.rows() == plain.rows()
