"""A task that stops and goes on elsewhere, over its stores and clocks, gives what it would have given without."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tests.properties.cutting import cut, topology
from tests.properties.playing import Player, inputs
from tests.properties.topologies import CACHED, CATALOG, UNCACHED

CONFIGS = {"uncached": UNCACHED, "cached": CACHED}


@pytest.mark.parametrize("name", CATALOG)
@given(data=st.data())
@settings(max_examples=15, deadline=None)
def test_a_task_goes_on_as_if_it_had_never_stopped(name: str, data: st.DataObject) -> None:
    records = data.draw(inputs(CATALOG[name].topics))
    ends = data.draw(st.lists(st.integers(0, 100), min_size=1, max_size=4))
    config = CONFIGS[data.draw(st.sampled_from(sorted(CONFIGS)))]
    batches = cut(records, ends)
    with (
        Player(topology(name, config is CACHED), config, wall_clock=0) as stays,
        Player(topology(name, config is CACHED), config, wall_clock=0) as moves,
    ):
        for batch in batches:
            stays.play(batch)
            stays.flush()
            moves.play(batch)
            moves.move()
            assert moves.rows() == stays.rows()
        assert moves.tables() == stays.tables()
        if config is UNCACHED:
            assert moves.stored() == stays.stored()  # a cache need not write what its store shows no more
        assert moves._task.operator_clocks() == stays._task.operator_clocks()
