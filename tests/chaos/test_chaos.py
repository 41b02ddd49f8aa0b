"""A short round of `make chaos` for each guarantee."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]


@pytest.mark.spark
@pytest.mark.broker
@pytest.mark.slow
@pytest.mark.parametrize(
    ("guarantee", "kinds", "disturbances"),
    [("exactly_once_v2", "slot,step", "2"), ("at_least_once", "slot", "1")],
)
def test_nothing_is_lost(guarantee: str, kinds: str, disturbances: str) -> None:
    command = [
        sys.executable,
        "-m",
        "tests.chaos",
        "--rounds",
        "1",
        "--records",
        "3000",
        "--disturbances",
        disturbances,
    ]
    options = ["--guarantee", guarantee, "--kinds", kinds, "--seed", "3"]
    done = subprocess.run([*command, *options], cwd=ROOT, capture_output=True, text=True, timeout=1000, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
    assert "1 passed, 0 failed" in done.stdout
    assert "right" in done.stdout
