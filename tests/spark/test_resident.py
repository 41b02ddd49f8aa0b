"""Processes beside Spark's workers end with whom they serve."""

from __future__ import annotations

import subprocess
import sys

BUSY = """
import sys, threading, penstock.spark.resident as resident
resident._FAREWELL_SECONDS = 0.1
resident.end_with(int(sys.argv[1]), 0.1)
print("waiting", flush=True)
threading.Event().wait(60)
"""


def test_a_process_ends_with_its_parent_also_while_it_waits() -> None:
    with subprocess.Popen(["sleep", "60"]) as parent:
        busy = subprocess.Popen([sys.executable, "-c", BUSY, str(parent.pid)], stdout=subprocess.PIPE)
        try:
            assert busy.stdout is not None
            assert busy.stdout.readline() == b"waiting\n"
            assert busy.poll() is None
            parent.kill()
            parent.wait()
            assert busy.wait(30) == 1
        finally:
            busy.kill()
            busy.communicate()
