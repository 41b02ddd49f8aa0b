"""The examples with databases, each by its one command."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
pytestmark = [pytest.mark.spark, pytest.mark.broker, pytest.mark.database, pytest.mark.slow]


def run(example: str) -> tuple[list[str], list[list[str]]]:
    """The steps an example printed, and the cells of its last table."""
    command = [sys.executable, "-m", f"examples.{example}.run"]
    done = subprocess.run(command, cwd=ROOT, capture_output=True, text=True, check=False, timeout=900)
    assert done.returncode == 0, f"{done.stdout[-3000:]}\n{done.stderr[-3000:]}"
    lines = done.stdout.splitlines()
    steps = [line.partition(" s  ")[2] for line in lines if re.match(r" *[\d.]+ s  ", line)]
    rows = [[cell.strip() for cell in line.strip("│").split("│")] for line in lines if line.startswith("│")]
    return steps, rows


def test_mariadb_to_parquet() -> None:
    steps, rows = run("mariadb_parquet")
    assert rows == [  # all rows, in four files
        ["Heron", "667", "46373", "11593.25"],
        ["Otter", "667", "46340", "11585.00"],
        ["Pike", "666", "46287", "11571.75"],
    ]
    assert steps[-1] == "the same as in MariaDB"


def test_postgres_to_a_join_to_postgres() -> None:
    steps, rows = run("postgres_join")
    assert rows[-6:] == [
        ["1", "Ann", "kettle", "1"],
        ["2", "Bo", "rope", "20"],
        ["3", "Ann", "tent", "2"],
        ["4", "Bob", "hook", "5"],
        ["5", "Dee", "map", "1"],
        ["6", "None", "lamp", "1"],
    ]
    assert steps[-1] == "stopping"


@pytest.mark.parametrize("target", ["example-mariadb-parquet", "example-postgres-join"])
def test_there_is_a_command_for_each(target: str) -> None:
    shown = subprocess.run(["make", "-n", target], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    assert f"-m examples.{target.removeprefix('example-').replace('-', '_')}.run" in shown
