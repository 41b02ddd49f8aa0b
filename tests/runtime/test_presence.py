from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from penstock.errors import StreamsError
from penstock.runtime import presence as module
from penstock.runtime.presence import STALE_SECONDS, Presence, owner

OLD = STALE_SECONDS + 1


def kept(folder: Path) -> dict[str, Any]:
    return dict(json.loads((folder / "running.json").read_text()))


def write(folder: Path, **fields: Any) -> None:
    owner = {"host": socket.gethostname(), "pid": os.getpid(), "started": 0.0, "seen": time.time(), **fields}
    (folder / "running.json").write_text(json.dumps(owner))


def until(reached: Callable[[], bool]) -> None:
    pause = threading.Event()
    for _ in range(1000):
        if reached():
            return
        pause.wait(0.01)
    raise AssertionError("not reached in ten seconds")


@pytest.fixture
def claimed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Presence]:
    """The claim of this program, renewed often."""
    monkeypatch.setattr(module, "RENEW_SECONDS", 0.01)
    presence = Presence(str(tmp_path), "app")
    presence.claim()
    yield presence
    presence.release()


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
    second.release()


def test_a_killed_program_of_this_machine_does_not_count(tmp_path: Path) -> None:
    dead = subprocess.Popen([sys.executable, "-c", ""])
    dead.wait()
    write(tmp_path, machine=module._machine(), pid=dead.pid)
    assert owner(str(tmp_path)) is None


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process does not tell when it began")
def test_on_this_machine_the_process_decides_however_long_it_was_not_heard_of(
    claimed: Presence, tmp_path: Path
) -> None:
    mine = kept(tmp_path)
    claimed.release()
    write(tmp_path, **{**mine, "seen": time.time() - OLD})  # it was stopped, or its machine slept
    assert owner(str(tmp_path)) is not None
    write(tmp_path, **{**mine, "born": "1"})  # another process that has its number now
    assert owner(str(tmp_path)) is None
    write(tmp_path, **{**mine, "machine": "another container"})  # whose process numbers say nothing here
    assert owner(str(tmp_path)) is not None
    write(tmp_path, **{**mine, "machine": "another container", "seen": time.time() - OLD})
    assert owner(str(tmp_path)) is None


@pytest.mark.skipif(sys.platform != "linux", reason="elsewhere a process does not tell whether it ended")
def test_a_process_that_nobody_waited_for_is_gone(tmp_path: Path) -> None:
    program = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    try:
        write(tmp_path, machine=module._machine(), pid=program.pid, born=module._born(program.pid))
        assert owner(str(tmp_path)) is not None
        program.send_signal(signal.SIGKILL)
        until(lambda: owner(str(tmp_path)) is None)
    finally:
        program.kill()
        program.communicate()


def test_where_nothing_is_known_of_the_process_time_decides(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(module, "_machine", lambda: "")
    write(tmp_path)
    assert owner(str(tmp_path)) is not None
    write(tmp_path, seen=time.time() - OLD)
    assert owner(str(tmp_path)) is None


def test_another_machine_counts_until_it_was_not_heard_of_for_long(tmp_path: Path) -> None:
    write(tmp_path, host="elsewhere", pid=1, seen=time.time())
    assert owner(str(tmp_path)) is not None
    write(tmp_path, host="elsewhere", pid=1, seen=time.time() - STALE_SECONDS - 1)
    assert owner(str(tmp_path)) is None


def test_it_stays_fresh_from_the_claim_to_the_release(claimed: Presence, tmp_path: Path) -> None:
    seen = kept(tmp_path)["seen"]
    until(lambda: kept(tmp_path)["seen"] > seen)  # nobody calls anything: the query may be starting again for minutes
    claimed.release()
    claimed.renew()
    assert not (tmp_path / "running.json").exists()
    until(lambda: not any(thread.name == "app-presence" for thread in threading.enumerate()))


def test_a_renewal_that_fails_is_not_the_last(
    claimed: Presence, tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    def away(_: str) -> Any:
        raise OSError("no route to host")

    with monkeypatch.context() as patch:
        patch.setattr(module, "filesystem", away)
        until(lambda: "app: the claim on the checkpoint could not be renewed: no route to host" in caplog.text)
    seen = kept(tmp_path)["seen"]
    until(lambda: kept(tmp_path)["seen"] > seen)


def test_no_checkpoint_no_owner(tmp_path: Path) -> None:
    assert owner(str(tmp_path / "none")) is None
    (tmp_path / "running.json").write_text("{")
    assert owner(str(tmp_path)) is None


def test_a_checkpoint_that_cannot_be_written_is_said_with_its_setting(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("in the way")
    presence = Presence(str(tmp_path / "file" / "checkpoint"), "app")
    with pytest.raises(StreamsError, match=r"file/checkpoint cannot be written: .*penstock.checkpoint, or state.dir"):
        presence.claim()
    presence.release()  # it was never claimed
