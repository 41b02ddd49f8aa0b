"""Dying on purpose at a named step, so that tests can prove that no step loses or doubles anything.

Kills from outside rarely hit the few milliseconds between two steps of a commit. A job that names a step
(`step` or `step:probability`) makes its workers end there, as kill -9 would.
"""

from __future__ import annotations

import os
import random

from penstock.spark.job import Job

STEPS = (
    "before segment",
    "after segment",
    "in transaction",
    "before commit",
    "after commit",
    "before publish",
    "after publish",
)


def crash_point(job: Job, step: str) -> None:
    """End the process if the job asks for it at this step."""
    if not job.crash:
        return
    name, _, chance = job.crash.partition(":")
    if name in (step, "any") and random.random() < float(chance or 1):
        os._exit(9)
