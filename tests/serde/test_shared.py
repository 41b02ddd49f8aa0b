"""Columns whose neighbours are often one object."""

from __future__ import annotations

from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from penstock.serde.shared import encode_shared

runs = st.lists(st.tuples(st.sampled_from([None, "a", "b", "\u00e9"]), st.integers(1, 5)), max_size=20)


@given(runs)
def test_each_run_of_one_object_is_serialised_once(runs: list[tuple[Any, int]]) -> None:
    taken: list[Any] = []

    def encode(column: list[Any]) -> list[bytes | None]:
        taken.extend(column)
        return [None if value is None else value[0].encode() for value in column]

    column = [row for value, count in runs for row in [None if value is None else [value]] * count]
    assert encode_shared(encode, column) == [None if row is None else row[0].encode() for row in column]
    assert len(taken) <= len(column)


def test_the_windows_of_a_record_are_one_run() -> None:
    taken: list[Any] = []

    def encode(column: list[Any]) -> list[bytes | None]:
        taken.extend(column)
        return [b"" for _ in column]

    rows = [{"n": n} for n in range(100)]
    encode_shared(encode, [row for row in rows for _ in range(5)])
    assert taken == rows
