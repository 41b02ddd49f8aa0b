"""TLS by Kafka's ssl.* settings, from PEM files."""

from __future__ import annotations

import ssl
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.connect.config import ConfigKey, ConfigType, Importance
from penstock.connect.errors import ConfigError

_TRUSTSTORE = "ssl.truststore.location"
_TRUSTSTORE_TYPE = "ssl.truststore.type"
_TRUSTSTORE_PASSWORD = "ssl.truststore.password"  # noqa: S105 - a setting's name
_KEYSTORE = "ssl.keystore.location"
_KEYSTORE_TYPE = "ssl.keystore.type"
_KEYSTORE_PASSWORD = "ssl.keystore.password"  # noqa: S105 - a setting's name
_KEY_PASSWORD = "ssl.key.password"  # noqa: S105 - a setting's name
_IDENTIFICATION = "ssl.endpoint.identification.algorithm"


def tls_keys(prefix: str, group: str) -> tuple[ConfigKey, ...]:
    """The settings of TLS, under a prefix."""
    low, secret = Importance.LOW, ConfigType.PASSWORD
    return (
        ConfigKey(name=prefix + _TRUSTSTORE, default=None, group=group, doc="PEM file with the certificates to trust; those of the system if it is not set."),
        ConfigKey(name=prefix + _TRUSTSTORE_TYPE, default="PEM", importance=low, group=group, doc="Without effect: the file has to be PEM."),
        ConfigKey(name=prefix + _TRUSTSTORE_PASSWORD, type=secret, default=None, importance=low, group=group, doc="Without effect: certificates in PEM files have none."),
        ConfigKey(name=prefix + _KEYSTORE, default=None, group=group, doc="PEM file with the client's own certificate and key."),
        ConfigKey(name=prefix + _KEYSTORE_TYPE, default="PEM", importance=low, group=group, doc="Without effect: the file has to be PEM."),
        ConfigKey(name=prefix + _KEYSTORE_PASSWORD, type=secret, default=None, importance=low, group=group, doc="Password of the client's key, unless ssl.key.password is set."),
        ConfigKey(name=prefix + _KEY_PASSWORD, type=secret, default=None, importance=low, group=group, doc="Password of the client's key."),
        ConfigKey(name=prefix + _IDENTIFICATION, default="https", importance=low, group=group, doc="https: the certificate must be that of the URL's host. An empty text does not look."),
    )  # fmt: skip


def check_stores(settings: Mapping[str, Any], prefix: str) -> None:
    """Whether the files are there and PEM.

    Raises:
        ConfigError: One is not; it says how to make one.
    """
    for name, export in (
        (_TRUSTSTORE, "keytool -exportcert -rfc -alias NAME -keystore FILE"),
        (_KEYSTORE, "openssl pkcs12 -in FILE"),
    ):
        path = settings[prefix + name]
        if not path:
            continue
        try:
            text = Path(path).read_bytes()
        except OSError as error:
            raise ConfigError(f"{prefix}{name}: {path} cannot be read: {error.strerror}", key=prefix + name) from error
        if b"-----BEGIN " not in text:
            raise ConfigError(
                f"{prefix}{name}: {path} is not a PEM file", key=prefix + name, hint=f"Make one with: {export}"
            )


def tls_context(settings: Mapping[str, Any], prefix: str) -> ssl.SSLContext:
    """What to trust and who we are.

    Raises:
        ConfigError: A file cannot be used.
    """
    check_stores(settings, prefix)
    context = ssl.create_default_context(cafile=settings[prefix + _TRUSTSTORE] or None)
    if not settings[prefix + _IDENTIFICATION]:
        context.check_hostname = False
    if settings[prefix + _KEYSTORE]:
        password = settings[prefix + _KEY_PASSWORD] or settings[prefix + _KEYSTORE_PASSWORD]
        try:
            # Without a password OpenSSL would ask for one on the terminal.
            context.load_cert_chain(
                settings[prefix + _KEYSTORE], password=password.value if password is not None else ""
            )
        except (ssl.SSLError, OSError) as error:
            raise ConfigError(
                f"{settings[prefix + _KEYSTORE]} has no certificate with a key that can be used: {error}",
                key=prefix + _KEYSTORE,
                hint="It must hold a certificate and its key in PEM; a key with a password needs ssl.key.password.",
            ) from error
    return context
