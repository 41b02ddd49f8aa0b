"""State of a task over batches: replays, moves to other nodes, lost caches, snapshots, keys of any length."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from penstock.errors import ProcessorStateError
from penstock.spark.layout import pass_number
from penstock.state.disk import environments, snapshots, task_state
from penstock.state.disk.environments import discard, environment, write
from penstock.state.disk.segments import SegmentFolder
from penstock.state.disk.task_state import TaskState

Model = dict[bytes, bytes]


def open_state(folder: Path, node: str = "node") -> TaskState:
    return TaskState(folder / node / "0_0", str(folder / "checkpoint" / "0_0"))


def run_batch(state: TaskState, batch: int, changes: dict[bytes, bytes | None], *, commit: bool = True) -> Model:
    """One batch that makes these changes; its content when it ends."""
    state.begin(batch, batch, batch - 1)
    store = state.store("store")
    for key, value in changes.items():
        if value is None:
            store.delete(key)
        else:
            store.put(key, value)
    content = dict(store.range())
    attempt = state.finish(batch, {"clock": batch})
    if commit and attempt is not None:
        state.publish(batch, attempt)
    state.end()
    return content


def test_a_replayed_batch_starts_where_it_started_first(tmp_path: Path) -> None:
    state = open_state(tmp_path)
    run_batch(state, 0, {b"a": b"1"})
    run_batch(state, 1, {b"a": b"2", b"b": b"2"}, commit=False)
    state.forget()
    assert run_batch(state, 1, {b"c": b"3"}) == {b"a": b"1", b"c": b"3"}


def test_a_replay_in_another_process_does_not_see_the_first_attempt(tmp_path: Path) -> None:
    run_batch(open_state(tmp_path), 0, {b"a": b"1"})
    run_batch(open_state(tmp_path), 1, {b"a": b"2"})  # published, but Spark never heard of it
    assert run_batch(open_state(tmp_path), 1, {b"b": b"3"}) == {b"a": b"1", b"b": b"3"}


def test_state_that_is_gone_from_the_checkpoint_is_missed(tmp_path: Path) -> None:
    """It began empty, and threw away what the node still had."""
    run_batch(open_state(tmp_path), 0, {b"a": b"1"})
    run_batch(open_state(tmp_path), 1, {b"b": b"2"})
    run_batch(open_state(tmp_path), 2, {b"c": b"3"})
    shutil.rmtree(tmp_path / "checkpoint" / "0_0")
    with pytest.raises(ProcessorStateError, match=r"the state of 0_0 is gone: \S+0_0 is empty, and was not when"):
        run_batch(open_state(tmp_path), 3, {b"d": b"4"})
    anew = TaskState(tmp_path / "node" / "0_0", str(tmp_path / "checkpoint" / "0_0"), begins_anew=True)
    assert run_batch(anew, 3, {b"d": b"4"}) == {b"d": b"4"}


def test_another_node_catches_up_by_the_segments(tmp_path: Path) -> None:
    first, second = open_state(tmp_path, "first"), open_state(tmp_path, "second")
    run_batch(first, 0, {b"a": b"1"})
    run_batch(second, 1, {b"b": b"2"})
    assert run_batch(first, 2, {}) == {b"a": b"1", b"b": b"2"}
    assert first.metadata == {"clock": 2}


def test_a_lost_cache_is_built_anew(tmp_path: Path) -> None:
    state = open_state(tmp_path)
    for batch in range(3):
        run_batch(state, batch, {str(batch).encode(): b"x"})
    discard(tmp_path / "node" / "0_0")
    assert run_batch(open_state(tmp_path), 3, {}) == {b"0": b"x", b"1": b"x", b"2": b"x"}


def test_a_cache_ahead_of_the_checkpoint_is_thrown_away(tmp_path: Path) -> None:
    state = open_state(tmp_path)
    for batch in range(3):
        run_batch(state, batch, {str(batch).encode(): b"x"})
    run_batch(state, 3, {b"3": b"x"})
    folder = tmp_path / "checkpoint" / "0_0"
    for name in sorted(folder.iterdir())[1:]:  # a backup from after batch 0 was put back
        name.unlink()
    assert run_batch(open_state(tmp_path), 1, {}) == {b"0": b"x"}


def test_a_disk_that_fails_is_named_and_the_batch_can_be_done_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    state = open_state(tmp_path)
    run_batch(state, 0, {b"a": b"1"})

    def full(*_: object) -> None:
        raise OSError("No space left on device")

    with monkeypatch.context() as patch:
        patch.setattr(SegmentFolder, "write", full)
        with pytest.raises(
            ProcessorStateError, match="the state of task 0_0 cannot be written: OSError: No space left"
        ) as caught:
            run_batch(state, 1, {b"b": b"1"})
    assert str(tmp_path / "checkpoint") in str(caught.value)
    state.forget()
    assert run_batch(state, 1, {b"b": b"2"}) == {b"a": b"1", b"b": b"2"}


def test_a_missing_segment_is_an_error_and_never_skipped(tmp_path: Path) -> None:
    for batch in range(3):
        run_batch(open_state(tmp_path), batch, {str(batch).encode(): b"x"})
    discard(tmp_path / "node" / "0_0")
    sorted((tmp_path / "checkpoint" / "0_0").iterdir())[1].unlink()
    with pytest.raises(
        ProcessorStateError, match="segment 2 follows 1, but the state is at 0: a segment file is missing"
    ):
        open_state(tmp_path).begin(3, 3, 2)


def test_snapshots_replace_old_segments_and_restore_the_state(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_SEGMENTS", 3)
    state = open_state(tmp_path)
    expected = {}
    for batch in range(8):
        key = str(batch).encode()
        expected[key] = b"x"
        run_batch(state, batch, {key: b"x"})
        state._snapshots.join()
    segments, [taken] = SegmentFolder(str(tmp_path / "checkpoint" / "0_0")).sequences()
    assert min(segments) > taken
    discard(tmp_path / "node" / "0_0")
    assert run_batch(open_state(tmp_path), 8, {}) == expected


@pytest.mark.parametrize("segments_behind", [0, 2])
def test_a_snapshot_is_restored_after_the_machine_started_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, segments_behind: int
) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_SEGMENTS", 3)
    state = open_state(tmp_path)
    expected: Model = {}
    for batch in range(4 + segments_behind):
        changes: dict[bytes, bytes | None] = {} if batch == 3 else {b"%d" % batch: b"x"}
        expected |= {key: value for key, value in changes.items() if value is not None}
        run_batch(state, batch, changes)
        state._snapshots.join()
    assert SegmentFolder(str(tmp_path / "checkpoint" / "0_0")).sequences()[1] == [2]
    for module in (environments, task_state):
        monkeypatch.setattr(module, "boot_id", lambda: b"the next start")
    discard(tmp_path / "node" / "0_0")
    assert run_batch(open_state(tmp_path), 4 + segments_behind, {}) == expected
    # Once restored it is a cache like any other.
    environments._open.pop(str(tmp_path / "node" / "0_0")).close()
    assert run_batch(open_state(tmp_path), 5 + segments_behind, {}) == expected


def test_half_a_snapshot_is_fetched_again(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_SEGMENTS", 3)
    state, expected = open_state(tmp_path), {}
    for batch in range(4):
        expected[b"%d" % batch] = b"x" * 5000
        run_batch(state, batch, {b"%d" % batch: b"x" * 5000})
        state._snapshots.join()
    local = tmp_path / "node" / "0_0"
    discard(local)
    fetch = SegmentFolder.fetch_snapshot

    def dying(folder: SegmentFolder, sequence: int, target: str) -> int:
        fetch(folder, sequence, target)
        Path(target).write_bytes(Path(target).read_bytes()[:9000])
        raise Killed

    with monkeypatch.context() as patch:
        patch.setattr(SegmentFolder, "fetch_snapshot", dying)
        with pytest.raises(Killed):
            open_state(tmp_path).begin(4, 4, 3)
    assert run_batch(open_state(tmp_path), 4, {}) == expected


class Killed(BaseException):
    """Stands for the end of the process."""


def half_written(folder: Path, monkeypatch: pytest.MonkeyPatch) -> Model:
    """Two batches of many rows; the process dies while it brings the second one to LMDB. The state after both."""
    monkeypatch.setattr(task_state, "TRANSACTION_ROWS", 10)
    state, expected = open_state(folder), {b"%02d" % n: b"new" for n in range(35)}
    run_batch(state, 0, dict.fromkeys(expected, b"old"))
    run_batch(state, 1, {**expected, b"07": None})
    transactions: list[Any] = []

    def dying(env: Any, work: Any) -> None:
        if len(transactions) == 2:
            raise Killed
        transactions.append(work)
        write(env, work)

    with monkeypatch.context() as patch:
        patch.setattr(task_state, "write", dying)
        with pytest.raises(Killed):
            state.begin(2, 2, 1)
    del expected[b"07"]
    return expected


def test_many_rows_go_to_the_cache_in_parts_and_again_after_a_kill(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = half_written(tmp_path, monkeypatch)
    assert run_batch(open_state(tmp_path), 2, {}) == expected


def test_a_cache_with_half_a_segment_that_is_gone_is_thrown_away(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    expected = half_written(tmp_path, monkeypatch)
    sorted((tmp_path / "checkpoint" / "0_0").iterdir())[1].unlink()  # a backup from after batch 0 was put back
    assert run_batch(open_state(tmp_path), 1, {}) == dict.fromkeys([*expected, b"07"], b"old")


def test_a_snapshot_has_no_half_segment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    half_written(tmp_path, monkeypatch)
    state = open_state(tmp_path)
    state._snapshots.take(environment(tmp_path / "node" / "0_0"), 0)
    assert SegmentFolder(str(tmp_path / "checkpoint" / "0_0")).sequences()[1] == []
    run_batch(state, 2, {})
    state._snapshots.take(environment(tmp_path / "node" / "0_0"), 1)
    assert SegmentFolder(str(tmp_path / "checkpoint" / "0_0")).sequences()[1] == [1]


def test_a_second_pass_sees_the_first_one_of_its_batch(tmp_path: Path) -> None:
    state = open_state(tmp_path)
    state.begin(0, 0, -1)
    state.store("store").put(b"a", b"1")
    attempt = state.finish(0, {})
    assert attempt is not None
    state.publish(0, attempt)
    state.end()
    other = open_state(tmp_path, "other")
    other.begin(0, 1, -1)
    assert dict(other.store("store").range()) == {b"a": b"1"}
    other.store("store").put(b"b", b"2")
    attempt = other.finish(1, {})
    assert attempt is not None
    other.publish(1, attempt)
    other.end()
    state.begin(2, 2, 1)
    assert dict(state.store("store").range()) == {b"a": b"1", b"b": b"2"}
    state.end()


def test_the_state_is_found_though_a_batch_has_fewer_passes_than_before(tmp_path: Path) -> None:
    state = open_state(tmp_path)
    for batch in range(3):
        for index in range(2):
            at = pass_number(batch, index)
            state.begin(pass_number(batch, 0), at, pass_number(batch - 1, 1))
            state.store("store").put(b"k", f"{batch}.{index}".encode())
            attempt = state.finish(at, {})
            assert attempt is not None
            state.publish(at, attempt)
            state.end()
    after = open_state(tmp_path, "other")
    after.begin(pass_number(3, 0), pass_number(3, 0), pass_number(2, 0))
    assert after.store("store").get(b"k") == b"2.1"
    after.end()


def two_passes(state: TaskState, batch: int, *, second: bool) -> list[bool]:
    """A batch of two passes, the second one with changes or without; whether each went on with what was in memory."""
    continued = []
    for index in range(2):
        at = pass_number(batch, index)
        continued.append(state.begin(pass_number(batch, 0), at, pass_number(batch - 1, 1)))
        if index == 1:
            assert state.store("store").get(b"%d.0" % batch) == b"x"
        if index == 0 or second:
            state.store("store").put(b"%d.%d" % (batch, index), b"x")
        attempt = state.finish(at, {"clock": batch})
        if attempt is not None:
            state.publish(at, attempt)
        state.end()
    state._snapshots.join()
    return continued


@pytest.mark.parametrize("second", [True, False])
def test_two_passes_go_on_in_memory_and_leave_no_heap_of_segments(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, second: bool
) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_SEGMENTS", 3)
    state = open_state(tmp_path)
    found = [two_passes(state, batch, second=second) for batch in range(20)]
    assert found == [[False, True], *([True, True] for _ in range(19))]
    assert len(list((tmp_path / "checkpoint" / "0_0").iterdir())) < 12
    discard(tmp_path / "node" / "0_0")
    after = open_state(tmp_path)
    after.begin(pass_number(20, 0), pass_number(20, 0), pass_number(19, 1))
    assert len(after.store("store")) == (40 if second else 20)
    after.end()


def test_a_pass_that_is_done_again_starts_where_it_did_first(tmp_path: Path) -> None:
    state = open_state(tmp_path)
    two_passes(state, 0, second=True)
    assert not state.begin(0, 1, pass_number(-1, 1))
    assert dict(state.store("store").range()) == {b"0.0": b"x"}
    state.end()


def test_processes_of_one_batch_each_take_snapshots(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(snapshots, "SNAPSHOT_SEGMENTS", 3)
    expected = {}
    for batch in range(20):
        state = open_state(tmp_path)
        expected[b"%d" % batch] = b"x"
        assert run_batch(state, batch, {b"%d" % batch: b"x"}) == expected
        state._snapshots.join()
    assert len(list((tmp_path / "checkpoint" / "0_0").iterdir())) < 8


def test_a_killed_reader_keeps_no_pages(tmp_path: Path) -> None:
    state = open_state(tmp_path)
    keys = [b"%d" % n for n in range(500)]

    def pages(batches: range) -> int:
        for batch in batches:
            run_batch(state, batch, {key: os.urandom(50) for key in keys})
        return int(environment(tmp_path / "node" / "0_0").info()["last_pgno"])

    pages(range(5))
    code = "import lmdb, os, sys; env = lmdb.open(sys.argv[1], max_dbs=9); txn = env.begin(); os.kill(os.getpid(), 9)"
    subprocess.run([sys.executable, "-c", code, str(tmp_path / "node" / "0_0")], check=False)
    before = pages(range(5, 10))
    assert pages(range(10, 40)) <= before + 20


keys = st.one_of(
    st.binary(max_size=4),
    st.builds(lambda head, tail: head * 490 + tail, st.sampled_from([b"p", b"q", bytes(1)]), st.binary(max_size=3)),
)


@settings(max_examples=30, deadline=None, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(
    st.lists(st.dictionaries(keys, st.one_of(st.none(), st.binary(max_size=3)), max_size=8), min_size=1, max_size=6),
    keys,
    keys,
)
def test_content_and_ranges_equal_a_dict(
    tmp_path_factory: pytest.TempPathFactory, batches: list[dict[bytes, bytes | None]], one: bytes, other: bytes
) -> None:
    folder = tmp_path_factory.mktemp("state")
    lower, upper = min(one, other), max(one, other)
    model: Model = {}
    for batch, changes in enumerate(batches):
        for key, value in changes.items():
            if value is None:
                model.pop(key, None)
            else:
                model[key] = value
        state = open_state(folder, f"node{batch % 2}")
        assert run_batch(state, batch, changes) == model
        state.begin(batch + 1, batch + 1, batch)
        store = state.store("store")
        inside = [(k, model[k]) for k in sorted(model) if lower <= k < upper]
        assert list(store.range(lower, upper)) == inside
        assert list(store.range(lower, upper, reverse=True)) == inside[::-1]
        assert list(store.range(lower, limit=2)) == [(k, model[k]) for k in sorted(model) if k >= lower][:2]
        assert len(store) == len(model)
        assert all(store.get(k) == model.get(k) for k in [*model, lower])
        state.end()
