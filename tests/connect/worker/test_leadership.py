"""A worker that is chosen to lead, and loses its place at a bad moment; Kafka is played by objects."""

from __future__ import annotations

import threading
from collections.abc import Callable
from types import SimpleNamespace
from typing import Any

import pytest

from penstock.connect.errors import ConnectError
from penstock.connect.worker import distributed
from penstock.connect.worker.distributed import DistributedBackend
from penstock.connect.worker.topic_config_store import Leader
from tests.connect.worker.in_process import SOURCE, Parts, parts


class Backend(DistributedBackend):
    """One without topics, in which the test decides what happens while it begins to lead."""

    def __init__(self, worker: Parts, meanwhile: dict[str, Callable[[], None]]) -> None:
        self._membership: Any = SimpleNamespace(leads=True)
        self._supervisor = worker.supervisor
        worker.supervisor.leading = False
        self._url = "http://me"
        self._config: Any = SimpleNamespace(values={"task.shutdown.graceful.timeout.ms": 5000})
        self._switching = threading.Lock()
        self._closed = threading.Event()
        self._meanwhile = meanwhile
        self.told: list[Leader] = []
        self.statuses: Any = SimpleNamespace(follow=lambda: None)
        self.configs: Any = SimpleNamespace(leader=None, names=lambda: ["c"], put_leader=self._put_leader)

    def catch_up(self) -> None:
        self._meanwhile.get("catch up", lambda: None)()

    def _put_leader(self, leader: Leader) -> None:
        self.told.append(leader)
        self._meanwhile.get("tell", lambda: None)()

    def revoke(self) -> None:
        self._membership.leads = False
        self._follow()


@pytest.mark.parametrize(("moment", "told"), [("catch up", 0), ("tell", 1)])
def test_a_worker_that_loses_its_place_while_it_begins_to_lead(moment: str, told: int) -> None:
    worker = parts()
    meanwhile: dict[str, Callable[[], None]] = {}
    worker.configs.put_connector("c", {"name": "c", "connector.class": SOURCE, "topic": "t"})
    backend = Backend(worker, meanwhile)
    meanwhile[moment] = backend.revoke
    backend._lead()
    worker.settle()
    assert not worker.supervisor.leading
    assert worker.runner.calls == []
    assert len(backend.told) == told


def test_a_worker_that_leads_runs_connectors_until_it_follows() -> None:
    worker = parts()
    worker.configs.put_connector("c", {"name": "c", "connector.class": SOURCE, "topic": "t"})
    backend = Backend(worker, {})
    backend._lead()
    worker.settle()
    assert (worker.supervisor.leading, list(worker.runner.running)) == (True, ["c"])
    assert backend.told == [Leader("http://me", 1)]
    backend.revoke()
    assert (worker.supervisor.leading, list(worker.runner.running)) == (False, [])


def test_a_connector_that_is_about_to_start_when_all_are_ended() -> None:
    worker = parts()
    worker.configs.put_connector("c", {"name": "c", "connector.class": SOURCE, "topic": "t"})
    version = worker.herder.check.version

    def lose(config: Any) -> Any:
        worker.supervisor.leading = False  # what was running is ended; this one is not among it yet
        return version(config)

    object.__setattr__(worker.supervisor, "_check", SimpleNamespace(version=lose, worker=worker.herder.check.worker))
    worker.supervisor.reconcile("c")
    worker.settle()
    assert worker.runner.calls == []


def test_health_asks_for_a_leader_and_reads_the_topics(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(distributed, "_LEADER_SECONDS", 0.3)
    caught: list[int] = []
    backend = Backend(parts(), {"catch up": lambda: caught.append(1)})
    with pytest.raises(ConnectError, match="No worker of the group leads"):
        backend.probe()
    assert caught == []
    threading.Timer(0.1, lambda: setattr(backend.configs, "leader", Leader("http://other", 3))).start()
    backend.probe()
    assert caught == [1]
