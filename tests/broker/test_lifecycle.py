"""Brokers that are stopped, killed, restarted and left alone. Linux only where a process is watched by a pidfd."""

from __future__ import annotations

import os
import select
import signal
import subprocess
import sys
from pathlib import Path

import pytest
from confluent_kafka import Producer
from confluent_kafka.admin import AdminClient, NewTopic

from penstock.broker import LocalBroker
from penstock.broker.ports import is_free
from penstock.broker.process import command_line

pytestmark = [pytest.mark.broker, pytest.mark.slow]

# Prints what it started, then waits to be killed.
PROGRAM = """
import sys
from penstock.broker import LocalBroker
with LocalBroker() as broker:
    print(broker.pid, broker._watchdog._process.pid, broker.port, broker.log.parent, flush=True)
    sys.stdin.read()
"""


def test_topics_survive_a_crash_and_a_restart(tmp_path: Path) -> None:
    with LocalBroker(data=tmp_path) as broker:
        address = broker.bootstrap_servers
        _create(broker, "kept")
        first = broker.pid
        assert first is not None

        broker.kill()
        assert command_line(first) == ""
        assert is_free(broker.port)

        broker.restart()
        assert broker.running
        assert broker.pid != first
        assert broker.bootstrap_servers == address
        assert "kept" in _topics(broker)
    # A later broker may use other ports with the same data.
    with LocalBroker(data=tmp_path) as later:
        assert "kept" in _topics(later)


def test_nothing_is_left_behind() -> None:
    with LocalBroker() as broker:
        pid, folder, port = broker.pid, broker.log.parent, broker.port
        assert pid is not None
        assert "kafka.Kafka" in command_line(pid)
        assert folder.is_dir()
    assert broker.pid is None
    assert command_line(pid) == ""
    assert is_free(port)
    assert not folder.exists()
    broker.stop()


def test_two_brokers_side_by_side(broker: LocalBroker) -> None:
    with LocalBroker() as other:
        assert other.port != broker.port
        _create(other, "only-here")
        assert "only-here" in _topics(other)
        assert "only-here" not in _topics(broker)


def test_an_unknown_topic_is_not_created_by_writing_to_it(broker: LocalBroker) -> None:
    failures: list[str] = []
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "message.timeout.ms": 2000})
    producer.produce("mistyped", b"value", on_delivery=lambda error, _: failures.append(str(error)))
    producer.flush(30)
    assert failures
    assert "mistyped" not in _topics(broker)


def test_transactions(broker: LocalBroker) -> None:
    _create(broker, "transactional")
    producer = Producer({"bootstrap.servers": broker.bootstrap_servers, "transactional.id": "test-transactions"})
    producer.init_transactions(30)
    producer.begin_transaction()
    producer.produce("transactional", b"value")
    producer.commit_transaction(30)


@pytest.mark.skipif(not hasattr(os, "pidfd_open"), reason="watches processes by pidfd")
@pytest.mark.parametrize("number", [signal.SIGKILL, signal.SIGINT])
def test_the_broker_ends_with_its_program(number: signal.Signals) -> None:
    program = subprocess.Popen(
        [sys.executable, "-c", PROGRAM], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.DEVNULL
    )
    assert program.stdout is not None
    java, watchdog, port, folder = program.stdout.readline().decode().split()
    descriptors = [os.pidfd_open(int(java)), os.pidfd_open(int(watchdog))]

    program.send_signal(number)
    program.communicate()

    for descriptor in descriptors:
        assert select.select([descriptor], [], [], 30)[0], "still running"
        os.close(descriptor)
    assert is_free(int(port))
    assert not Path(folder).exists()


def _create(broker: LocalBroker, name: str) -> None:
    admin = _admin(broker)
    admin.create_topics([NewTopic(name, 1, 1)])[name].result(timeout=30)


def _topics(broker: LocalBroker) -> set[str]:
    return set(_admin(broker).list_topics(timeout=30).topics)


def _admin(broker: LocalBroker) -> AdminClient:
    return AdminClient({"bootstrap.servers": broker.bootstrap_servers})
