"""The host of an application without Spark: planner, slots and Spark's log of batches, in this process."""

from __future__ import annotations

import json
import shutil
import uuid
from dataclasses import replace
from pathlib import Path
from typing import Any

from penstock import StreamsBuilder, Topology
from penstock.kafka.admin import Admin
from penstock.runtime.launch import make_job
from penstock.runtime.settings import Settings
from penstock.spark.job import Job
from penstock.spark.offsets import Offsets
from penstock.spark.planner import Planner
from penstock.spark.query_log import last_done, last_planned
from penstock.spark.samples import Samples
from penstock.spark.tasks.slot import run_slot


class InProcess:
    """Runs batches one by one. A new object over the same folder is a restart."""

    def __init__(self, topology: Topology | StreamsBuilder, folder: Path, **settings: Any) -> None:
        given = Settings({"state.dir": str(folder / "local")}, **settings)
        self.folder = folder
        self.checkpoint = folder / "checkpoint"
        built = topology if isinstance(topology, Topology) else topology.build(given)
        self.job: Job = make_job(built, given, checkpoint=str(self.checkpoint), local=str(folder / "local"), cores=2)
        self.rows: list[Any] = []  # of the last batch
        self._planner = Planner(
            self.job, Admin(self.job.kafka["admin"]), Samples(self.job.kafka["consumer"], group_id="samples")
        )

    def batches(self) -> int:
        """Run until everything is processed; how many batches that took."""
        done = 0
        while self.batch():
            done += 1
        return done

    def batch(self, *, commit: bool = True) -> bool:
        """Plan and run one batch, as Spark does: plan, log, run, log. False if there is nothing to do."""
        start = self._start()
        planned = last_planned(str(self.checkpoint))
        again = planned is not None and planned["batch"] > start["batch"]
        end = planned if again and planned is not None else self._planner.next(start)
        if end is start:
            return False
        self.log("offsets", end, json.dumps(end))
        self._run(start, end)
        if commit:
            self.log("commits", end, '{"nextBatchWatermarkMs":0}')
        return True

    def plan(self) -> Offsets:
        """The end of the next batch, without running it."""
        return self._planner.next(self._start())

    def _start(self) -> Offsets:
        return last_done(str(self.checkpoint)) or self._planner.initial()

    def log(self, what: str, end: Offsets, line: str) -> None:
        """Write a file as Spark does."""
        folder = self.checkpoint / "query" / what
        folder.mkdir(parents=True, exist_ok=True)
        (folder / str(end["batch"])).write_text(f'v1\n{{"batchWatermarkMs":0}}\n{line}')

    def _run(self, start: Offsets, end: Offsets) -> None:
        rows: list[Any] = []
        for plan in self._planner.slots(start, end):
            mine = [row for row in rows if row["level"] == plan.level and row["slot"] == plan.slot]
            rows += run_slot(self.job, plan, mine)
        self.rows = rows

    def metric(self, name: str) -> int:
        """A figure of the last batch, as Spark sums it."""
        return sum(row.get(name) or 0 for row in self.rows)

    def lose_state(self) -> None:
        """Remove the checkpoint's state and what nodes keep of it."""
        shutil.rmtree(self.checkpoint / "state")
        shutil.rmtree(self.folder / "local", ignore_errors=True)

    def restarted(self) -> Job:
        """The job under another run, as a restart gives it."""
        return replace(self.job, run=uuid.uuid4().hex)
