"""Processes beside Spark's workers end with whom they serve."""

from __future__ import annotations

import os
import subprocess
import sys
import time
from pathlib import Path

from penstock.spark.resident import sweep

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


def test_what_killed_drivers_left_behind_is_swept_up(tmp_path: Path) -> None:
    def folder(name: str, *files: str, hours: float = 2) -> Path:
        made = tmp_path / name
        made.mkdir()
        old = time.time() - hours * 3600
        for path in [*(made / file for file in files), made]:
            path.touch()
            os.utime(path, (old, old))
        return made

    own = folder("penstock-0123456789ab", "0.lock")
    left = folder("penstock-aaaaaaaaaaaa", "0.lock", "1.lock")
    young = folder("penstock-bbbbbbbbbbbb", "0.lock", hours=0.1)
    listening = folder("penstock-cccccccccccc", "0.lock", "0.sock")
    others = folder("penstock-connect-aaaaaaaaaaaa", "0.lock")
    sweep(own)
    assert not left.exists()
    assert all(stays.exists() for stays in (own, young, listening, others))
