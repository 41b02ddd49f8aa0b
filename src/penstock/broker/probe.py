"""Asking a broker whether it is there."""

from __future__ import annotations

import logging

from penstock.broker import errors

# librdkafka logs every refused connection; here a refusal is an answer, not news.
_SILENT = logging.Logger("penstock.broker.probe")  # noqa: LOG001 - it must not reach the user's handlers
_SILENT.addHandler(logging.NullHandler())


def answers(bootstrap_servers: str, *, timeout: float) -> bool:
    """Whether a broker answers a metadata request within `timeout` seconds."""
    from confluent_kafka import KafkaException
    from confluent_kafka.admin import AdminClient

    client = AdminClient(
        {
            "bootstrap.servers": bootstrap_servers,
            "reconnect.backoff.ms": 50,
            "reconnect.backoff.max.ms": 250,
            "socket.connection.setup.timeout.ms": max(1000, int(timeout * 1000)),
        },
        logger=_SILENT,
    )
    try:
        return bool(client.list_topics(timeout=timeout).brokers)
    except KafkaException:
        return False


def require_broker(bootstrap_servers: str, *, timeout: float = 5.0) -> None:
    """Return when a broker answers.

    Raises:
        BrokerError: None answered within `timeout` seconds.
    """
    if not answers(bootstrap_servers, timeout=timeout):
        raise errors.unreachable(bootstrap_servers, timeout)
