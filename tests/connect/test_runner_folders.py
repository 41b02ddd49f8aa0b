from __future__ import annotations

from pathlib import Path

import pytest

from penstock.connect.runner import ConnectorRunner


@pytest.mark.parametrize("name", [".", "..", "../orders", "/", "orders/.."])
def test_a_name_never_reaches_the_folders_of_others(name: str, tmp_path: Path) -> None:
    runner = ConnectorRunner({"bootstrap.servers": "none:1"}, state_dir=tmp_path / "state")
    other = tmp_path / "state" / "connectors" / "orders" / "source.json"
    other.parent.mkdir(parents=True)
    other.write_text("{}")
    runner.forget(name, offsets=True)
    assert other.read_text() == "{}"
    assert runner.offsets(name, {"connector.class": "FileStreamSource"}) == []
