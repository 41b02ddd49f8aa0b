"""Connectors and states in the shapes of the REST API."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.connect.worker.config_store import Config
from penstock.connect.worker.status_store import Status


def connector_info(name: str, config: Config, tasks: int, kind: str) -> dict[str, Any]:
    """ConnectorInfo: a connector, its configuration and the ids of its tasks."""
    ids = [{"connector": name, "task": task} for task in range(tasks)]
    return {"name": name, "config": dict(config), "tasks": ids, "type": kind}


def status_info(name: str, connector: Status, tasks: Mapping[int, Status], kind: str) -> dict[str, Any]:
    """StatusInfo: the states of a connector and of its tasks."""
    return {
        "name": name,
        "connector": _state(connector),
        "tasks": [task_status(task, status) for task, status in tasks.items()],
        "type": kind,
    }


def task_status(task: int, status: Status) -> dict[str, Any]:
    """The state of a task."""
    return {"id": task, **_state(status)}


def _state(status: Status) -> dict[str, Any]:
    """State and worker; trace, version and metrics are left out where there are none."""
    shown: dict[str, Any] = {"state": status.state.value, "worker_id": status.worker_id}
    if status.trace:
        shown["trace"] = status.trace
    if status.version:
        shown["version"] = status.version
    if status.metrics:
        shown["metrics"] = dict(status.metrics)
    return shown
