from __future__ import annotations

from pathlib import Path

import pytest

from penstock.state.disk.rebuild import Rebuild
from penstock.state.disk.task_state import TaskState


def test_a_rebuilt_state_is_found_like_any_snapshot(tmp_path: Path) -> None:
    rebuild = Rebuild(tmp_path / "scratch", str(tmp_path / "state"))
    store, other = rebuild.store("a"), rebuild.store("b")
    store.put(b"1", b"one")
    store.put(b"2", b"two")
    other.put(b"x" * 600, b"long")
    rebuild.absorb()
    assert store.changes == {}
    assert store.get(b"1") == b"one", "what is on disk is read from there"
    store.delete(b"1")
    store.put(b"3", b"three")
    rebuild.finish(6, {"sstream time": 5})
    assert not (tmp_path / "scratch").exists()
    assert [file.name for file in (tmp_path / "state").iterdir()] == ["0000000000000006.lmdb"]

    state = TaskState(tmp_path / "local", str(tmp_path / "state"))
    assert state.begin(7, 7, 6) is False
    assert list(state.store("a").range()) == [(b"2", b"two"), (b"3", b"three")]
    assert list(state.store("b").range()) == [(b"x" * 600, b"long")]
    assert state.metadata == {"sstream time": 5}
    state.store("a").put(b"4", b"four")
    attempt = state.finish(7, {})
    assert attempt is not None
    state.publish(7, attempt)
    state.end()
    again = TaskState(tmp_path / "elsewhere", str(tmp_path / "state"))
    again.begin(8, 8, 7)
    assert [key for key, _ in again.store("a").range()] == [b"2", b"3", b"4"]
    again.end()


@pytest.mark.parametrize("absorbed", [True, False])
def test_one_that_was_given_up_leaves_nothing(absorbed: bool, tmp_path: Path) -> None:
    for _ in range(2):
        rebuild = Rebuild(tmp_path / "scratch", str(tmp_path / "state"))
        assert rebuild.store("a").get(b"1") is None
        rebuild.store("a").put(b"1", b"one")
        if absorbed:
            rebuild.absorb()
        rebuild.close()
    assert list((tmp_path / "state").iterdir()) == []
    assert not (tmp_path / "scratch").exists()
