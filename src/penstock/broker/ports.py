"""Choosing TCP ports on the local machine."""

from __future__ import annotations

import errno
import random
import socket

from penstock.broker.settings import HOST

# Below the range from which systems number outgoing connections: a port from that range can be taken by any client
# while the broker is down, and a client that reconnects to it can even end up connected to itself.
_CANDIDATES = range(20_000, 32_000)


def is_free(port: int) -> bool:
    """Whether a server could listen on `port` now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            probe.bind((HOST, port))
        except OSError as error:
            # Anything else, such as a port below 1024, is for the broker to report.
            return error.errno != errno.EADDRINUSE
        return True


def is_open(port: int) -> bool:
    """Whether a server listens on `port` now."""
    with socket.socket(socket.AF_INET, socket.SOCK_STREAM) as probe:
        probe.settimeout(1.0)
        return probe.connect_ex((HOST, port)) == 0


def free_port() -> int:
    """A port nobody listens on now; somebody else may take it before you do."""
    while True:
        port = random.choice(_CANDIDATES)
        if is_free(port):
            return port
