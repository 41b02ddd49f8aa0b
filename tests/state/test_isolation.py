"""Copies that share nothing that can be changed."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, NamedTuple

import pytest

from penstock.isolation import copier, own_copy


@dataclass
class Point:
    x: int
    tags: list[str] = field(default_factory=list)


class Pair(NamedTuple):
    left: int
    right: list[int]


class Local:
    """Cannot be pickled: it holds a function."""

    def __init__(self) -> None:
        self.items = [1]
        self.function = lambda: 1


class Text(str):  # noqa: SLOT000 - it may carry anything
    note: list[int]


@pytest.mark.parametrize(
    "value",
    [
        {"a": 1},
        {"a": [1, {"b": 2}]},
        [1, 2],
        [[1], (2, [3])],
        (1, [2]),
        {1, 2},
        Point(1, ["t"]),
        Pair(1, [2]),
        {"p": Point(1)},
        bytearray(b"x"),
    ],
)
def test_copies_are_equal_of_the_same_classes_and_apart(value: Any) -> None:
    own = copier(value)
    one, other = own(), own()
    assert one == value == other
    assert type(one) is type(value)
    for part, original in zip(_parts(one), _parts(value), strict=True):
        assert part == original
        assert part is not original
        assert type(part) is type(original)
    assert not {id(p) for p in _parts(one)} & {id(p) for p in _parts(other)}


def _parts(value: Any) -> list[Any]:
    """All objects inside that can be changed."""
    if isinstance(value, dict):
        return [value, *(p for v in value.values() for p in _parts(v))]
    if isinstance(value, (list, tuple)):
        inner = [p for v in value for p in _parts(v)]
        return [value, *inner] if isinstance(value, list) else inner
    if isinstance(value, Point):
        return [value, *_parts(value.tags)]
    return [value] if isinstance(value, (set, bytearray)) else []


@pytest.mark.parametrize("value", [None, 1, 1.5, "a", b"a", True, (1, "a")])
def test_what_cannot_change_is_not_copied(value: Any) -> None:
    assert own_copy(value) is value


def test_objects_that_cannot_be_pickled_are_copied_too() -> None:
    value = Local()
    mine = own_copy(value)
    mine.items.append(2)
    assert value.items == [1]


def test_a_subclass_of_text_may_carry_anything() -> None:
    value = Text("a")
    value.note = [1]
    assert own_copy(value) == "a"
    assert own_copy(value) is not value
