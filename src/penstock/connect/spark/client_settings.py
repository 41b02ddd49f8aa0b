"""Settings of the Kafka clients of a connector: the worker's, and what the connector puts over them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.connect.plugins import subset

ROLES = ("consumer", "producer", "admin")
_CONVERTERS = ("key.converter", "value.converter", "header.converter")
# The worker's own connections, which its admin client shares: bootstrap servers and how to log in.
_OWN = ("bootstrap.servers", "security.", "sasl.", "ssl.", "client.")


def client_roles(worker: Mapping[str, str], connector: Mapping[str, str]) -> dict[str, dict[str, Any]]:
    """Client settings by role, as Kafka Connect composes them.

    >>> client_roles({"bootstrap.servers": "b", "producer.linger.ms": "5"}, {"producer.override.linger.ms": "9"})[
    ...     "producer"
    ... ]
    {'bootstrap.servers': 'b', 'linger.ms': '9'}
    """
    servers = {"bootstrap.servers": worker["bootstrap.servers"]} if "bootstrap.servers" in worker else {}
    roles: dict[str, dict[str, Any]] = {}
    for role in ROLES:
        base = {key: value for key, value in worker.items() if key.startswith(_OWN)} if role == "admin" else servers
        roles[role] = {**base, **subset(worker, f"{role}."), **subset(connector, f"{role}.override.")}
    roles["consumer"].pop("group.id", None)
    return roles


def with_converters(worker: Mapping[str, str], connector: Mapping[str, str]) -> dict[str, str]:
    """The connector's settings, with the worker's converters where it names none of its own."""
    merged = dict(connector)
    for key in _CONVERTERS:
        if key not in connector and key in worker:
            merged = {name: value for name, value in merged.items() if not name.startswith(f"{key}.")}
            merged[key] = worker[key]
            merged.update({f"{key}.{name}": value for name, value in subset(worker, f"{key}.").items()})
    return merged
