"""Random schedules of a task: processes on two nodes that die, fail, repeat passes and come late, held to a dict."""

from __future__ import annotations

import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import pytest

from penstock.errors import ProcessorStateError
from penstock.spark.layout import pass_number
from penstock.state.disk import snapshots, task_state
from penstock.state.disk.environments import discard
from penstock.state.disk.task_state import TaskState

BATCHES, PASSES = 20, 3
KEYS = (b"", b"a", b"b", b"c", b"k" * 500)
SCHEDULES = 15
DIES, FAILS, IS_LATE, ANSWER_LOST, NOTHING_TO_DO, NODE_LOST = 0.03, 0.03, 0.03, 0.05, 0.25, 0.05
Attempt = Iterator[None]


@dataclass(eq=False)
class Process:
    """A slot's process with the task."""

    state: TaskState
    node: str
    late: bool = False


class Schedule:
    """One task over some batches, with whatever happens to it."""

    def __init__(self, folder: Path, seed: int, *, exactly_once: bool) -> None:
        self._folder = folder
        self._seed = seed
        self._chance = random.Random(seed)
        self._exactly_once = exactly_once
        self._processes: list[Process] = []
        self._late: list[tuple[Process, Attempt]] = []
        self._committed = (-1, "")
        self._current = -1
        self._done = False  # the attempt that was driven last
        self.content: dict[bytes, bytes] = {}

    def run(self) -> None:
        for batch in range(BATCHES):
            for index in range(PASSES):
                if self._chance.random() > NOTHING_TO_DO:
                    self._pass(batch, index)
            if self._chance.random() < NODE_LOST:
                self._lose("second")
        assert self._seen(self._new("third").state, BATCHES) == self.content
        for process in self._processes:
            process.state.forget()
            process.state._snapshots.join()

    def _seen(self, state: TaskState, batch: int) -> dict[bytes, bytes]:
        at = pass_number(batch, 0)
        state.begin(at, at, pass_number(batch - 1, PASSES - 1))
        return dict(state.store("store").range())

    def _new(self, node: str) -> Process:
        process = Process(TaskState(self._folder / node / "0_0", str(self._folder / "checkpoint" / "0_0")), node)
        self._processes.append(process)
        return process

    def _choose(self) -> Process:
        free = [process for process in self._processes if not process.late]
        if free and (len(self._processes) == 4 or self._chance.random() < 0.75):
            return self._chance.choice(free)
        return self._new(self._chance.choice(["first", "first", "second"]))

    def _kill(self, process: Process) -> None:
        process.state.end()
        self._processes.remove(process)
        self._late = [(who, attempt) for who, attempt in self._late if who is not process]

    def _lose(self, node: str) -> None:
        for process in [process for process in self._processes if process.node == node]:
            self._kill(process)
            process.state._snapshots.join()
        discard(self._folder / node / "0_0")

    def _pass(self, batch: int, index: int) -> None:
        self._current = pass_number(batch, index)
        for _ in range(40):
            if self._late and self._chance.random() < 0.5:
                self._drive(*self._late.pop(0))
            process = self._choose()
            self._drive(process, self._attempt(process, batch, index))
            if self._done and self._chance.random() > ANSWER_LOST:
                break
        else:
            pytest.fail(f"pass {self._current} never succeeds")
        self._change(self._current, self.content)

    def _drive(self, process: Process, attempt: Attempt) -> None:
        """Let an attempt go on to its end, or until something happens to it."""
        self._done = False
        try:
            for _ in attempt:
                what = self._chance.random()
                if what < DIES:
                    self._kill(process)
                    return
                if what < DIES + FAILS:
                    break
                if what < DIES + FAILS + IS_LATE and len(self._late) < 2:
                    process.late = True
                    self._late.append((process, attempt))
                    return
        except ProcessorStateError:
            pass
        if not self._done:
            process.state.forget()
        process.late = False

    def _attempt(self, process: Process, batch: int, index: int) -> Attempt:
        sequence, state, known = pass_number(batch, index), process.state, self._committed
        yield
        if self._exactly_once and known[0] >= sequence:
            if known[0] == sequence and known[1]:
                state.publish(*known)
            state.forget()
            self._done = True
            return
        state.begin(pass_number(batch, 0), sequence, pass_number(batch - 1, PASSES - 1))
        content = dict(state.store("store").range())
        if not process.late and sequence == self._current:
            assert content == self.content, f"pass {sequence}"
        yield
        after = dict(content)
        self._change(sequence, after)
        for key in KEYS:
            if key in after and after[key] != content.get(key):
                state.store("store").put(key, after[key])
            elif key in content and key not in after:
                state.store("store").delete(key)
        attempt = state.finish(sequence, {"clock": sequence // 3})
        yield
        if self._exactly_once:
            if self._committed != known or self._committed[0] >= sequence:
                return  # fenced
            self._committed = (sequence, attempt or "")
        yield
        if attempt is not None:
            state.publish(sequence, attempt)
        state.end()
        self._done = True

    def _change(self, sequence: int, content: dict[bytes, bytes]) -> None:
        """What a pass does, which depends on nothing but its number and what is there."""
        chance = random.Random(f"{self._seed}-{sequence}")
        for _ in range(chance.choice([0, 0, 1, 4])):
            key, other = chance.choice(KEYS), content.get(chance.choice(KEYS), b"")
            if chance.random() < 0.3:
                content.pop(key, None)
            else:
                content[key] = other[-20:] + b"%d " % sequence


@pytest.mark.slow
@pytest.mark.parametrize("exactly_once", [True, False])
def test_whatever_happens_the_state_is_right(
    tmp_path_factory: pytest.TempPathFactory, monkeypatch: pytest.MonkeyPatch, exactly_once: bool
) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_SEGMENTS", 4)
    monkeypatch.setattr(task_state, "TRANSACTION_ROWS", 2)
    for seed in range(SCHEDULES):
        Schedule(tmp_path_factory.mktemp("schedule"), seed, exactly_once=exactly_once).run()
