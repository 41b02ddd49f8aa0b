from __future__ import annotations

from typing import Any

import pytest

from tests.differential.compare import Checks, difference, shrink
from tests.differential.departures import DEPARTURES, departure
from tests.differential.generate import Plan, names, requests


def answer(**changes: Any) -> dict[str, Any]:
    row = [0, "out", "k", "v", 5]
    return {"outputs": [row], "stores": {"kv-a": {"k": "v@5"}}, "dropped": 0, "error": None} | changes


def test_equal_answers() -> None:
    assert difference(answer(), answer(), Checks()) is None


@pytest.mark.parametrize(
    ("changes", "text"),
    [
        ({"outputs": []}, "output 0: kafka [0, 'out', 'k', 'v', 5], penstock nothing"),
        (
            {"outputs": [[0, "out", "k", "v", 6]]},
            "output 0: kafka [0, 'out', 'k', 'v', 5], penstock [0, 'out', 'k', 'v', 6]",
        ),
        ({"error": "X: y"}, "error: kafka None, penstock 'X: y'"),
        ({"stores": {}}, "stores: kafka has ['kv-a'], penstock has []"),
        ({"stores": {"kv-a": {}}}, "store kv-a: kafka {'k': 'v@5'}, penstock {}"),
        ({"dropped": 1}, "dropped: kafka 0, penstock 1"),
    ],
)
def test_each_difference_is_found(changes: dict[str, Any], text: str) -> None:
    assert difference(answer(), answer(**changes), Checks()) == text


def test_an_error_meets_an_error_whatever_its_words() -> None:
    assert difference(answer(error="Java: full"), answer(error="Python: full", stores={}), Checks()) is None


def test_shrinking_keeps_what_matters() -> None:
    inputs = [["in", f"k{n}", str(n), n] for n in range(20)]
    small = shrink({"inputs": inputs}, lambda r: any(row[3] == 13 for row in r["inputs"]))
    assert small == {"inputs": [["in", "k0", "1", 13]]}


def test_requests_are_the_same_for_the_same_seed() -> None:
    plan = Plan(seed=7, count=200)
    assert list(requests(plan)) == list(requests(plan))
    assert list(requests(plan)) != list(requests(Plan(seed=8, count=200)))


def test_an_unknown_topology_is_refused() -> None:
    with pytest.raises(ValueError, match="no topology matches nonsense"):
        names(["nonsense"])


def test_most_requests_show_no_departure() -> None:
    """Else the judge would be blind: accepted differences are differences not seen."""
    asked = list(requests(Plan(seed=3, count=3000)))
    blind = [request for request in asked if departure(request)]
    assert len(blind) < 0.05 * len(asked)


def test_every_departure_gives_its_reason() -> None:
    assert all(len(known.reason) > 40 for known in DEPARTURES)
