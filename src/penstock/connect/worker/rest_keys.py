"""The settings of a worker's REST API, under Kafka Connect's names."""

from __future__ import annotations

from penstock.connect.config import ConfigKey, ConfigType, Importance
from penstock.connect.config.validators import OneOf

REST = "REST API"
HTTPS = "listeners.https.ssl."
KEYSTORE = f"{HTTPS}keystore.location"
TRUSTSTORE = f"{HTTPS}truststore.location"
CLIENT_AUTH = f"{HTTPS}client.auth"

# Certificates are in PEM files, and TLS is that of Python: 1.2 and 1.3, with OpenSSL's ciphers.
_OF_JAVA = (
    "keystore.type", "truststore.type", "truststore.password", "protocol", "enabled.protocols", "cipher.suites", "provider",
    "keymanager.algorithm", "trustmanager.algorithm", "endpoint.identification.algorithm", "secure.random.implementation",
    "engine.factory.class",
)  # fmt: skip


def no_effect(name: str, kind: ConfigType, default: object, group: str, why: str = "") -> ConfigKey:
    """A setting that is accepted because files of Kafka Connect have it."""
    doc = f"Accepted, without effect: {why}." if why else "Accepted, without effect."
    return ConfigKey(name=name, type=kind, default=default, importance=Importance.LOW, doc=doc, group=group)


_HTTPS_KEYS = (
    ConfigKey(
        name=KEYSTORE,
        default=None,
        importance=Importance.MEDIUM,
        doc="PEM file with the certificate and key of listeners for https.",
        group=REST,
    ),
    ConfigKey(
        name=f"{HTTPS}keystore.password",
        type=ConfigType.PASSWORD,
        default=None,
        importance=Importance.MEDIUM,
        doc="Password of that key, unless listeners.https.ssl.key.password is set.",
        group=REST,
    ),
    ConfigKey(
        name=f"{HTTPS}key.password",
        type=ConfigType.PASSWORD,
        default=None,
        importance=Importance.MEDIUM,
        doc="Password of that key.",
        group=REST,
    ),
    ConfigKey(
        name=TRUSTSTORE,
        default=None,
        importance=Importance.MEDIUM,
        doc="PEM file with the certificates of those to trust: clients, and other workers.",
        group=REST,
    ),
    ConfigKey(
        name=CLIENT_AUTH,
        default="none",
        validator=OneOf("none", "requested", "required", ignore_case=True),
        importance=Importance.MEDIUM,
        doc="Whether clients have to show a certificate that listeners.https.ssl.truststore.location trusts. Workers show "
        "theirs to each other.",
        group=REST,
    ),
    *(
        no_effect(f"{HTTPS}{name}", ConfigType.STRING, None, REST, "certificates are PEM files, TLS is 1.2 or 1.3")
        for name in _OF_JAVA
    ),
)

REST_KEYS = (
    ConfigKey(
        name="listeners",
        type=ConfigType.LIST,
        default="http://:8083",
        importance=Importance.MEDIUM,
        doc="Addresses of the REST API: http://host:port or https://host:port, several with commas; no host is all "
        "interfaces. https needs `listeners.https.ssl.keystore.location`.",
        group=REST,
    ),
    ConfigKey(
        name="admin.listeners",
        type=ConfigType.LIST,
        default=None,
        importance=Importance.LOW,
        doc="Addresses for /admin; not set: those of listeners; empty: /admin is switched off.",
        group=REST,
    ),
    ConfigKey(
        name="rest.advertised.host.name",
        default=None,
        importance=Importance.LOW,
        doc="Host under which other workers and worker_id know this one.",
        group=REST,
    ),
    ConfigKey(
        name="rest.advertised.port",
        type=ConfigType.INT,
        default=None,
        importance=Importance.LOW,
        doc="Port under which other workers and worker_id know this one.",
        group=REST,
    ),
    ConfigKey(
        name="rest.advertised.listener",
        default=None,
        importance=Importance.LOW,
        doc="The protocol other workers use, if there are several listeners: http or https.",
        group=REST,
    ),
    ConfigKey(
        name="rest.extension.classes",
        type=ConfigType.LIST,
        default="",
        importance=Importance.LOW,
        doc="BasicAuthSecurityRestExtension asks for user and password; see basic.auth.credentials.file.",
        group=REST,
    ),
    ConfigKey(
        name="basic.auth.credentials.file",
        default=None,
        importance=Importance.LOW,
        doc="Properties file with `user=password` lines for BasicAuthSecurityRestExtension. Not set: the file that "
        "PropertyFileLoginModule names in the JAAS file of KAFKA_OPTS.",
        group=REST,
    ),
    ConfigKey(
        name="access.control.allow.origin",
        default="",
        importance=Importance.LOW,
        doc="Access-Control-Allow-Origin of answers, for web pages from elsewhere; several with commas, `*` for all.",
        group=REST,
    ),
    ConfigKey(
        name="access.control.allow.methods",
        default="",
        importance=Importance.LOW,
        doc="Methods web pages from elsewhere may use; empty: GET, POST and HEAD.",
        group=REST,
    ),
    ConfigKey(
        name="response.http.headers.config",
        default="",
        importance=Importance.LOW,
        doc="Headers for every answer: `[set|add|setDate|addDate] Name: value`, several with commas.",
        group=REST,
    ),
    *_HTTPS_KEYS,
)
