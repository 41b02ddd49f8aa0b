"""Attempts of passes that overtake each other: in other processes, on other nodes, and by snapshots."""

from __future__ import annotations

import logging
import threading
import time
from pathlib import Path

import pytest

from penstock.errors import ProcessorStateError
from penstock.spark.layout import pass_number
from penstock.state.disk import snapshots
from penstock.state.disk.environments import environment, write
from penstock.state.disk.segments import SegmentFolder
from penstock.state.disk.task_state import TaskState
from tests.state.disk.test_task_state import Model, open_state, run_batch


@pytest.fixture(autouse=True)
def _snapshot_each_time(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_SEGMENTS", 1)


def run(
    state: TaskState, batch: int, changes: dict[bytes, bytes | None], metadata: dict[str, int] | None = None
) -> Model:
    """As `run_batch`, with metadata that need not change."""
    state.begin(batch, batch, batch - 1)
    seen = dict(state.store("store").range())
    for key, value in changes.items():
        if value is not None:
            state.store("store").put(key, value)
    attempt = state.finish(batch, metadata or {})
    if attempt is not None:
        state.publish(batch, attempt)
    state.end()
    state._snapshots.join()
    return seen


def test_what_another_process_did_is_seen_though_it_is_in_a_snapshot_by_now(tmp_path: Path) -> None:
    one, other = open_state(tmp_path, "one"), open_state(tmp_path, "other")
    run(one, 0, {b"a": b"0"})
    run(other, 1, {b"a": b"1"})
    run(other, 2, {})
    assert run(one, 3, {b"b": b"3"}) == {b"a": b"1"}
    assert run(open_state(tmp_path, "third"), 4, {}) == {b"a": b"1", b"b": b"3"}


def run_pass(state: TaskState, batch: int, index: int, changes: dict[bytes, bytes]) -> Model:
    """One of the three passes of a batch, which foreign-key joins have; what it sees at its start."""
    sequence = pass_number(batch, index)
    state.begin(pass_number(batch, 0), sequence, pass_number(batch - 1, 2))
    seen = dict(state.store("store").range())
    for key, value in changes.items():
        state.store("store").put(key, value)
    attempt = state.finish(sequence, {})
    if attempt is not None:
        state.publish(sequence, attempt)
    state.end()
    return seen


def test_the_last_pass_sees_what_another_process_did_in_the_first(tmp_path: Path) -> None:
    one, other = open_state(tmp_path, "one"), open_state(tmp_path, "other")
    run_pass(one, 0, 0, {b"a": b"0"})
    run_pass(one, 1, 0, {b"b": b"1"})
    assert run_pass(other, 1, 1, {b"c": b"1"}) == {b"a": b"0", b"b": b"1"}
    assert run_pass(other, 1, 2, {}) == {b"a": b"0", b"b": b"1", b"c": b"1"}


def test_a_pass_notices_that_a_late_attempt_took_local_state_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_SEGMENTS", 1000)
    state = open_state(tmp_path)
    for batch in range(3):
        run_pass(state, batch, 0, {b"%d" % batch: b"x"})
    run_pass(state, 3, 0, {b"3": b"x"})
    late = open_state(tmp_path)
    late.begin(pass_number(1, 0), pass_number(1, 0), pass_number(0, 2))
    late.end()
    assert set(run_pass(state, 3, 1, {})) == {b"0", b"1", b"2", b"3"}


def test_a_listing_never_misses_both_a_snapshot_and_what_is_in_it(tmp_path: Path) -> None:
    folder = SegmentFolder(str(tmp_path))
    (tmp_path / "source").write_bytes(b"")

    def go_on() -> None:
        for sequence in range(400):
            folder.publish(sequence, folder.write(sequence, sequence - 1, {}, {})[0])
            folder.store_snapshot(sequence, str(tmp_path / "source"))
            folder.remove_before(sequence)
            time.sleep(0.0005)

    folder.publish(0, folder.write(0, -1, {}, {})[0])
    writer = threading.Thread(target=go_on)
    writer.start()
    while writer.is_alive():
        assert any(folder.listing(certain=True))
    writer.join()


def test_a_process_that_is_late_does_not_begin_from_nothing(tmp_path: Path) -> None:
    one, other = open_state(tmp_path, "one"), open_state(tmp_path, "other")
    run(one, 0, {b"a": b"0"})
    run(one, 1, {b"b": b"1"})
    run(other, 2, {b"c": b"2"})
    run(other, 3, {b"d": b"3"})
    with pytest.raises(ProcessorStateError, match="the state of 0_0 before pass 2 is gone: the oldest snapshot is 2"):
        open_state(tmp_path, "late").begin(2, 2, 1)


def test_an_attempt_without_changes_takes_the_place_of_one_that_had_some(tmp_path: Path) -> None:
    run(open_state(tmp_path, "one"), 0, {b"a": b"0"})
    run(open_state(tmp_path, "one"), 1, {b"a": b"1"})  # a punctuator by the wall clock; then the process died
    other = open_state(tmp_path, "other")
    assert run(other, 1, {}) == {b"a": b"0"}
    run(other, 2, {b"b": b"2"})
    assert run(open_state(tmp_path, "third"), 3, {}) == {b"a": b"0", b"b": b"2"}


def test_a_segment_of_an_attempt_that_others_do_not_know_of_is_no_lost_file(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_SEGMENTS", 1000)
    one = open_state(tmp_path, "one")
    run(one, 0, {b"a": b"0"})
    run(one, 1, {})
    run(open_state(tmp_path, "other"), 1, {b"x": b"1"})
    run(one, 2, {b"b": b"2"})
    with caplog.at_level(logging.WARNING):
        assert run(open_state(tmp_path, "third"), 3, {}) == {b"a": b"0", b"x": b"1", b"b": b"2"}
    assert "segment 2 does not know of 1" in caplog.text


def test_a_transaction_that_was_left_open_harms_nobody(tmp_path: Path) -> None:
    run(open_state(tmp_path), 0, {b"a": b"0"})
    state = open_state(tmp_path)
    for batch in range(1, 4):
        state.begin(batch, batch, batch - 1)
        state.store("store").put(b"%d" % batch, b"x")
        attempt = state.finish(batch, {})
        assert attempt is not None
        state.publish(batch, attempt)  # and no `end`: a task beside it failed
    assert set(run(state, 4, {})) == {b"a", b"1", b"2", b"3"}


def test_metadata_that_is_gone_does_not_come_back(tmp_path: Path) -> None:
    state = open_state(tmp_path)
    run(state, 0, {b"a": b"0"}, {"pwall": 5, "s": 1})
    run(state, 1, {}, {"s": 2})
    run(state, 2, {b"a": b"1"}, {"s": 3})
    after = open_state(tmp_path, "other")
    after.begin(3, 3, 2)
    assert after.metadata == state.metadata == {"s": 3}
    after.end()


def test_local_state_that_another_process_changes_is_noticed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    state = open_state(tmp_path)
    run_batch(state, 0, {b"a": b"0"})
    run_batch(state, 1, {b"a": b"1"})
    local = tmp_path / "node" / "0_0"
    take_if_due = snapshots.Snapshots.take_if_due

    def meanwhile(self: snapshots.Snapshots, version: int) -> None:
        take_if_due(self, version)
        env = environment(local)
        write(env, lambda txn: txn.put(b"version", b"0", db=env.open_db(b"penstock", txn=txn)))

    with monkeypatch.context() as patch:
        patch.setattr(snapshots.Snapshots, "take_if_due", meanwhile)
        with pytest.raises(ProcessorStateError, match="went from 1 to 0: another process has this task, too"):
            state.begin(2, 2, 1)
    state.forget()
    state._snapshots.join()
