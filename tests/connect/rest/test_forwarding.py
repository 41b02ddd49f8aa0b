"""A worker that does not lead, and one that does."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

import httpx
import pytest
from fastapi import FastAPI

from penstock.connect.rest.app import Services, build_app
from penstock.connect.rest.forwarding import Forwarding
from penstock.connect.rest.server import BoundListener, RestServer
from penstock.connect.worker.backend import NoLeaderError
from penstock.connect.worker.listener import Listener
from tests.connect.worker.in_process import SOURCE, Parts, parts

CONFIG = {"connector.class": SOURCE, "topic": "t"}


@contextmanager
def running(worker: Parts, forward: Callable[[FastAPI], None] | None = None) -> Iterator[httpx.Client]:
    bound = BoundListener(Listener("http", "127.0.0.1", 0))
    server = RestServer([(bound, build_app(Services(herder=worker.herder), forward=forward))], {})
    server.start()
    try:
        with httpx.Client(base_url=bound.listener.url, timeout=30, trust_env=False) as client:
            yield client
    finally:
        server.close()


@dataclass
class Group:
    """Who leads, question by question; the last answer stays."""

    answers: list[str | type[Exception] | None] = field(default_factory=list)
    caught_up: int = 0

    def leader(self) -> str | None:
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, type):
            raise answer
        return answer

    def catch_up(self) -> None:
        self.caught_up += 1

    def forward(self, app: FastAPI) -> None:
        app.add_middleware(Forwarding, leader=self.leader, catch_up=self.catch_up, wait_seconds=2)


@pytest.fixture
def leader() -> Parts:
    return parts()


@pytest.fixture
def follower() -> Parts:
    return parts()


def test_changes_go_to_the_leader_and_answers_come_back(leader: Parts, follower: Parts) -> None:
    group = Group()
    with running(leader) as leading, running(follower, group.forward) as following:
        group.answers = [str(leading.base_url)]
        created = following.post("/connectors", json={"name": "a b", "config": CONFIG})
        assert created.status_code == 201
        assert created.headers["content-type"] == "application/json"
        assert created.headers["location"] == f"{leading.base_url}/connectors/a%20b".replace("//c", "/c")
        assert leader.herder.connectors() == ["a b"]
        assert group.caught_up == 1
        restarted = following.post("/connectors/a b/restart?includeTasks=true&onlyFailed=false")
        assert (restarted.status_code, restarted.json()["connector"]["state"]) == (202, "RESTARTING")
        assert following.get("/connectors/a b/offsets").json() == {"offsets": []}
        refused = following.post("/connectors", json={"name": "a b", "config": CONFIG})
        assert refused.json() == {"error_code": 409, "message": "Connector a b already exists"}
        # What only reads is answered here, from what this worker knows.
        assert following.get("/connectors").json() == []
        assert following.get("/connector-plugins").status_code == 200
        assert following.delete("/connectors/a b").status_code == 204


def test_a_request_waits_for_the_next_leader(leader: Parts, follower: Parts) -> None:
    group = Group([NoLeaderError, "http://127.0.0.1:1", None])
    with running(follower, group.forward) as following:
        created = following.post("/connectors", json={"name": "c", "config": CONFIG})
        assert created.status_code == 201
    assert follower.herder.connectors() == ["c"]


@pytest.mark.slow
def test_no_leader_for_long_is_a_conflict(follower: Parts) -> None:
    group = Group([NoLeaderError])
    with running(follower, group.forward) as following:
        answer = following.put("/connectors/c/pause")
    assert answer.status_code == 409
    assert answer.json()["message"].startswith("Cannot complete request because of a conflicting operation")


def test_requests_do_not_go_round_in_circles(follower: Parts) -> None:
    group = Group()
    with running(follower, group.forward) as following:
        group.answers = [str(following.base_url)]
        assert following.put("/connectors/c/pause").status_code == 409
