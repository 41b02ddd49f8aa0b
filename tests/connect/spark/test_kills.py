"""A short version of `python -m tests.chaos.connect`: the worker is killed once, and every line arrives once."""

from __future__ import annotations

import random
import tempfile
from pathlib import Path

import pytest

from penstock.broker import LocalBroker
from tests.chaos.connect import Round, play


@pytest.mark.broker
@pytest.mark.spark
@pytest.mark.slow
def test_every_line_arrives_once_though_the_worker_is_killed(broker: LocalBroker) -> None:
    # Not in tmp_path: names of sockets are short.
    with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
        round_ = Round(broker, Path(folder), lines=20_000)
        try:
            done, wrong = play(round_, random.Random(1), kills=1, patience=120)
        finally:
            round_.close()
        assert wrong == [], Path(folder, "worker.log").read_text(errors="replace")[-3000:]
        assert len(done) == 1
