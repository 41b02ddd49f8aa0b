"""Every recorded Connect case must come out as Kafka Connect recorded it, and a wrong expectation must be noticed."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from tests.cases.connect_case import ConnectCase, load, parse
from tests.cases.connect_play import failure
from tests.cases.run_connect import DATA, main

CASES = list(load(DATA))


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_case(case: ConnectCase) -> None:
    assert failure(case) is None


@pytest.mark.parametrize("case", CASES, ids=lambda case: case.id)
def test_a_wrong_expectation_is_noticed(case: ConnectCase) -> None:
    assert failure(replace(case, expected=_changed(case.expected))) is not None


def _changed(expected: Any) -> Any:
    """Another expectation: each of its parts is changed in a way that cannot be true as well."""
    if isinstance(expected, bool):
        return not expected
    if isinstance(expected, str) or expected is None:
        return {"type": "something else"} if expected is None else f"{expected} and more"
    if isinstance(expected, list):
        return [*expected, "one more"]
    if "error" in expected:
        return {"error": "NoSuchException"}
    if "unchanged" in expected:
        return {"topic": "something else"}
    changed = dict(expected)
    name = next(name for name in expected if name != "partial")
    changed[name] = _CHANGES.get(name, _other_value)(expected[name])
    return changed


def _other_value(value: Any) -> Any:
    return ["something", "else"] if value != ["something", "else"] else []


_CHANGES: dict[str, Any] = {
    "status": lambda status: status + 50,
    "error_count": lambda count: count + 1,
    "topic": lambda topic: f"{topic}-other",
    "headers": lambda headers: [*headers, ["one", "more"]],
    "schema": lambda _: {"type": "map", "keys": {"type": "string"}, "values": {"type": "string"}},
    "key_schema": lambda _: {"type": "bytes", "name": "other"},
    "value_schema": lambda _: {"type": "bytes", "name": "other"},
    "key_type": lambda _: "bytes",
    "value_type": lambda _: "bytes",
    "type": lambda _: "bytes",
    "field_type": lambda types: dict.fromkeys(types, "bytes"),
    "field_schema": lambda schemas: {name: {"type": "bytes"} for name in schemas},
    "value_without_default": lambda values: {name: {"$bytes_b64": "AA=="} for name in values},
    "key_without_default": lambda values: {name: {"$bytes_b64": "AA=="} for name in values},
    "json": lambda _: {"schema": {"type": "bytes"}, "payload": [0]},
    "json_text_payload": lambda text: f"{text}0",
    "bytes": lambda _: "other",
    "key": lambda key: {**key, "more": 1} if isinstance(key, dict) and "$type" not in key else "other",
    "value": lambda value: [value, "other"],
    "connector_name": lambda name: f"{name}-other",
    "config": lambda config: {**config, "more": "1"},
    "offsets": lambda offsets: [*offsets, {}],
    "errors": lambda errors: [*errors, "more"],
}


def test_the_command_prints_failures_and_totals(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = {line["id"]: line for line in map(json.loads, DATA.read_text(encoding="utf-8").splitlines())}
    good, bad = lines["cast-e842ee"], lines["rout-94fab2"]
    bad["expected"]["topic"] = "something else"
    path = tmp_path / "cases.jsonl"
    path.write_text("\n".join(json.dumps(line) for line in (good, bad)), encoding="utf-8")
    assert main([str(path)]) == 1
    printed = capsys.readouterr().out.splitlines()
    assert printed[0].startswith(f"FAIL {bad['id']}: topic: expected 'something else', got 'bar'")
    assert printed[-1] == "1 passed, 1 failed"


def test_the_command_is_content_with_the_recorded_cases(capsys: pytest.CaptureFixture[str]) -> None:
    assert main([]) == 0
    assert capsys.readouterr().out.splitlines()[-1] == "189 passed, 0 failed"


def test_a_case_that_cannot_be_read_fails(tmp_path: Path) -> None:
    unknown = parse({"id": "x", "component": "NoSuchThing", "input": {}, "expected": {}})
    assert "could not be found" in (failure(unknown) or "")
    expectation = parse({
        "id": "x", "component": "Filter", "config": {}, "input": {"topic": "t"}, "expected": {"colour": "red"}
    })  # fmt: skip
    assert failure(expectation) is not None
    path = tmp_path / "cases.jsonl"
    path.write_text('{"id": "x"}', encoding="utf-8")
    with pytest.raises(ValueError, match=r"cases\.jsonl:1: not a case"):
        list(load(path))
