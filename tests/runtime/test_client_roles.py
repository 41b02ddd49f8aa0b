from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import ConfigError
from penstock.kafka.clients import open_admin, open_producer, open_range_consumer
from penstock.runtime.client_roles import client_roles, start_policy
from penstock.runtime.settings import Settings


def roles(**given: Any) -> dict[str, dict[str, Any]]:
    return client_roles(Settings({"bootstrap.servers": "h:1", **{k.replace("_", "."): v for k, v in given.items()}}))


def test_each_client_gets_its_own_settings() -> None:
    assert roles(
        security_protocol="SSL",
        consumer_fetch_max_bytes=1,
        producer_linger_ms=2,
        admin_retries=3,
        request_timeout_ms=40,
    ) == {
        "consumer": {
            "security.protocol": "SSL",
            "fetch.max.bytes": 1,
            "socket.timeout.ms": 40,
            "bootstrap.servers": "h:1",
        },
        "producer": {
            "security.protocol": "SSL",
            "linger.ms": 2,
            "request.timeout.ms": 40,
            "bootstrap.servers": "h:1",
        },
        "admin": {"security.protocol": "SSL", "retries": 3, "socket.timeout.ms": 40, "bootstrap.servers": "h:1"},
    }


def test_exactly_once_reads_committed_records() -> None:
    assert roles(processing_guarantee="exactly_once_v2")["consumer"]["isolation.level"] == "read_committed"
    assert "isolation.level" not in roles()["consumer"]


def test_what_the_application_decides_cannot_be_set(caplog: pytest.LogCaptureFixture) -> None:
    found = roles(consumer_group_id="mine", producer_transactional_id="mine", consumer_auto_offset_reset="latest")
    assert [client.keys() for client in found.values()] == [{"bootstrap.servers"}] * 3
    assert caplog.messages == [
        "the setting consumer.group.id is ignored: the application decides it",
        "the setting producer.transactional.id is ignored: the application decides it",
    ]


@pytest.mark.parametrize(
    ("given", "consumer", "producer", "admin"),
    [
        ({"request_timeout_ms": "60000"}, 60000, None, 60000),
        ({"request_timeout_ms": 1, "consumer_request_timeout_ms": 20}, 20, None, 10),
        ({"consumer_request_timeout_ms": 20, "main_consumer_request_timeout_ms": 30}, 30, None, None),
        ({"request_timeout_ms": 60000, "consumer_socket_timeout_ms": 50}, 50, None, 60000),
        ({"request_timeout_ms": 60000, "producer_socket_timeout_ms": 50}, 60000, 50, 60000),
        ({"request_timeout_ms": 600000}, 300000, None, 300000),
        ({"admin_request_timeout_ms": 60000}, None, None, 60000),
    ],
)
def test_how_long_a_request_may_take_is_said_as_the_client_library_knows_it(
    given: dict[str, Any], consumer: int | None, producer: int | None, admin: int | None
) -> None:
    found = roles(**given)
    assert [found[role].get("socket.timeout.ms") for role in ("consumer", "producer", "admin")] == [
        consumer, producer, admin,
    ]  # fmt: skip
    assert all("request.timeout.ms" not in found[role] for role in ("consumer", "admin"))
    open_range_consumer(found["consumer"]).close()
    open_admin(found["admin"])
    open_producer(found["producer"])


def test_a_request_timeout_the_client_library_does_not_take_is_said(caplog: pytest.LogCaptureFixture) -> None:
    roles(request_timeout_ms=600_000)
    assert caplog.messages == [
        f"the setting request.timeout.ms of the {role} is 600000, and 300000 is used: it takes from 10 to 300000"
        for role in ("consumer", "admin")
    ]
    with pytest.raises(ConfigError) as raised:
        roles(request_timeout_ms="long")
    assert (
        str(raised.value) == "the setting request.timeout.ms of the consumer is 'long'. Give a number of milliseconds."
    )


@pytest.mark.parametrize(
    ("given", "policy"),
    [
        ({}, {"policy": "earliest"}),
        ({"consumer.auto.offset.reset": "latest"}, {"policy": "latest"}),
        ({"main.consumer.auto.offset.reset": "none"}, {"policy": "none"}),
        ({"consumer.auto.offset.reset": "by_duration:P1DT0.5S"}, {"policy": "by_duration", "duration_ms": 86400500}),
    ],
)
def test_where_to_start(given: dict[str, str], policy: dict[str, Any]) -> None:
    assert start_policy(Settings(given)) == policy


@pytest.mark.parametrize("given", ["first", "by_duration", "by_duration:1h", "by_duration:P", "by_duration:PT"])
def test_a_policy_that_does_not_exist(given: str) -> None:
    with pytest.raises(ConfigError) as raised:
        start_policy(Settings({"consumer.auto.offset.reset": given}))
    assert str(raised.value) == (
        f"the setting consumer.auto.offset.reset is {given!r}. "
        "Give earliest, latest, none, or by_duration:PT1H for the records of the last hour."
    )
