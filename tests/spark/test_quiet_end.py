from __future__ import annotations

import subprocess
import sys

import pytest


@pytest.mark.parametrize(("error", "said"), [("BrokenPipeError()", ""), ("ValueError('bad')", "ValueError: bad")])
def test_only_a_connection_that_broke_off_is_passed_over(error: str, said: str) -> None:
    program = f"from penstock.spark.quiet_end import end_quietly\nend_quietly()\nraise {error}"
    done = subprocess.run([sys.executable, "-c", program], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.strip().rpartition("\n")[2] == said
