"""Client settings under Kafka's names, as the Java clients know them, for the client library underneath.

Most names are the same. This module holds the ones that differ: renamed keys, renamed values, and the security
settings that the Java clients keep in key stores or in JAAS lines.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any, Literal

from penstock.errors import ConfigError
from penstock.kafka.client_log import logger

Role = Literal["consumer", "producer", "admin"]
Settings = Mapping[str, Any]

BOOTSTRAP_SERVERS = "bootstrap.servers"
DEFAULT_BOOTSTRAP_SERVERS = "localhost:9092"
_ROLES: tuple[Role, ...] = ("consumer", "producer", "admin")

_RENAMED = {
    "fetch.max.wait.ms": "fetch.wait.max.ms",
    "max.request.size": "message.max.bytes",
    "send.buffer.bytes": "socket.send.buffer.bytes",
    "receive.buffer.bytes": "socket.receive.buffer.bytes",
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
_RENAMED_VALUES = {
    ("auto.offset.reset", "none"): "error",
    ("ssl.endpoint.identification.algorithm", ""): "none",
}
# Settings of a Java client that have no counterpart because they tune its own threads, classes or buffers.
_WITHOUT_COUNTERPART = frozenset(
    {
        "buffer.memory",
        "default.api.timeout.ms",
        "exclude.internal.topics",
        "interceptor.classes",
        "key.deserializer",
        "key.serializer",
        "max.block.ms",
        "max.poll.records",
        "metric.reporters",
        "metrics.num.samples",
        "partitioner.class",
        "security.providers",
        "ssl.enabled.protocols",
        "ssl.protocol",
        "value.deserializer",
        "value.serializer",
    }
)
_JAAS_OPTION = re.compile(r"""(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'((?:[^'\\]|\\.)*)'|([^\s;"']+))""")
_PEM_SUFFIXES = (".pem", ".crt", ".cer", ".ca-bundle")
_PKCS12_SUFFIXES = (".p12", ".pfx")


def bootstrap_servers(settings: Settings) -> str:
    """The bootstrap servers in these settings, or Kafka's usual local address."""
    value = settings.get(BOOTSTRAP_SERVERS) or DEFAULT_BOOTSTRAP_SERVERS
    return value if isinstance(value, str) else ",".join(map(str, value))


def client_settings(settings: Settings, role: Role) -> dict[str, Any]:
    """Settings for one kind of client.

    A key with the prefix of a role (`consumer.`, `producer.`, `admin.`) counts for that role only and wins over the
    plain key, as in Kafka Streams.

    >>> client_settings({"linger.ms": 5, "producer.linger.ms": 50, "consumer.fetch.max.wait.ms": 10}, "producer")
    {'bootstrap.servers': 'localhost:9092', 'linger.ms': 50}
    """
    plain = {key: value for key, value in settings.items() if not key.startswith(tuple(f"{r}." for r in _ROLES))}
    own = {key[len(role) + 1 :]: value for key, value in settings.items() if key.startswith(f"{role}.")}
    merged = {**plain, **own}
    result: dict[str, Any] = {BOOTSTRAP_SERVERS: bootstrap_servers(merged)}
    security = _security(merged)
    for key, value in merged.items():
        if key == BOOTSTRAP_SERVERS or key in security.consumed:
            continue
        if key in _WITHOUT_COUNTERPART:
            logger.debug("%s concerns Java's clients only", key)
            continue
        result[_RENAMED.get(key, key)] = _RENAMED_VALUES.get((key, value), value) if isinstance(value, str) else value
    result.update(security.settings)
    return result


class _Security:
    """Security settings found under Java's names: which keys they came from, and what they become."""

    def __init__(self) -> None:
        self.consumed: set[str] = set()
        self.settings: dict[str, Any] = {}


def _security(settings: Settings) -> _Security:
    found = _Security()
    if "sasl.jaas.config" in settings:
        found.consumed.add("sasl.jaas.config")
        found.settings.update(_jaas(str(settings["sasl.jaas.config"])))
    _trust_store(settings, found)
    _key_store(settings, found)
    return found


def _jaas(line: str) -> dict[str, str]:
    options = {name: dq or sq or bare for name, dq, sq, bare in _JAAS_OPTION.findall(line)}
    if not line.strip().partition(" ")[0].endswith(("PlainLoginModule", "ScramLoginModule")) or not {
        "username",
        "password",
    } <= set(options):
        raise ConfigError(
            "sasl.jaas.config is understood for PlainLoginModule and ScramLoginModule with username and password only",
            hint="Give sasl.username and sasl.password, or the sasl.oauthbearer.* or sasl.kerberos.* settings, instead.",
        )
    return {"sasl.username": options["username"], "sasl.password": options["password"]}


def _trust_store(settings: Settings, found: _Security) -> None:
    location = settings.get("ssl.truststore.location")
    found.consumed.update({"ssl.truststore.location", "ssl.truststore.type", "ssl.truststore.password"})
    if location is None:
        return
    kind = str(settings.get("ssl.truststore.type", "")).upper()
    if kind != "PEM" and not str(location).lower().endswith(_PEM_SUFFIXES):
        raise ConfigError(
            f"ssl.truststore.location={location} is a Java key store, which only Java can read",
            hint="Export the certificates as PEM (keytool -exportcert -rfc) and set ssl.ca.location to that file.",
        )
    found.settings["ssl.ca.location"] = location


def _key_store(settings: Settings, found: _Security) -> None:
    location = settings.get("ssl.keystore.location")
    found.consumed.add("ssl.keystore.type")
    if location is None:
        return
    kind = str(settings.get("ssl.keystore.type", "")).upper()
    lowered = str(location).lower()
    if kind == "PEM" or lowered.endswith(_PEM_SUFFIXES):
        found.consumed.update({"ssl.keystore.location", "ssl.keystore.password"})
        # A PEM key store holds the certificate chain and the key in one file.
        found.settings["ssl.certificate.location"] = location
        found.settings["ssl.key.location"] = location
    elif kind != "PKCS12" and not lowered.endswith(_PKCS12_SUFFIXES):
        raise ConfigError(
            f"ssl.keystore.location={location} is a Java key store, which only Java can read",
            hint="Convert it with keytool -importkeystore -deststoretype PKCS12 and set ssl.keystore.type=PKCS12.",
        )
