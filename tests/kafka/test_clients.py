from __future__ import annotations

import os
import pickle
import signal
import socket
import subprocess
import sys
import threading
from typing import Any

import pytest
from confluent_kafka import KafkaError, KafkaException

from penstock.broker import LocalBroker
from penstock.errors import ConfigError
from penstock.kafka.admin import Admin
from penstock.kafka.clients import (
    check_clients,
    open_consumer,
    open_producer,
    open_range_consumer,
    plain_reason,
    translate,
)
from penstock.kafka.errors import AuthenticationFailed, BrokerUnreachable, KafkaClientError, TopicMissing

Settings = dict[str, Any]


@pytest.fixture
def nobody() -> Settings:
    """An address where no broker is."""
    with socket.socket() as s:
        s.bind(("127.0.0.1", 0))
        return {"bootstrap.servers": f"127.0.0.1:{s.getsockname()[1]}"}


def test_a_broker_that_is_not_there_is_named_with_the_cause_and_the_next_step(nobody: Settings) -> None:
    with pytest.raises(BrokerUnreachable) as caught:
        Admin(nobody, reachable_seconds=0.5).topics()
    text = str(caught.value)
    assert f"No Kafka broker answers at {nobody['bootstrap.servers']} within 0.5 seconds" in text
    assert "Connection refused" in text
    assert "`penstock broker start`" in text
    assert "after 0ms" not in text


def test_a_host_that_cannot_be_resolved_is_said_so() -> None:
    with pytest.raises(BrokerUnreachable, match=r"Failed to resolve 'broker\.invalid:9092'"):
        Admin({"bootstrap.servers": "broker.invalid:9092"}, reachable_seconds=0.5).topics()


@pytest.mark.broker
def test_a_broker_that_is_slow_is_waited_for() -> None:
    with LocalBroker() as broker:
        admin = Admin({"bootstrap.servers": broker.bootstrap_servers}, reachable_seconds=1)
        admin.topics()
        assert broker.pid
        os.kill(broker.pid, signal.SIGSTOP)
        goes_on = threading.Timer(3, os.kill, (broker.pid, signal.SIGCONT))
        goes_on.start()
        try:
            assert admin.topics() == {}
        finally:
            goes_on.join()


def test_a_server_that_is_no_broker_is_not_waited_for_long() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:

        def hang_up() -> None:
            server.accept()[0].close()

        hanging_up = threading.Thread(target=hang_up)
        hanging_up.start()
        address = f"127.0.0.1:{server.getsockname()[1]}"
        with pytest.raises(BrokerUnreachable, match=r"within 0\.5 seconds"):
            Admin({"bootstrap.servers": address}, reachable_seconds=0.5).topics()
        hanging_up.join()


@pytest.mark.parametrize("setting", [{"no.such.setting": 1}, {"acks": "many"}])
def test_a_bad_setting_is_a_config_error(setting: Settings) -> None:
    with pytest.raises(ConfigError, match="Kafka client settings cannot be used"):
        open_producer(setting)


@pytest.mark.parametrize("setting", [{"no.such.setting": 1}, {"stats_cb": 3}])
def test_a_bad_setting_has_a_next_step(setting: Settings) -> None:
    with pytest.raises(ConfigError) as raised:
        open_producer(setting)
    assert raised.value.hint


def test_what_ranges_rely_on_cannot_be_set_away(nobody: Settings) -> None:
    # A wrong value for one of these would fail if it were passed on.
    consumer = open_range_consumer({**nobody, "enable.partition.eof": "nonsense", "auto.offset.reset": "nonsense"})
    consumer.close()
    with pytest.raises(ConfigError, match=r"auto\.offset\.reset"):
        open_consumer({**nobody, "auto.offset.reset": "nonsense"})


@pytest.mark.parametrize(
    ("code", "kind"),
    [
        (KafkaError.UNKNOWN_TOPIC_OR_PART, TopicMissing),
        (KafkaError.TOPIC_AUTHORIZATION_FAILED, AuthenticationFailed),
        (KafkaError._TRANSPORT, BrokerUnreachable),
        (KafkaError.INVALID_TIMESTAMP, KafkaClientError),
    ],
)
def test_errors_are_translated(code: int, kind: type[Exception]) -> None:
    assert type(translate(KafkaException(KafkaError(code)), {}, topic="t")) is kind


def test_reasons_lose_their_decoration() -> None:
    assert plain_reason(KafkaError(KafkaError._TIMED_OUT)) == "Timed out"
    assert plain_reason(KafkaError(KafkaError.INVALID_TIMESTAMP)) == "Invalid timestamp"


def test_errors_survive_the_way_from_a_worker() -> None:
    error = pickle.loads(pickle.dumps(TopicMissing("oders", known=["orders"])))
    assert isinstance(error, TopicMissing)
    assert (error.topic, error.suggestion) == ("oders", "orders")
    assert "Did you mean 'orders'?" in str(error)


def test_importing_the_package_and_the_hash_imports_no_client_library() -> None:
    code = "import sys, penstock.kafka.murmur2, penstock.kafka.errors; sys.exit('confluent_kafka' in sys.modules)"
    assert subprocess.run([sys.executable, "-c", code], check=False).returncode == 0


@pytest.mark.broker
def test_a_broker_that_refuses_is_not_called_unreachable(settings: Settings) -> None:
    with pytest.raises(AuthenticationFailed, match=r"Check security\.protocol and the sasl"):
        Admin({**settings, "security.protocol": "SSL"}).topics()


@pytest.mark.broker
def test_keys_land_where_the_java_clients_put_them(settings: Settings, topic: Any, admin: Admin) -> None:
    name = topic(partitions=7)
    producer = open_producer(settings)
    for key in (b"21", b"foobar", b"abc"):
        producer.produce(name, b"v", key)
    assert producer.flush(30) == 0
    ends = admin.end_offsets([(name, partition) for partition in range(7)])
    assert {partition for (_, partition), end in ends.items() if end} == {3, 0, 4}


@pytest.mark.parametrize(("consumer", "producer"), [({"auto.offset.rest": "x"}, {}), ({}, {"compression.type": "lz5"})])
def test_settings_are_tried_before_a_task_needs_them(consumer: dict[str, str], producer: dict[str, str]) -> None:
    with pytest.raises(ConfigError, match=r"Kafka client settings cannot be used: .*(auto.offset.rest|lz5)"):
        check_clients(consumer, producer)
