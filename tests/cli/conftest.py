from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import NamedTuple

import pytest

from penstock.broker import LocalBroker

PENSTOCK = Path(sys.executable).parent / "penstock"


class Done(NamedTuple):
    code: int
    out: str
    err: str


Penstock = Callable[..., Done]


@pytest.fixture
def environment(broker: LocalBroker) -> dict[str, str]:
    return {**os.environ, "PENSTOCK_BOOTSTRAP_SERVERS": broker.bootstrap_servers}


@pytest.fixture
def penstock(environment: dict[str, str]) -> Penstock:
    """`penstock("topics", "list", stdin="...")` runs the command as a user does, against the test broker."""

    def run(*arguments: object, stdin: str = "") -> Done:
        done = subprocess.run(
            [PENSTOCK, *map(str, arguments)], input=stdin, capture_output=True, text=True, env=environment, check=False
        )
        return Done(done.returncode, done.stdout, done.stderr)

    return run
