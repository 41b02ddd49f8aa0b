from __future__ import annotations

from typing import Any

from penstock.connect.spark.task_metrics import TaskMetrics


def report(records: int = 0, **errors: Any) -> dict[str, Any]:
    return {"task": 0, "records": records, "errors": errors, "topics": [], "committed": []}


def test_counts_add_up() -> None:
    metrics = TaskMetrics()
    metrics.add(report(3, skipped={"A X": 1}, dead_letters=1, retries=2, last_error="a", last_error_timestamp=5))
    metrics.add(
        report(4, skipped={"A X": 1, "B Y": 2}, dead_letters=3, retries=0, last_error="b", last_error_timestamp=6)
    )
    metrics.add(report(0))
    shown = metrics.shown()
    assert shown.pop("last_record_timestamp") > 1_700_000_000_000
    assert shown == {
        "records": 7,
        "skipped": {"A X": 2, "B Y": 2},
        "dead_letters": 4,
        "retries": 2,
        "last_error": "b",
        "last_error_timestamp": 6,
    }


def test_errors_are_told_soon_and_mere_records_from_time_to_time() -> None:
    metrics = TaskMetrics()
    assert metrics.news(0) is None
    metrics.add(report(1))
    assert metrics.news(0) is not None
    metrics.add(report(1))
    assert metrics.news(5) is None
    assert metrics.news(10) is not None
    metrics.add(report(0, skipped={"A X": 1}, last_error="a", last_error_timestamp=5))
    assert metrics.news(10.5) is None
    assert metrics.news(11) is not None
    assert metrics.news(99) is None
