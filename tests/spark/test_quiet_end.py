from __future__ import annotations

import subprocess
import sys
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.spark.quiet_end import stop_quietly


@pytest.mark.parametrize(("error", "said"), [("BrokenPipeError()", ""), ("ValueError('bad')", "ValueError: bad")])
def test_only_a_connection_that_broke_off_is_passed_over(error: str, said: str) -> None:
    program = f"from penstock.spark.quiet_end import end_quietly\nend_quietly()\nraise {error}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().rpartition("\n")[2] == said


def test_the_end_of_the_connection_for_accumulators_is_not_shown() -> None:
    shown: list[tuple[Any, Any]] = []
    server = SimpleNamespace(handle_error=lambda request, address: shown.append((request, address)))
    stop_quietly(SimpleNamespace(_accumulatorServer=server))
    for error in (EOFError(), ValueError("something else")):
        try:
            raise error
        except Exception:  # noqa: BLE001 - as socketserver calls it
            server.handle_error("request", str(error))
    assert shown == [("request", "something else")]
