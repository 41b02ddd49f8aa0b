from __future__ import annotations

from typing import Any

import pytest

from penstock.connect.connectors.datagen import DatagenConnector, DatagenTask
from penstock.connect.connectors.datagen_kinds import KINDS
from penstock.connect.connectors.mock_failure import MockFailure
from penstock.connect.errors import ConfigError, ConnectError


class Offsets:
    def __init__(self) -> None:
        self.known: dict[str, Any] | None = None

    def offset(self, partition: object) -> dict[str, Any] | None:
        return self.known


class Time:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


def made(task: DatagenTask, offsets: Offsets) -> list[Any]:
    found = []
    for planned in task.plan(offsets):
        found += [record.value.to_dict() for record in task.read(planned)]
        offsets.known = dict(planned.end)
    return found


@pytest.mark.parametrize("kind", KINDS)
def test_every_kind_makes_valid_records_with_a_key(kind: str) -> None:
    time, offsets = Time(), Offsets()
    task = DatagenTask({"kafka.topic": "t", "quickstart": kind, "rate": "10"}, time)
    assert made(task, offsets) == []
    time.now += 1
    (planned,) = task.plan(offsets)
    records = list(task.read(planned))
    assert len(records) == 10
    for record in records:
        record.value.validate()
        assert record.key == str(record.value.get(KINDS[kind].key_field))


def test_the_rate_is_kept_and_the_end_too() -> None:
    time, offsets = Time(), Offsets()
    task = DatagenTask({"kafka.topic": "t", "max.interval": "100", "iterations": "25"}, time)
    task.plan(offsets)
    counts = []
    for _ in range(4):
        time.now += 1
        counts.append(len(made(task, offsets)))
    assert counts == [10, 10, 5, 0]


def test_a_range_gives_the_same_records_again() -> None:
    task = DatagenTask({"kafka.topic": "t", "quickstart": "sensors", "task.id": "1", "rate": "100"}, time := Time())
    task.plan(Offsets())
    time.now += 1
    (planned,) = task.plan(Offsets())

    def without_time() -> list[Any]:
        return [{**r.value.to_dict(), "time": 0} for r in task.read(planned)]

    assert without_time() == without_time()


def test_tasks_have_records_of_their_own() -> None:
    configs = DatagenConnector({"kafka.topic": "t"}).task_configs(2)
    assert [config["task.id"] for config in configs] == ["0", "1"]


@pytest.mark.parametrize(
    ("config", "message"),
    [
        ({"quickstart": "userz"}, "String must be one of: users, pageviews"),
        ({"schema.keyfield": "nope"}, "have no field nope"),
        ({"rate": "0"}, "Value must be at least 0.001"),
    ],
)
def test_settings_that_cannot_be_used(config: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        DatagenConnector({"kafka.topic": "t", **config})


def test_a_mock_fails_only_in_its_mode() -> None:
    config = {"mock_mode": "task-failure", "delay_ms": "0"}
    failing, quiet = MockFailure(config, "task-failure"), MockFailure(config, "connector-failure")
    failing.start()
    quiet.start()
    quiet.check()
    with pytest.raises(ConnectError, match="mock_mode asked for it"):
        failing.check()
