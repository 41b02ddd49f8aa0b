from __future__ import annotations

from typing import Any

import pytest

from tests.cases.formulas import formula, leading_formula


@pytest.mark.parametrize(
    ("text", "key", "value", "expected"),
    [
        ("k", "a", 1, "a"),
        ("v%2==0", "a", 4, True),
        ("v -> int(v[0])", "a", "12", 1),
        ("(k,v)->(v,k)", "a", "b", ("b", "a")),
        ("(user,region)->(region,len(user))", "alice", "E", ("E", 5)),
        ('(k,v)-> k=="null"?(null,v): k=="NULL"? null : (v,v)', "null", "3", (None, "3")),
        ('(k,v)-> k=="null"?(null,v): k=="NULL"? null : (v,v)', "NULL", "3", None),
        ('(k,v)-> k=="null"?(null,v): k=="NULL"? null : (v,v)', "A", "3", ("3", "3")),
        ("v.split('|')[1]", "a", "x|y", "y"),
        ("str(k)+'+'+str(v)", None, "b", "null+b"),
        ("k+v", 2, 3, 5),
        ("k+v", "a", None, "anull"),
        ("k-v*2", 10, 3, 4),
    ],
)
def test_formula(text: str, key: Any, value: Any, expected: Any) -> None:
    assert formula(text).of("k", "v")(key, value) == expected


def test_a_remark_starts_with_its_formula() -> None:
    joiner = leading_formula("str(l)+'-'+str(r) with None printed as null; caching off")
    assert joiner.of("l", "r")("a", None) == "a-null"


@pytest.mark.parametrize("text", ["", "k+", "(k", "k v", "f(k)", "k.f()", "k[1"])
def test_what_is_no_formula_is_refused(text: str) -> None:
    with pytest.raises(ValueError, match=r"."):
        formula(text).of("k", "v")(1, 2)


def test_an_unknown_name_is_refused() -> None:
    with pytest.raises(ValueError, match="the formula names 'x', but there are only k, v"):
        formula("x").of("k", "v")(1, 2)
