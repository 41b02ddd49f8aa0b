"""TLS of the REST API: whom a worker lets in, and whom it trusts when it hands requests over."""

from __future__ import annotations

import ssl
from collections.abc import Mapping

from penstock.connect.errors import ConfigError
from penstock.connect.worker.rest_keys import CLIENT_AUTH, HTTPS, KEYSTORE, TRUSTSTORE

_CLIENTS = {"none": ssl.CERT_NONE, "requested": ssl.CERT_OPTIONAL, "required": ssl.CERT_REQUIRED}


def server_context(settings: Mapping[str, str]) -> ssl.SSLContext:
    """How the worker answers on https.

    Raises:
        ConfigError: A file or a setting cannot be used.
    """
    if not settings.get(KEYSTORE):
        raise ConfigError(
            f"A listener for https needs {KEYSTORE}", key=KEYSTORE, hint="Name a PEM file with certificate and key."
        )
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    _show_certificate(context, settings)
    clients = _clients(settings)
    if clients is not ssl.CERT_NONE:
        location = settings.get(TRUSTSTORE)
        if not location:
            raise ConfigError(
                f"{CLIENT_AUTH}={settings[CLIENT_AUTH]} needs {TRUSTSTORE}",
                key=TRUSTSTORE,
                hint="Name a PEM file with the certificates of the authorities that clients have theirs from.",
            )
        _trust(context, location)
        context.verify_mode = clients
    return context


def forwarding_context(settings: Mapping[str, str]) -> ssl.SSLContext | bool:
    """Whom this worker trusts when it hands requests over; True is the authorities everybody trusts.

    Raises:
        ConfigError: A file or a setting cannot be used.
    """
    location, clients = settings.get(TRUSTSTORE), _clients(settings)
    if not location:
        return True
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    _trust(context, location)
    if clients is not ssl.CERT_NONE and settings.get(KEYSTORE):
        # The leader asks its clients for certificates, too, and a worker that hands a request over is one.
        _show_certificate(context, settings)
    return context


def _clients(settings: Mapping[str, str]) -> ssl.VerifyMode:
    given = settings.get(CLIENT_AUTH, "").strip().lower() or "none"
    if given not in _CLIENTS:
        raise ConfigError(
            f"Invalid value {settings[CLIENT_AUTH]} for configuration {CLIENT_AUTH}: "
            f"String must be one of: {', '.join(_CLIENTS)}",
            key=CLIENT_AUTH,
        )
    return _CLIENTS[given]


def _show_certificate(context: ssl.SSLContext, settings: Mapping[str, str]) -> None:
    location = settings[KEYSTORE]
    password = settings.get(f"{HTTPS}key.password") or settings.get(f"{HTTPS}keystore.password")
    try:
        # Without a password OpenSSL would ask for one on the terminal.
        context.load_cert_chain(location, password=password or "")
    except OSError as error:
        reason = "it has no certificate and key" if isinstance(error, ssl.SSLError) else error.strerror
        raise ConfigError(
            f"{KEYSTORE}={location} cannot be used: {reason}",
            key=KEYSTORE,
            hint="Name a PEM file with certificate and key; Java key stores can be exported with openssl pkcs12.",
        ) from None


def _trust(context: ssl.SSLContext, location: str) -> None:
    try:
        context.load_verify_locations(cafile=location)
    except OSError as error:
        reason = "it has no certificate" if isinstance(error, ssl.SSLError) else error.strerror
        raise ConfigError(
            f"{TRUSTSTORE}={location} cannot be used: {reason}", key=TRUSTSTORE, hint="Name a PEM file."
        ) from None
