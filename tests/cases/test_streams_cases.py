"""Every recorded case must come out as Kafka Streams recorded it, and a wrong expectation must be noticed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cases.build import LegacyError
from tests.cases.case import Case, load, parse
from tests.cases.run_streams import DATA, failure, main

CASES = list(load(DATA))
CURRENT = [case for case in CASES if not case.legacy]


@pytest.mark.parametrize("case", CURRENT, ids=lambda case: case.id)
def test_case(case: Case) -> None:
    assert failure(case) is None


def test_only_the_eager_join_is_left_out() -> None:
    legacy = [case for case in CASES if case.legacy]
    assert len(CASES) == 97
    assert [case.id for case in legacy] == ["ss-b3028f"]
    with pytest.raises(LegacyError, match="eager"):
        failure(legacy[0])


WITH_OUTPUT = [case for case in CURRENT if case.expected]


@pytest.mark.parametrize("case", WITH_OUTPUT, ids=lambda case: case.id)
def test_a_wrong_value_is_noticed(case: Case) -> None:
    assert failure(replace(case, expected=_changed_value(case))) is not None


@pytest.mark.parametrize("case", [c for c in WITH_OUTPUT if c.order != "per_step_map"], ids=lambda case: case.id)
def test_a_wrong_timestamp_is_noticed(case: Case) -> None:
    (key, value, timestamp), *rest = case.expected
    wrong = -1 if timestamp is None else timestamp + 1
    assert failure(replace(case, expected=((key, value, wrong), *rest))) is not None


@pytest.mark.parametrize("case", [c for c in WITH_OUTPUT if c.complete], ids=lambda case: case.id)
def test_a_missing_row_is_noticed(case: Case) -> None:
    # The last row of a step map may be overwritten by no other, so leaving it out always shows.
    assert failure(replace(case, expected=case.expected[:-1])) is not None


@pytest.mark.parametrize("case", [c for c in CURRENT if c.steps and c.expected], ids=lambda case: case.id)
def test_a_wrong_step_is_noticed(case: Case) -> None:
    """One output more in its step: what came later then is missing or comes too early."""
    index = next(i for i, (_, count) in enumerate(case.steps) if count)
    (end, count) = case.steps[index]
    steps = (*case.steps[:index], (end, count - 1), *case.steps[index + 1 :])
    assert failure(replace(case, steps=steps)) is not None


def test_wrong_drops_are_noticed() -> None:
    counted = next(case for case in CURRENT if case.dropped is not None)
    assert failure(replace(counted, dropped=())) is not None
    assert failure(replace(counted, dropped_total=2)) is not None


def test_the_command_prints_failures_and_totals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [json.loads(line) for line in DATA.read_text(encoding="utf-8").splitlines()]
    good, bad, legacy = lines[0], lines[1], next(line for line in lines if line.get("legacy"))
    bad["expected"][0][1] = "something else"
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in (good, bad, legacy)), encoding="utf-8")
    assert main([str(path)]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(f"FAIL {bad['id']}: output 0: expected")
    assert printed[1].startswith(f"SKIP {legacy['id']}:")
    assert printed[-1] == "1 passed, 1 failed, 1 skipped"


def test_a_case_that_cannot_be_read_fails() -> None:
    fields: dict[str, Any] = {"id": "x", "inputs": [["t", "k", "v", 0]], "expected": [], "order": "exact"}
    unknown = failure(parse(fields | {"topology": "stream(t).shuffle()"}))
    assert unknown is not None
    assert "the call shuffle(..) is not known" in unknown
    order = failure(parse(fields | {"topology": "stream(t)", "order": "any"}))
    assert order is not None
    assert "the order 'any' is not known" in order


def _changed_value(case: Case) -> tuple[Any, ...]:
    *rest, (key, _, timestamp) = case.expected
    return (*rest, (key, "something else", timestamp))
