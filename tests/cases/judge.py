"""Comparing what came out with what a case expects."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from penstock import Windowed
from penstock.records import Change
from tests.cases.case import Case

Row = tuple[Any, Any, int | None]


@dataclass(slots=True)
class Outcome:
    """What a run gave: outputs by input, and how many drops each input caused."""

    outputs: list[list[Row]] = field(default_factory=list)
    drops: list[int] = field(default_factory=list)

    def between(self, start: int, end: int) -> list[Row]:
        """The outputs of the inputs start to end, without end."""
        return [row for rows in self.outputs[start:end] for row in rows]


def judge(case: Case, outcome: Outcome) -> str | None:
    """What is wrong, or None."""
    compare = _ORDERS.get(case.order)
    if compare is None:
        return f"the order {case.order!r} is not known; known are {', '.join(_ORDERS)}"
    return compare(case, outcome) or _drops(case, outcome)


def _exact(case: Case, outcome: Outcome) -> str | None:
    rows = [_plain(row) for row in outcome.between(0, len(case.inputs))]
    if not case.complete:
        rows = rows[: len(case.expected)]
    for index in range(max(len(rows), len(case.expected))):
        expected = case.expected[index] if index < len(case.expected) else None
        row = rows[index] if index < len(rows) else None
        if expected is None or row is None or not _equal(expected, row):
            return f"output {index}: expected {_text(expected)}, got {_text(row)}"
    return _step_counts(case, outcome)


def _step_counts(case: Case, outcome: Outcome) -> str | None:
    start = 0
    for end, count in case.steps:
        got = len(outcome.between(start, end))
        if got != count and case.complete:
            return f"inputs {start} to {end - 1}: expected {count} outputs, got {got}"
        start = end
    return None


def _per_step_map(case: Case, outcome: Outcome) -> str | None:
    start = taken = 0
    for end, count in case.steps or ((len(case.inputs), len(case.expected)),):
        expected = _last_values(case.expected[taken : taken + count])
        got = _last_values([_plain(row) for row in outcome.between(start, end)])
        if expected != got:
            return f"inputs {start} to {end - 1}: expected {_text(expected)}, got {_text(got)}"
        start, taken = end, taken + count
    return None


def _last_values(rows: Sequence[Row]) -> dict[str, Any]:
    return {_text(key): value for key, value, _ in rows}


def _multiset(case: Case, outcome: Outcome) -> str | None:
    timed = any(timestamp is not None for _, _, timestamp in case.expected)
    expected = Counter(_text(row if timed else row[:2]) for row in case.expected)
    rows = [_plain(row) for row in outcome.between(0, len(case.inputs))]
    got = Counter(_text(row if timed else row[:2]) for row in rows)
    return _missing_and_extra(expected, got, complete=case.complete) or _step_counts(case, outcome)


def _set(case: Case, outcome: Outcome) -> str | None:
    rows = [_window_start(_plain(row)) for row in outcome.between(0, len(case.inputs))]
    expected = Counter({_text(row) for row in map(_window_start, case.expected)})
    return _missing_and_extra(expected, Counter({_text(row) for row in rows}), complete=case.complete)


def _window_start(row: Row) -> Row:
    key, value, timestamp = row
    return ({"windowStart": key["window"][0]}, value, timestamp) if isinstance(key, dict) and "window" in key else row


def _missing_and_extra(expected: Counter[str], got: Counter[str], *, complete: bool) -> str | None:
    missing, extra = expected - got, got - expected
    if not missing and not (extra and complete):
        return None
    return f"missing {sorted(missing.elements())}, too many {sorted(extra.elements())}"


def _drops(case: Case, outcome: Outcome) -> str | None:
    dropped = tuple(index for index, count in enumerate(outcome.drops) if count)
    if case.dropped is not None and dropped != case.dropped:
        return f"dropped inputs: expected {list(case.dropped)}, got {list(dropped)}"
    total = sum(outcome.drops)
    if case.dropped_total is not None and total != case.dropped_total:
        return f"drops: expected {case.dropped_total}, got {total}"
    return None


_ORDERS = {
    "exact": _exact,
    "set": _set,
    "sorted_by_key_window": _multiset,
    "sorted_by_key_ts": _multiset,
    "per_step_map": _per_step_map,
}


def _plain(row: Row) -> Row:
    key, value, timestamp = row
    if isinstance(key, Windowed):
        key = {"key": key.key, "window": [key.window.start, key.window.end]}
    if isinstance(value, Change):
        value = {"new": value.new, "old": value.old}
    return key, value, timestamp


def _equal(expected: Row, row: Row) -> bool:
    # As text, so that 1, 1.0 and true differ.
    return _text(expected[:2]) == _text(row[:2]) and (expected[2] is None or expected[2] == row[2])


def _text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)
