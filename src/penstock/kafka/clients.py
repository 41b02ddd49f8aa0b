"""Kafka clients with penstock's defaults, and their errors in penstock's words."""

from __future__ import annotations

import re
import socket
import time
from collections import deque
from collections.abc import Callable, Mapping
from typing import Any, TypeVar

from confluent_kafka import Consumer, KafkaError, KafkaException, Producer
from confluent_kafka.admin import AdminClient

from penstock.errors import ConfigError, PenstockError
from penstock.kafka.client_log import logger
from penstock.kafka.error_codes import ALL_BROKERS_DOWN, DENIED, UNKNOWN_TOPIC, UNREACHABLE
from penstock.kafka.errors import AuthenticationFailed, BrokerUnreachable, KafkaClientError, TopicMissing
from penstock.kafka.settings import Role, Settings, bootstrap_servers, client_settings

REACHABLE_SECONDS = 5.0
# A broker in a long collection of garbage, or on a machine that has too much to do, still accepts connections.
_SLOW_SECONDS = 30.0
_FIRST_STEP_SECONDS = 0.5

_COMMON: Mapping[str, Any] = {"client.id": "penstock", "log.connection.close": False}
_PRODUCER: Mapping[str, Any] = {
    # The library's own default partitioner is CRC32: keys would land elsewhere than the Java clients put them.
    "partitioner": "murmur2_random",
    "enable.idempotence": True,
    "linger.ms": 5,
    "queue.buffering.max.messages": 1_000_000,
    # A report for each record that arrived would cost more than producing it.
    "delivery.report.only.error": True,
}
_CONSUMER: Mapping[str, Any] = {"enable.auto.commit": False}
# Measured on a tail of ten records: 0.5 s with the library's defaults, 2 ms with these. The wait is what an answer to
# "nothing new" takes, and the next range waits for it; a consumer between two ranges has no assignment, so it does not poll.
_RANGE_CONSUMER: Mapping[str, Any] = {
    **_CONSUMER,
    "fetch.wait.max.ms": 1,
    "fetch.queue.backoff.ms": 1,
    # What is read ahead of a range is thrown away with it: more than the next few chunks costs the broker and us a tenth.
    "queued.min.messages": 30_000,
}
# What reading a range relies on, whatever the user's settings say.
_RANGE_CONSUMER_FIXED: Mapping[str, Any] = {
    "enable.auto.commit": False,
    "enable.partition.eof": True,
    "auto.offset.reset": "error",
}
_HANDSHAKE = re.compile(r"\bSSL\b|\bSASL\b|security\.protocol")
_EXPLAINED = {KafkaError.INVALID_RECORD: " (a compacted topic takes no record without a key)"}
C = TypeVar("C")


class ErrorEvents:
    """The last errors a client reported in the background: why a broker does not answer."""

    def __init__(self) -> None:
        self._events: deque[KafkaError] = deque(maxlen=16)
        self.count = 0

    def __call__(self, error: KafkaError) -> None:
        logger.debug("client error: %s", error)
        self.count += 1
        self._events.append(error)

    def denied(self) -> KafkaError | None:
        """The last refusal by a broker that does answer."""
        return next((event for event in reversed(self._events) if _is_denial(event)), None)

    def cause(self) -> str:
        """The most telling of the last errors, in the library's words without its decoration."""
        telling = [event for event in self._events if event.code() != ALL_BROKERS_DOWN]
        return plain_reason(telling[-1]) if telling else ""


def _is_denial(error: KafkaError) -> bool:
    # A handshake the other side hangs up on comes as a transport error; only its text tells.
    return error.code() in DENIED or (error.code() in UNREACHABLE and _HANDSHAKE.search(error.str()) is not None)


def open_consumer(settings: Settings, *, group_id: str = "penstock", fixed: Settings | None = None) -> Consumer:
    """A consumer that commits only when told to."""
    return _open(Consumer, settings, "consumer", {**_CONSUMER, "group.id": group_id}, fixed or {}, None)


def open_range_consumer(settings: Settings, *, group_id: str = "penstock") -> Consumer:
    """A consumer for `penstock.kafka.ranges`, to be kept and used for many ranges."""
    return _open(Consumer, settings, "consumer", {**_RANGE_CONSUMER, "group.id": group_id}, _RANGE_CONSUMER_FIXED, None)


def open_producer(settings: Settings, *, fixed: Settings | None = None, events: ErrorEvents | None = None) -> Producer:
    """A bare producer that partitions as the Java clients do; `penstock.kafka.transactions` has ones that report errors."""
    return _open(Producer, settings, "producer", _PRODUCER, fixed or {}, events)


def check_clients(consumer: Settings, producer: Settings) -> None:
    """Refuse settings that the clients of tasks could not be opened with.

    Raises:
        ConfigError: The client library does not know a setting, or not its value.
    """
    open_consumer(consumer).close()
    open_producer(producer)


def open_admin(settings: Settings, *, events: ErrorEvents | None = None) -> AdminClient:
    """A bare admin client; `penstock.kafka.admin.Admin` speaks in penstock's words."""
    return _open(AdminClient, settings, "admin", {}, {}, events)


def _open(
    kind: Callable[..., C],
    settings: Settings,
    role: Role,
    defaults: Settings,
    fixed: Settings,
    events: ErrorEvents | None,
) -> C:
    config = {**_COMMON, **defaults, **client_settings(settings, role), **fixed, "error_cb": events or ErrorEvents()}
    try:
        return kind(config, logger=logger)
    except KafkaException as error:
        raise _setting_error(error.args[0]) from None
    except (TypeError, ValueError) as error:
        raise ConfigError(
            f"Kafka client settings cannot be used: {error}",
            hint="Give values as text, numbers, or true and false; functions only where the client library takes one.",
        ) from None


def _setting_error(error: KafkaError) -> PenstockError:
    return ConfigError(
        f"Kafka client settings cannot be used: {plain_reason(error)}",
        hint="Settings have the names of Kafka's client configuration; see the list of librdkafka for what is known.",
    )


def require_broker(client: Any, settings: Settings, events: ErrorEvents, *, seconds: float = REACHABLE_SECONDS) -> Any:
    """The cluster's metadata, or a clear error within `seconds`.

    Asks in steps, because the library says why it cannot connect only between them. Each is longer than the one before:
    the library does not take an answer that comes after its question's time, so a broker with much to do would never be
    heard. A broker that accepts connections is given more than `seconds`: it is slow, not gone.
    """
    servers = bootstrap_servers(settings)
    started, errors_before = time.monotonic(), events.count
    deadline, step = started + seconds, _FIRST_STEP_SECONDS
    while True:
        try:
            return client.list_topics(timeout=max(0.05, min(step, deadline - time.monotonic())))
        except KafkaException as error:
            client.poll(0)
            denied = events.denied()
            if denied is not None:
                raise AuthenticationFailed(servers, cause=plain_reason(denied)) from None
            if error.args[0].code() not in UNREACHABLE:
                raise translate(error, settings) from None
            if time.monotonic() >= deadline:
                patient = started + max(seconds, _SLOW_SECONDS)
                if deadline >= patient or events.count > errors_before or not _accepts_connections(servers):
                    waited = deadline - started
                    raise BrokerUnreachable(servers, cause=events.cause(), seconds=waited) from None
                deadline = patient
            step *= 2


def _accepts_connections(servers: str) -> bool:
    """Whether something listens at one of the addresses."""
    for server in servers.split(","):
        host, _, port = server.strip().rpartition(":")
        try:
            socket.create_connection((host.rpartition("/")[2].strip("[]"), int(port)), timeout=1).close()
        except (OSError, ValueError):
            continue
        return True
    return False


def translate(error: KafkaException | KafkaError, settings: Settings, *, topic: str | None = None) -> PenstockError:
    """The penstock error for one of the client library's."""
    kafka_error: KafkaError = error.args[0] if isinstance(error, KafkaException) else error
    code = kafka_error.code()
    if code in UNKNOWN_TOPIC and topic is not None:
        return TopicMissing(topic)
    if code in DENIED:
        return AuthenticationFailed(bootstrap_servers(settings), cause=plain_reason(kafka_error))
    if code in UNREACHABLE:
        return BrokerUnreachable(bootstrap_servers(settings), cause=plain_reason(kafka_error))
    return KafkaClientError(f"Kafka refused: {plain_reason(kafka_error)} ({kafka_error.name()})")


def plain_reason(error: KafkaError) -> str:
    """What the library says, without its prefixes and timings.

    >>> plain_reason(KafkaError(-195, "localhost:1/bootstrap: Connect failed: refused (after 0ms in state CONNECT)"))
    'Connect failed: refused'
    """
    text = str(error.str())
    text = text.partition("/bootstrap: ")[2] or text
    return text.removeprefix("Local: ").removeprefix("Broker: ").partition(" (after ")[0] + _EXPLAINED.get(
        error.code(), ""
    )
