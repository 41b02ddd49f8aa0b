"""What a user reads when the broker cannot be had."""

from __future__ import annotations

import socket
from pathlib import Path

import pytest

from penstock.broker import BrokerError, LocalBroker, require_broker
from penstock.broker.ports import free_port, is_free


def test_nobody_answers() -> None:
    port = free_port()
    with pytest.raises(BrokerError) as caught:
        require_broker(f"127.0.0.1:{port}", timeout=0.5)
    assert str(caught.value) == (
        f"no Kafka broker answers at 127.0.0.1:{port} (waited 0.5 s). "
        "Start one with `penstock broker start`, or check the address"
    )


def test_something_else_answers() -> None:
    with socket.create_server(("127.0.0.1", 0)) as mute:
        port = mute.getsockname()[1]
        with pytest.raises(BrokerError, match=f"no Kafka broker answers at 127.0.0.1:{port}"):
            require_broker(f"127.0.0.1:{port}", timeout=0.5)


def test_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(BrokerError) as caught:
            LocalBroker(port=port).__enter__()
    assert str(caught.value) == (
        f"port {port} is in use by another process. "
        "Stop that process, or choose another port: penstock broker start --port N"
    )


def test_folder_that_cannot_be_made(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    with pytest.raises(BrokerError) as caught:
        LocalBroker(data=tmp_path / "file" / "data").start()
    assert (
        str(caught.value) == f"{tmp_path}/file/data cannot hold the broker's data: Not a directory. Use another folder"
    )


@pytest.mark.broker
def test_settings_kafka_does_not_take(tmp_path: Path) -> None:
    with pytest.raises(BrokerError) as caught:
        LocalBroker(data=tmp_path, config={"process.roles": "conductor"}).start()
    text = str(caught.value)
    assert text.startswith("the broker's data folder cannot be formatted: ")
    assert "conductor" in text
    assert text.endswith(f"Use another data folder, or delete this one. The whole log is {tmp_path}/kafka.log")


@pytest.mark.broker
def test_broker_that_dies_at_start(tmp_path: Path) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "meta.properties").write_text("version=99\n")
    broker = LocalBroker(data=tmp_path)
    with pytest.raises(BrokerError) as caught:
        broker.start()
    text = str(caught.value)
    assert text.startswith("the broker ended with code 1 while starting. The end of its log: ")
    assert "meta.properties" in text
    assert text.endswith(f". The whole log is {tmp_path}/kafka.log")
    assert not broker.running


@pytest.mark.broker
def test_broker_that_takes_too_long(tmp_path: Path) -> None:
    broker = LocalBroker(data=tmp_path, start_timeout=0.001)
    with pytest.raises(BrokerError) as caught:
        broker.start()
    assert str(caught.value) == (
        "the broker did not answer within 0.001 s of its start. The end of its log: (empty). "
        f"Give it more time (start_timeout), or look into {tmp_path}/kafka.log"
    )
    assert not broker.running
    assert is_free(broker.port)


@pytest.mark.broker
def test_already_running(broker: LocalBroker) -> None:
    with pytest.raises(BrokerError) as caught:
        broker.start()
    assert str(caught.value) == (
        f"a broker is already running at {broker.bootstrap_servers} (process {broker.pid}). "
        "Use it, or end it first with `penstock broker stop`"
    )
