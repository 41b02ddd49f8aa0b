"""A short run of the differential test. It needs a JDK, and fails where there is none: it never skips."""

from __future__ import annotations

import pytest

from tests.differential.__main__ import run
from tests.differential.catalog import catalog
from tests.differential.compare import Checks
from tests.differential.generate import Plan, requests
from tests.differential.oracle import Oracle

pytestmark = [pytest.mark.slow, pytest.mark.timeout(1200)]


def test_both_sides_have_the_same_topologies() -> None:
    assert Oracle.names() == list(catalog())


@pytest.mark.parametrize("caching", [False, True], ids=["cache off", "cache on"])
def test_random_inputs_give_the_same_answers(caching: bool) -> None:
    asked = list(requests(Plan(seed=1, count=len(catalog()), caching=caching)))
    report, text = run(asked, Checks())
    assert report.totals["differing"] == 0, text
    assert report.totals["matched"] > 0.9 * len(asked), report.table()
