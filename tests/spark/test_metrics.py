from __future__ import annotations

import json
from typing import Any

from penstock.spark.metrics import BatchProgress, ProgressLog


def progress(batch: int, *, run: str = "r1", records: int | None = 3, lost: int = 0) -> dict[str, Any]:
    """A progress as Spark reports it; without records that of an idle query, which has the next batch's number."""
    end = {"batch": batch, "topics": {"orders": {"0": 10 + batch}}, "globals": {}, **({"lost": lost} if lost else {})}
    figures = {"records_in": records, "records_out": None, "dropped": 1, "elapsed_us": 2500, "tasks": 1, "unknown": 9}
    return {
        "batchId": batch,
        "runId": run,
        "timestamp": "2026-05-01T00:00:00.000Z",
        "durationMs": {"triggerExecution": 120, "addBatch": 80},
        "sources": [{"endOffset": json.dumps(end)}],
        "observedMetrics": {} if records is None else {"penstock": figures},
    }


def test_figures_of_a_batch() -> None:
    batch = BatchProgress.of(progress(4, lost=2))
    assert batch is not None
    assert batch.as_dict() == {
        "batch": 4,
        "run": "r1",
        "started": "2026-05-01T00:00:00.000Z",
        "duration_ms": 120,
        "durations_ms": {"triggerExecution": 120, "addBatch": 80},
        "records_in": 3,
        "records_out": 0,
        "dropped": 1,
        "state_rows": 0,
        "state_bytes": 0,
        "segment_bytes": 0,
        "task_time_ms": 2.5,
        "tasks": 1,
        "offsets": {"orders": {"0": 14}},
        "lost": 2,
    }
    assert json.loads(json.dumps(batch.as_dict())) == batch.as_dict()


def test_an_idle_query_and_other_queries_are_no_batches() -> None:
    assert BatchProgress.of(progress(4, records=None)) is None
    assert BatchProgress.of({**progress(4), "observedMetrics": {"mine": {"rows": 1}}}) is None


def test_each_batch_is_counted_once() -> None:
    log = ProgressLog()
    assert [b.batch for b in log.take([progress(0), progress(1)])] == [0, 1]
    assert [b.batch for b in log.take([progress(0), progress(1), progress(2, records=None), progress(2)])] == [2]
    assert log.take([progress(2)]) == []
    assert (log.batches, log.totals) == (3, {"records_in": 9, "records_out": 0, "dropped": 3})


def test_a_batch_done_again_in_a_new_run_is_new() -> None:
    log = ProgressLog()
    log.take([progress(0), progress(1)])
    assert [b.run for b in log.take([progress(1, run="r2")])] == ["r2"]


def test_whether_sparks_last_progress_is_news() -> None:
    log = ProgressLog()
    assert log.is_current(None)
    assert not log.is_current(progress(0))
    log.take([progress(0)])
    assert log.is_current(progress(0))
    assert log.is_current(progress(1, records=None))
    assert not log.is_current(progress(1))
    assert not log.is_current(progress(2, records=None))
    assert not log.is_current(progress(0, run="r2"))
