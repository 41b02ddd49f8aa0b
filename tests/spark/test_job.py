from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from penstock import StreamsBuilder
from tests.spark.fake_kafka import make_job


def test_local_state_belongs_to_one_checkpoint_and_one_life_of_it(tmp_path: Path) -> None:
    builder = StreamsBuilder()
    builder.stream("in").to("out")
    job = make_job(builder, {"in": 1}, tmp_path)
    others = [replace(job, history="after a reset"), replace(job, checkpoint=str(tmp_path / "other"))]
    assert len({one.local_folder("0_0") for one in (job, *others)}) == 3
    assert replace(job, run="another").local_folder("0_0") == job.local_folder("0_0")
