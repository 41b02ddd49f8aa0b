"""Runners on the shared Spark session and broker; each test has its own connectors and topics."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from penstock.connect.runner import ConnectorRunner

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.broker import LocalBroker


class States:
    """Listens, and lets tests wait for what they expect."""

    def __init__(self) -> None:
        self._heard = threading.Condition()
        self.connectors: dict[str, tuple[str, str | None]] = {}
        self.tasks: dict[tuple[str, int], tuple[str, str | None]] = {}
        self.metrics: dict[tuple[str, int], Mapping[str, Any]] = {}
        self.topics: dict[str, set[str]] = {}

    def connector_state(self, name: str, state: str, trace: str | None) -> None:
        with self._heard:
            self.connectors[name] = (state, trace)
            self._heard.notify_all()

    def task_state(self, name: str, task: int, state: str, trace: str | None) -> None:
        with self._heard:
            self.tasks[name, task] = (state, trace)
            self._heard.notify_all()

    def task_metrics(self, name: str, task: int, metrics: Mapping[str, Any]) -> None:
        with self._heard:
            self.metrics[name, task] = metrics
            self._heard.notify_all()

    def topics_used(self, name: str, topics: set[str]) -> None:
        with self._heard:
            self.topics.setdefault(name, set()).update(topics)
            self._heard.notify_all()

    def wait_for_task(self, name: str, state: str, task: int = 0, seconds: float = 240) -> str | None:
        """The trace of a task that is in a state, when it is."""
        with self._heard:
            arrived = self._heard.wait_for(lambda: self.tasks.get((name, task), ("", ""))[0] == state, seconds)
            assert arrived, f"task {name}-{task} is {self.tasks.get((name, task))}, not {state}"
            return self.tasks[name, task][1]


def wait_until(is_so: Callable[[], Any], seconds: float = 240) -> None:
    """Wait until something is so, by looking."""
    tick = threading.Event()
    for _ in range(int(seconds * 20)):
        if is_so():
            return
        tick.wait(0.05)
    pytest.fail(f"it is not so after {seconds} seconds")


RunnerFactory = Callable[..., ConnectorRunner]


@pytest.fixture
def states() -> States:
    return States()


@pytest.fixture
def make_runner(spark: SparkSession, broker: LocalBroker, tmp_path: Path) -> Iterator[RunnerFactory]:
    """Makes runners, and closes them after the test."""
    made: list[ConnectorRunner] = []

    def make(**settings: Any) -> ConnectorRunner:
        options = {key: settings.pop(key) for key in ("publish_offsets", "stored_offsets") if key in settings}
        worker = {
            "bootstrap.servers": broker.bootstrap_servers,
            "key.converter": "StringConverter",
            "value.converter": "StringConverter",
            **{key.replace("_", "."): value for key, value in settings.items()},
        }
        made.append(ConnectorRunner(worker, spark=spark, state_dir=tmp_path / "state", **options))
        return made[-1]

    yield make
    for runner in made:
        runner.close()


@pytest.fixture
def runner(make_runner: RunnerFactory) -> ConnectorRunner:
    return make_runner()
