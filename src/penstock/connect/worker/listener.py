"""Addresses of the REST API."""

from __future__ import annotations

import socket
from collections.abc import Iterable
from dataclasses import dataclass
from urllib.parse import urlsplit

from penstock.connect.errors import invalid_value

_DEFAULT_PORT = 8083


@dataclass(frozen=True, slots=True)
class Listener:
    """An address to listen on; no host is all interfaces, port 0 any free one."""

    scheme: str
    host: str
    port: int

    @property
    def url(self) -> str:
        """The address as clients write it."""
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{self.scheme}://{host}:{self.port}"


def parse_listeners(key: str, texts: Iterable[str]) -> list[Listener]:
    """Addresses from settings.

    >>> parse_listeners("listeners", ["http://:8083", "https://example.org:8443"])[1].host
    'example.org'

    Raises:
        ConfigError: One is no address.
    """
    return [_listener(key, text) for text in texts]


def _listener(key: str, text: str) -> Listener:
    try:
        parts = urlsplit(text)
        scheme, host, port = parts.scheme.lower(), parts.hostname or "", parts.port
    except ValueError as error:
        raise invalid_value(key, text, str(error), hint="Write http://host:port or https://host:port.") from None
    if scheme not in {"http", "https"} or parts.path not in {"", "/"} or not parts.netloc:
        raise invalid_value(key, text, "Not an address", hint="Write http://host:port or https://host:port.")
    return Listener(scheme, host, _DEFAULT_PORT if port is None else port)


def local_host_name() -> str:
    """This machine's name, if it can be resolved; other workers reach it under that."""
    name = socket.gethostname()
    try:
        socket.getaddrinfo(name, None)
    except OSError:
        return "localhost"
    return name
