from __future__ import annotations

import logging
import threading

import pytest

from penstock.connect.config.providers.provider import ConfigData, ConfigProvider
from penstock.connect.worker.config_store import TargetState
from penstock.connect.worker.status_store import State
from penstock.connect.worker.strands import Strands
from tests.connect.worker.in_process import SOURCE, parts

CONFIG = {"connector.class": SOURCE, "name": "c", "topic": "t"}


def test_work_of_one_name_is_done_in_order_and_of_others_beside_it() -> None:
    strands = Strands()
    gate = threading.Event()
    done: list[int] = []
    first = strands.submit("a", lambda: gate.wait(30))
    others = [strands.submit("a", lambda i=i: done.append(i)) for i in range(5)]  # type: ignore[misc]
    assert strands.submit("b", lambda: "beside").result(30) == "beside"
    assert not done
    assert strands.wait(0) == ["a"]
    gate.set()
    assert first.result(30)
    others[-1].result(30)
    assert done == [0, 1, 2, 3, 4]
    assert strands.wait(30) == []


def test_work_that_fails_does_not_stop_the_next() -> None:
    strands = Strands()
    failed = strands.submit("a", lambda: 1 / 0)
    assert strands.submit("a", lambda: "next").result(30) == "next"
    with pytest.raises(ZeroDivisionError):
        failed.result(30)


def test_a_connector_that_hangs_holds_up_nobody_else() -> None:
    worker = parts()
    worker.runner.hanging = threading.Event()
    worker.configs.put_connector("a", {**CONFIG, "name": "a"})
    hanging = worker.supervisor.reconcile("a")
    while ("start", "a") not in worker.runner.calls:
        pass
    gate, worker.runner.hanging = worker.runner.hanging, None
    worker.configs.put_connector("b", {**CONFIG, "name": "b"})
    worker.supervisor.reconcile("b").result(30)
    assert not hanging.done()
    assert worker.statuses.connector("b").state is State.RUNNING  # type: ignore[union-attr]
    gate.set()
    worker.settle()


def test_a_connector_deleted_and_created_again_is_a_new_one() -> None:
    worker = parts()
    worker.configs.put_connector("c", CONFIG)
    worker.supervisor.reconcile("c").result(30)
    worker.configs.remove("c")
    worker.configs.put_connector("c", CONFIG)
    worker.supervisor.reconcile("c").result(30)
    assert worker.runner.calls == [("start", "c"), ("stop", "c"), ("start", "c")]


def test_states_told_while_a_connector_ends_are_no_news() -> None:
    worker = parts()
    worker.configs.put_connector("c", CONFIG)
    worker.supervisor.reconcile("c").result(30)
    listener = worker.runner.running["c"].listener
    worker.herder.delete("c")
    worker.settle()
    listener.connector_state("c", "FAILED", "late")
    listener.task_state("c", 0, "FAILED", "late")
    listener.topics_used("c", {"late"})
    assert worker.statuses.connector("c") is None
    assert worker.statuses.tasks("c") == {}
    assert worker.statuses.topics("c") == []


def test_all_end_when_the_worker_does_and_what_is_wanted_stays() -> None:
    worker = parts()
    for name in ("a", "b"):
        worker.configs.put_connector(name, {**CONFIG, "name": name})
        worker.supervisor.reconcile(name).result(30)
    assert worker.supervisor.stop_all(30) == []
    assert worker.runner.running == {}
    assert worker.configs.get("a").target is TargetState.STARTED  # type: ignore[union-attr]


class Leased(ConfigProvider):
    """A provider whose values are good for a moment, and new each time."""

    asked = 0

    def get(self, path: str, keys: object = None) -> ConfigData:
        Leased.asked += 1
        return ConfigData({"token": f"token-{Leased.asked}"}, ttl_ms=10)


@pytest.mark.parametrize("reload", ["restart", "none"])
def test_a_connector_is_restarted_when_its_secrets_are_no_longer_good(reload: str) -> None:
    Leased.asked = 0
    worker = parts({"config.providers": "lease", "config.providers.lease.class": f"{__name__}:Leased"})
    worker.configs.put_connector("c", {**CONFIG, "file": "${lease:x:token}", "config.action.reload": reload})
    worker.supervisor.reconcile("c").result(30)
    if reload == "none":
        worker.settle()
        assert worker.runner.calls == [("start", "c")]
        return
    while worker.runner.calls.count(("start", "c")) < 3:
        worker.settle()
    worker.herder.delete("c")
    worker.settle()


def test_unknown_settings_are_named_with_the_nearest(caplog: pytest.LogCaptureFixture) -> None:
    from penstock.connect.requests.create_connector import CreateConnectorRequest

    worker = parts()
    config = {**CONFIG, "task.max": "2", "topik": "t", "producer.override.linger.ms": "1", "errors.tolerance": "all"}
    with caplog.at_level(logging.WARNING, "penstock.connect"):
        worker.herder.create(CreateConnectorRequest("c", dict(config)))
    messages = [record.getMessage() for record in caplog.records]
    assert messages == [
        "connector c: The setting task.max is not known and has no effect; did you mean tasks.max?",
        "connector c: The setting topik is not known and has no effect; did you mean topic?",
    ]


def test_a_thousand_connectors_come_and_go_without_a_trace() -> None:
    worker = parts()
    before = threading.active_count()
    for i in range(1000):
        worker.configs.put_connector(f"c{i}", {**CONFIG, "name": f"c{i}"})
        worker.supervisor.reconcile(f"c{i}")
    worker.settle()
    assert len(worker.runner.running) == 1000
    for i in range(1000):
        worker.herder.delete(f"c{i}")
    worker.settle()
    assert worker.herder.connectors() == []
    assert worker.runner.running == {}
    assert threading.active_count() <= before + 1
    assert worker.supervisor._running == {}


def test_a_connector_that_could_not_start_is_tried_again_and_keeps_its_reason() -> None:
    worker = parts()
    worker.runner.refusing = "no disk"
    worker.configs.put_connector("c", CONFIG)
    worker.supervisor.reconcile("c").result(30)
    worker.herder.set_target("c", TargetState.PAUSED)
    worker.settle()
    status = worker.statuses.connector("c")
    assert status is not None
    assert (status.state, "no disk" in (status.trace or "")) == (State.FAILED, True)
    worker.runner.refusing = None
    worker.herder.set_target("c", TargetState.STARTED)
    worker.settle()
    status = worker.statuses.connector("c")
    assert status is not None
    assert status.state is State.RUNNING


@pytest.mark.parametrize("has_checkpoint", [False, True])
def test_a_source_without_a_checkpoint_goes_on_from_its_kept_offsets(has_checkpoint: bool) -> None:
    kept = [{"partition": {"filename": "a"}, "offset": {"position": 7}}]
    newer = [{"partition": {"filename": "a"}, "offset": {"position": 9}}]
    worker = parts(stored_offsets=lambda name: kept)
    if has_checkpoint:
        worker.runner.kept["c"] = newer
    worker.configs.put_connector("c", CONFIG)
    worker.supervisor.reconcile("c").result(30)
    assert worker.runner.kept["c"] == (newer if has_checkpoint else kept)
    assert "c" in worker.runner.running


def test_work_that_is_divided_anew_is_seen() -> None:
    worker = parts()
    worker.configs.put_connector("c", {**CONFIG, "tasks.max": "3"})
    worker.supervisor.reconcile("c").result(30)
    worker.runner.running["c"].config["tasks.max"] = "2"
    worker.runner._tell("c")
    worker.settle()
    assert len(worker.herder.connector("c")["tasks"]) == 2
    assert [task["id"] for task in worker.herder.status("c")["tasks"]] == [0, 1]
