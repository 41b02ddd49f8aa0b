"""The orders are Java's: expectations were printed by Java 17."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.topology.java_order import TreeSet, hash_order


def test_a_hash_set_of_topics() -> None:
    topics = ["orders", "payments", "users", "in", "out", "lines", "counts", "a", "b", "Ünïcode", "日本"]
    assert hash_order(topics) == JAVA_11


def test_a_larger_one_has_more_buckets() -> None:
    names = [f"KSTREAM-FILTER-{i:010d}" for i in range(14)]
    assert hash_order(names) == JAVA_14


def test_a_copy_is_sized_for_its_elements() -> None:
    names = [f"topic-{i}" for i in range(13)]
    assert hash_order(names, copied=True) == JAVA_COPIED_13


@given(st.lists(st.integers(-50, 50)))
def test_a_tree_with_a_steady_order_sorts(numbers: list[int]) -> None:
    tree: TreeSet[int] = TreeSet(lambda a, b: a - b)
    for number in numbers:
        tree.add(number)
    assert list(tree) == sorted(set(numbers))


def test_a_tree_whose_order_changes_depends_on_its_shape() -> None:
    rank = dict.fromkeys("abcdefg", 1)
    tree: TreeSet[str] = TreeSet(lambda x, y: rank[y] - rank[x] if rank[x] != rank[y] else (x > y) - (x < y))
    for name in "dbfaceg":
        tree.add(name)
        rank[name] += ord(name) % 3
    assert "".join(tree) == JAVA_TREE


JAVA_11 = ["a", "b", "in", "counts", "payments", "orders", "日本", "lines", "Ünïcode", "users", "out"]
JAVA_14 = [f"KSTREAM-FILTER-{i:010d}" for i in (7, 8, 5, 6, 9, 10, 0, 11, 3, 4, 1, 12, 2, 13)]
JAVA_COPIED_13 = [f"topic-{i}" for i in (6, 7, 8, 9, 0, 1, 2, 3, 10, 4, 11, 5, 12)]
JAVA_TREE = "dbacefg"
