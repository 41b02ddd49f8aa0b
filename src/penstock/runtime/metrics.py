"""An application's metrics in the text format of Prometheus."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

_COUNTERS = {
    "batches-total": "Batches processed.",
    "records-in-total": "Records that tasks read.",
    "records-out-total": "Records that tasks wrote.",
    "dropped-records-total": "Records that were late, without a key, or skipped by a handler.",
    "lost-records-total": "Records that retention removed before they were read.",
    "restarts-total": "How often the query was started again.",
}
_GAUGES = {
    "uptime-ms": "Time since the application was made.",
    "paused": "1 while the application is paused.",
    "batch": "Number of the last batch.",
    "batch-duration-ms": "Time of the last batch.",
    "records-in": "Records that tasks read in the last batch.",
    "records-out": "Records that tasks wrote in the last batch.",
    "task-time-ms": "Time in tasks of the last batch, summed.",
    "tasks": "Tasks that had work in the last batch.",
    "state-rows": "Rows in the stores of those tasks.",
    "state-bytes": "Size of the stores of those tasks.",
    "records-lag": "Records that wait in all input partitions.",
}
_BY_PARTITION = {
    "offsets": ("offset", "Position in an input partition."),
    "lag": ("lag", "Records that wait in an input partition."),
}


def prometheus_text(application_id: str, metrics: Mapping[str, Any]) -> str:
    """The metrics as Prometheus reads them.

    >>> print(prometheus_text("app", {"state": "RUNNING", "batches-total": 3}), end="")
    # HELP penstock_state State of the application.
    # TYPE penstock_state gauge
    penstock_state{application="app",state="RUNNING"} 1
    # HELP penstock_batches_total Batches processed.
    # TYPE penstock_batches_total counter
    penstock_batches_total{application="app"} 3
    """
    return "".join(f"{line}\n" for line in _lines(application_id, metrics))


def _lines(application_id: str, metrics: Mapping[str, Any]) -> Iterator[str]:
    own = {"application": application_id}
    yield from _metric("state", "gauge", "State of the application.", [({**own, "state": metrics.get("state", "")}, 1)])
    for kind, described in (("counter", _COUNTERS), ("gauge", _GAUGES)):
        for name, text in described.items():
            if name in metrics:
                yield from _metric(name.replace("-", "_"), kind, text, [(own, metrics[name])])
    for name, (metric, text) in _BY_PARTITION.items():
        values = [
            ({**own, "topic": topic, "partition": partition}, value)
            for topic, partitions in sorted(metrics.get(name, {}).items())
            for partition, value in sorted(partitions.items(), key=lambda item: int(item[0]))
        ]
        if values:
            yield from _metric(metric, "gauge", text, values)


def _metric(name: str, kind: str, text: str, values: list[tuple[dict[str, str], Any]]) -> Iterator[str]:
    yield f"# HELP penstock_{name} {text}"
    yield f"# TYPE penstock_{name} {kind}"
    for labels, value in values:
        inside = ",".join(f'{label}="{_escape(content)}"' for label, content in labels.items())
        yield f"penstock_{name}{{{inside}}} {int(value) if isinstance(value, bool) else value}"


def _escape(text: str) -> str:
    return text.replace("\\", r"\\").replace('"', r"\"").replace("\n", r"\n")
