from __future__ import annotations

import pytest

from penstock import TopologyError
from penstock.topology.naming import NameCounter, check_name


def test_nodes_and_stores_share_the_counter() -> None:
    names = NameCounter()
    assert names.node("KSTREAM-MAP-") == "KSTREAM-MAP-0000000000"
    assert names.store("KSTREAM-REDUCE-") == "KSTREAM-REDUCE-STATE-STORE-0000000001"


def test_a_given_name_draws_a_number_too() -> None:
    names = NameCounter()
    assert names.given_or_node("mine", "KSTREAM-MAP-") == "mine"
    assert names.given_or_node("mine", "KSTREAM-SOURCE-", "-source") == "mine-source"
    assert names.given_or_node(None, "KSTREAM-MAP-", "-source") == "KSTREAM-MAP-0000000002"


def test_a_suffix_may_make_a_name_too_long() -> None:
    with pytest.raises(TopologyError, match="name has 256 characters"):
        NameCounter().given_or_node("x" * 249, "KSTREAM-SOURCE-", "-source")


@pytest.mark.parametrize("name", ["a", "A.b_c-9", "...", "x" * 249])
def test_legal(name: str) -> None:
    assert check_name(name, "name") == name


@pytest.mark.parametrize("name", ["", ".", "..", "a b", "a/b", "ä", "a\n", "x" * 250, None, 3])
def test_illegal(name: object) -> None:
    with pytest.raises(TopologyError):
        check_name(name, "name")
