from __future__ import annotations

import json
import os
import socket
import subprocess
import sys
import time
from pathlib import Path

import pytest

from penstock.errors import StreamsError
from penstock.runtime.presence import STALE_SECONDS, Presence, owner


def write(folder: Path, *, host: str, pid: int, seen: float) -> None:
    (folder / "running.json").write_text(json.dumps({"host": host, "pid": pid, "started": 0.0, "seen": seen}))


def test_one_program_at_a_time(tmp_path: Path) -> None:
    first, second = Presence(str(tmp_path), "app"), Presence(str(tmp_path), "app")
    first.claim()
    first.claim()
    found = owner(str(tmp_path))
    assert found is not None
    assert (found.pid, found.host) == (os.getpid(), socket.gethostname())
    with pytest.raises(StreamsError) as raised:
        second.claim()
    assert str(raised.value) == (
        f"the application app runs already (process {os.getpid()} on {socket.gethostname()}, checkpoint {tmp_path}). "
        "Stop that one first, or give this one another application.id. One that was killed on another machine counts as "
        "running for 60 seconds."
    )
    second.release()  # nothing of its own to give up
    assert owner(str(tmp_path)) is not None
    first.release()
    assert owner(str(tmp_path)) is None
    second.claim()


def test_a_killed_program_of_this_machine_does_not_count(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    write(tmp_path, host=socket.gethostname(), pid=dead.pid, seen=time.time())
    assert owner(str(tmp_path)) is None


def test_another_machine_counts_until_it_was_not_heard_of_for_long(tmp_path: Path) -> None:
    write(tmp_path, host="elsewhere", pid=1, seen=time.time())
    assert owner(str(tmp_path)) is not None
    write(tmp_path, host="elsewhere", pid=1, seen=time.time() - STALE_SECONDS - 1)
    assert owner(str(tmp_path)) is None


def test_renewing_keeps_it_fresh(tmp_path: Path) -> None:
    presence = Presence(str(tmp_path), "app")
    presence.claim()
    seen = json.loads((tmp_path / "running.json").read_text())["seen"]
    presence.renew()
    assert json.loads((tmp_path / "running.json").read_text())["seen"] >= seen
    presence.release()
    presence.renew()
    assert not (tmp_path / "running.json").exists()


def test_no_checkpoint_no_owner(tmp_path: Path) -> None:
    assert owner(str(tmp_path / "none")) is None
    (tmp_path / "running.json").write_text("{")
    assert owner(str(tmp_path)) is None
