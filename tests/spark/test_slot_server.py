from __future__ import annotations

import os
import time
from dataclasses import replace
from pathlib import Path

import pytest

from penstock import StreamsBuilder
from penstock.spark.tasks import server
from penstock.spark.tasks.slot import SlotPlan
from tests.spark.fake_kafka import make_job


def test_state_of_tasks_that_moved_away_is_removed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    builder = StreamsBuilder()
    builder.stream("in").to("out")
    made = make_job(builder, {"in": 2}, tmp_path / "checkpoint", state_cleanup_delay_ms=1)
    job = replace(made, local=str(tmp_path / "local"))
    here, away = job.local_folder("0_0"), job.local_folder("0_1")
    for folder in (here, away):
        folder.mkdir(parents=True)
        os.utime(folder, (1, 1))
    monkeypatch.setattr(server, "decode", lambda text: job)
    monkeypatch.setattr(server, "run_slot", lambda job, plan, rows, again: iter(()))
    slot = server.SlotServer()
    for batch in range(2):
        slot.answer("", SlotPlan(batch, 0, 0, 0, ((0, 0, ()),)), [], again=False)
        slot.rest()
        time.sleep(0.01)
    assert here.exists()
    assert not away.exists()
