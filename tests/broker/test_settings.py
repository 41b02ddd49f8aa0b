from __future__ import annotations

from pathlib import Path

from penstock.broker.process import log_tail
from penstock.broker.settings import server_properties


def test_properties_are_for_one_node_that_is_broker_and_controller() -> None:
    properties = _parse(server_properties(port=9092, controller_port=9093, data="/data", overrides={}))
    assert properties["process.roles"] == "broker,controller"
    assert properties["listeners"] == "PLAINTEXT://127.0.0.1:9092,CONTROLLER://127.0.0.1:9093"
    assert properties["controller.quorum.voters"] == "1@127.0.0.1:9093"
    assert properties["log.dirs"] == "/data"
    assert properties["log.retention.ms"] == "-1"


def test_the_users_settings_win() -> None:
    overrides = {"log.retention.ms": "1000", "compression.type": "lz4"}
    properties = _parse(server_properties(port=1, controller_port=2, data="/d", overrides=overrides))
    assert properties["log.retention.ms"] == "1000"
    assert properties["compression.type"] == "lz4"


def test_a_backslash_survives_javas_format() -> None:
    assert "log.dirs=C:\\\\data\n" in server_properties(port=1, controller_port=2, data="C:\\data", overrides={})


def test_log_tail_prefers_errors(tmp_path: Path) -> None:
    log = tmp_path / "kafka.log"
    log.write_text("INFO one\nERROR broken\n\tat somewhere\nINFO two\njava.io.IOException: full\nINFO three\n")
    assert log_tail(log) == "ERROR broken | java.io.IOException: full"


def test_log_tail_of_a_calm_or_missing_log(tmp_path: Path) -> None:
    log = tmp_path / "kafka.log"
    assert log_tail(log) == ""
    log.write_text("one\n\ntwo\nthree\n")
    assert log_tail(log, lines=2) == "two | three"


def _parse(text: str) -> dict[str, str]:
    pairs = [line.split("=", 1) for line in text.splitlines()]
    assert len(pairs) == len({key for key, _ in pairs})
    return {key: value for key, value in pairs}  # noqa: C416
