"""Local state that moved away is removed; what is used never is."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.state.disk import environments
from penstock.state.disk.cleanup import LocalCleanup
from penstock.state.disk.environments import discard
from penstock.state.disk.task_state import TaskState

DELAY_MS = 600_000
START = 1_000_000.0
HERE, EARLIER = "app-0123456789ab", "app-ba9876543210"


class Clock:
    now = START

    def __call__(self) -> float:
        return self.now


@pytest.fixture
def clock() -> Clock:
    return Clock()


def task(root: Path, name: str, *, used: float = START) -> Path:
    folder = root / name
    folder.mkdir(parents=True)
    for path in (folder / "data.mdb", folder):
        if path != folder:
            path.write_bytes(b"rows")
        os.utime(path, (used, used))
    return folder


@pytest.fixture
def cleanup(tmp_path: Path, clock: Clock) -> LocalCleanup:
    """Of a process that hosts the tasks 0_0, which has state, and 0_1, which has none yet."""
    made = LocalCleanup(clock)
    task(tmp_path, f"{HERE}/0_0", used=0)
    made.uses([tmp_path / HERE / "0_0", tmp_path / HERE / "0_1"])
    return made


def test_what_nobody_used_for_the_delay_is_removed(cleanup: LocalCleanup, clock: Clock, tmp_path: Path) -> None:
    moved, earlier = task(tmp_path, f"{HERE}/1_0", used=0), task(tmp_path, f"{EARLIER}/0_0", used=0)
    scratch = task(tmp_path, f"{HERE}/1_0.snapshot", used=0)
    left = task(tmp_path, f"{HERE}/2_0.removed", used=0)  # somebody died while removing it
    fresh = task(tmp_path, f"{HERE}/1_1", used=START)
    others = [task(tmp_path, name, used=0) for name in ("app-two-0123456789ab/0_0", "app-x/0_0", f"{HERE}/notes")]
    assert cleanup.look(DELAY_MS) == []  # others may not have said yet what they use
    clock.now += 599
    assert cleanup.look(DELAY_MS) == []
    clock.now += 1
    assert set(cleanup.look(DELAY_MS)) == {moved, earlier, left}
    assert not any(folder.exists() for folder in (moved, earlier, scratch, left))
    assert all(folder.exists() for folder in (fresh, *others, tmp_path / HERE / "0_0"))
    clock.now += 600
    assert cleanup.look(DELAY_MS) == []  # it was used when the first look was
    clock.now += 600
    assert cleanup.look(DELAY_MS) == [fresh]


def test_tasks_of_other_processes_of_the_node_stay_even_if_they_have_nothing_to_do(
    cleanup: LocalCleanup, clock: Clock, tmp_path: Path
) -> None:
    idle = task(tmp_path, f"{HERE}/0_2", used=0)
    other = LocalCleanup(clock)
    other.uses([idle])
    for _ in range(5):
        assert cleanup.look(DELAY_MS) == []
        other.look(DELAY_MS)
        clock.now += 600
    assert idle.exists()


def test_what_is_written_to_stays(cleanup: LocalCleanup, clock: Clock, tmp_path: Path) -> None:
    busy = task(tmp_path, f"{HERE}/0_2", used=0)
    for _ in range(5):
        assert cleanup.look(DELAY_MS) == []
        clock.now += 600
        os.utime(busy / "data.mdb", (clock.now, clock.now))
    assert busy.exists()


@pytest.fixture
def reader(tmp_path: Path) -> Iterator[subprocess.Popen[bytes]]:
    """Another process that has the state of task 0_2 open."""
    folder = tmp_path / HERE / "0_2"
    program = (
        "import sys; from pathlib import Path; from penstock.state.disk.environments import environment\n"
        f"env = environment(Path({str(folder)!r})); print('open', flush=True); sys.stdin.read(1)"
    )
    process = subprocess.Popen([sys.executable, "-c", program], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert process.stdout is not None
    assert process.stdout.readline() == b"open\n"
    for path in (*folder.iterdir(), folder):
        os.utime(path, (0, 0))
    yield process
    process.kill()
    process.communicate()


def test_what_another_process_has_open_stays(
    cleanup: LocalCleanup, clock: Clock, tmp_path: Path, reader: subprocess.Popen[bytes]
) -> None:
    cleanup.look(DELAY_MS)
    clock.now += 600
    assert cleanup.look(DELAY_MS) == []
    reader.communicate(b"x")
    clock.now += 600
    assert cleanup.look(DELAY_MS) == [tmp_path / HERE / "0_2"]


def test_a_task_that_comes_back_finds_its_state_in_the_checkpoint(
    cleanup: LocalCleanup, clock: Clock, tmp_path: Path
) -> None:
    local, checkpoint = tmp_path / HERE / "0_2", str(tmp_path / "checkpoint")
    state = TaskState(local, checkpoint)
    for batch in range(2):
        state.begin(batch, batch, batch - 1)
        state.store("counts").put(b"ann", str(batch).encode())
        attempt = state.finish(batch, {})
        assert attempt is not None
        state.publish(batch, attempt)
        state.end()
    environments._open.pop(str(local)).close()  # as its process ends
    for path in (*local.iterdir(), local):
        os.utime(path, (0, 0))
    cleanup.look(DELAY_MS)
    clock.now += 600
    assert cleanup.look(DELAY_MS) == [local]
    again = TaskState(local, checkpoint)
    again.begin(2, 2, 1)
    assert again.store("counts").get(b"ann") == b"1"
    again.end()
    discard(local)
