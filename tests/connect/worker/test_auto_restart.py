from __future__ import annotations

import threading

import pytest

from penstock.connect.worker.auto_restart import AutoRestart
from penstock.connect.worker.config_store import TargetState
from penstock.connect.worker.status_store import State
from tests.connect.worker.in_process import SOURCE, Parts, parts

CONFIG = {"connector.class": SOURCE, "name": "c", "topic": "t"}
SOON = {**CONFIG, "errors.restart.max.attempts": "2", "errors.restart.delay.ms": "1"}
LATER = {**CONFIG, "errors.restart.max.attempts": "-1", "errors.restart.delay.ms": "600000"}


def started(config: dict[str, str]) -> Parts:
    worker = parts()
    worker.configs.put_connector("c", config)
    worker.supervisor.reconcile("c").result(30)
    return worker


def trace(worker: Parts) -> str:
    return worker.statuses.tasks("c")[0].trace or ""


def test_without_the_setting_what_failed_stays_failed() -> None:
    worker = started(CONFIG)
    worker.runner.fail("c", "it broke")
    assert trace(worker) == "it broke"
    worker.settle()
    assert worker.runner.calls == [("start", "c"), ("fail", "c")]


def test_a_connector_is_restarted_as_often_as_allowed() -> None:
    worker = started(SOON)
    for attempt in (1, 2):
        starts = worker.runner.calls.count(("start", "c"))
        worker.runner.fail("c", "it broke")
        while worker.runner.calls.count(("start", "c")) == starts:
            pass
        worker.settle()
        assert worker.statuses.tasks("c")[0].state is State.RUNNING, attempt
    worker.runner.fail("c", "it broke")
    assert trace(worker) == "it broke\nIt was restarted 2 times without success."


def test_the_status_says_when_and_several_failures_are_one() -> None:
    worker = started(LATER)
    worker.runner.fail("c", "it broke")
    worker.runner.fail("c", "it broke again")
    assert trace(worker) == "it broke again\nIt is restarted after 600 seconds: attempt 1."
    worker.herder.restart("c")
    worker.settle()
    worker.runner.fail("c", "it broke")
    assert "attempt 1" in trace(worker)
    worker.herder.delete("c")
    worker.settle()
    assert worker.supervisor._auto_restart._attempts == {}


@pytest.mark.parametrize("change", ["stop", "config", "end"])
def test_what_was_planned_is_off_when_somebody_looks_after_it(change: str) -> None:
    worker = started(LATER)
    worker.runner.fail("c", "it broke")
    timer = worker.supervisor._auto_restart._attempts["c"].timer
    assert isinstance(timer, threading.Timer)
    if change == "stop":
        worker.herder.set_target("c", TargetState.STOPPED)
    elif change == "config":
        worker.configs.put_connector("c", {**LATER, "file": "x"})
        worker.supervisor.reconcile("c")
    else:
        worker.supervisor.stop_all(30)
    worker.settle()
    timer.join(30)
    assert not timer.is_alive()
    assert worker.supervisor._auto_restart._attempts == {}


def test_each_restart_waits_twice_as_long() -> None:
    restarted: list[str] = []
    automatic = AutoRestart(restarted.append)
    settings = {"errors.restart.max.attempts": "-1", "errors.restart.delay.ms": "100000"}
    waits = []
    for _ in range(4):
        automatic.failed("c", settings)
        attempts = automatic._attempts["c"]
        assert attempts.timer is not None
        waits.append(attempts.timer.interval)
        attempts.timer.cancel()
        attempts.timer = None
    assert waits == [100, 200, 400, 600]
    automatic.forget("c")
    assert not restarted


@pytest.mark.parametrize("given", ["3", None], ids=["known", "not known"])
def test_a_number_from_a_config_provider(given: str | None, monkeypatch: pytest.MonkeyPatch) -> None:
    if given is not None:
        monkeypatch.setenv("RESTARTS_OF_TEST", given)
    worker = parts({"config.providers": "env", "config.providers.env.class": "EnvVarConfigProvider"})
    config = {**LATER, "errors.restart.max.attempts": "${env:RESTARTS_OF_TEST}"}
    worker.configs.put_connector("c", config)
    worker.supervisor.reconcile("c").result(30)
    worker.runner.fail("c", "it broke")
    assert worker.statuses.tasks("c")[0].state is State.FAILED
    told = "\nIt is restarted after 600 seconds: attempt 1 of 3." if given else ""
    assert trace(worker) == f"it broke{told}"
    worker.herder.delete("c")
    worker.settle()
