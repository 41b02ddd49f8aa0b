"""The judge of the connectors' rounds says what is wrong, and nothing else."""

from __future__ import annotations

import json
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

from tests.chaos.connectors_outcome import Files, Record, wrong_files, wrong_records

RIGHT: list[Record] = [(1, 0, "a"), (2, 0, None), (1, 2, "a++")]
FINAL = {1: 2, 2: 0}


def test_a_state_between_two_reads_may_be_missing() -> None:
    assert wrong_records(RIGHT, FINAL) == []
    assert wrong_files(list(reversed(RIGHT)), RIGHT) == []


def test_a_record_that_comes_again_is_told() -> None:
    assert "1 records come again in the topic" in wrong_records([*RIGHT, RIGHT[1]], FINAL)[0]
    assert "1 records come again in the topic" in wrong_records([*RIGHT, (1, 1, "a+")], FINAL)[0]


def test_a_row_without_its_last_state_is_told() -> None:
    assert wrong_records(RIGHT[:2], FINAL) == ["1 rows have not their last state in the topic, such as [1]"]
    assert wrong_records(RIGHT, {**FINAL, 3: 0}) == ["1 rows have not their last state in the topic, such as [3]"]
    assert wrong_records(RIGHT, {1: 2}) == ["1 rows have not their last state in the topic, such as [2]"]


def test_files_with_a_record_less_or_more_are_told() -> None:
    assert wrong_files(RIGHT[1:], RIGHT) == ["1 records are missing in the files, such as [(1, 0, 'a')]"]
    assert wrong_files([*RIGHT, RIGHT[1]], RIGHT) == ["1 records are too many in the files, such as [(2, 0, None)]"]


def test_files_of_both_formats_are_read_and_others_left_alone(tmp_path: Path) -> None:
    rows = [{"id": number, "version": version, "note": note} for number, version, note in RIGHT]
    (tmp_path / "partition=0").mkdir()
    (tmp_path / "partition=0" / "a.json").write_text("".join(json.dumps(row) + "\n" for row in rows[:1]))
    (tmp_path / "partition=0" / "a.tmp").write_text("{")
    pq.write_table(pa.Table.from_pylist(rows[1:]), tmp_path / "b.parquet")
    files = Files(tmp_path)
    assert sorted(files.read()) == sorted(RIGHT)
    assert files.count() == 3
