"""Lines of many JSON objects are those of each of them."""

from __future__ import annotations

from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connect.connectors.line_text import line_text, lines_of_maps
from penstock.connect.data import java_text

_NUMBERS = st.one_of(st.integers(), st.floats(), st.floats(1e-4, 1e8))
_ENTRY = st.one_of(st.text(), _NUMBERS, st.booleans(), st.none())


def one_by_one(maps: list[dict[str, Any]]) -> str:
    return "".join(f"{line_text(None, value)}\n" for value in maps)


@given(st.lists(st.tuples(st.text(), _NUMBERS, _ENTRY), min_size=1, max_size=5), st.booleans())
def test_columns_give_what_single_lines_give(rows: list[tuple[Any, ...]], turned: bool) -> None:
    names = ["a%s", "b", "c, {}"]
    maps = [dict(zip(names, row, strict=True)) for row in rows]
    if turned:
        maps[-1] = dict(reversed(maps[-1].items()))
    lines = lines_of_maps(maps)
    assert lines == (None if turned and len(maps) > 1 else one_by_one(maps))
    assert one_by_one(maps) == "".join(f"{java_text(None, value)}\n" for value in maps)


@pytest.mark.parametrize(
    "entries",
    [
        pytest.param(["x", "y,z"], id="texts"),
        pytest.param([1, -5], id="ints"),
        pytest.param([0.001, 9999999.5], id="floats"),
        pytest.param([0.0, -0.0, 1.5, -2.5, 1e-4, 1e7], id="floats with and without exponent"),
        pytest.param([float("nan"), 1.0], id="nan first"),
        pytest.param([1.0, float("nan"), float("inf")], id="nan last"),
        pytest.param([True, None, 3], id="as JSON writes them"),
        pytest.param([1, 1 << 70], id="more than 64 bits"),
        pytest.param([1, 1.5, "x", None], id="mixed"),
        pytest.param([[1, "a"], {"b": True}], id="nested"),
    ],
)
def test_columns_of_all_kinds(entries: list[Any]) -> None:
    maps = [{"id": "k", "v": entry} for entry in entries]
    assert lines_of_maps(maps) == one_by_one(maps) == "".join(f"{java_text(None, value)}\n" for value in maps)


def test_other_keys_are_for_single_lines() -> None:
    assert lines_of_maps([{"a": 1, "b": 2}, {"b": 2, "a": 1}]) is None
    assert lines_of_maps([{}]) is None
