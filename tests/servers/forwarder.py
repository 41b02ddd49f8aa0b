"""A network that can be cut: a port that passes everything on to another one."""

from __future__ import annotations

import contextlib
import socket
import threading

from typing_extensions import Self

_CHUNK = 65_536


class Forwarder:
    """Passes connections on, until it is cut.

    Args:
        target: The port to pass on to.
    """

    def __init__(self, target: int) -> None:
        self._target = target
        self.port = 0
        self._listening: socket.socket | None = None
        self._open: list[socket.socket] = []

    def __enter__(self) -> Self:
        self.join_again()
        return self

    def __exit__(self, *_: object) -> None:
        self.cut()

    def join_again(self) -> None:
        """Listen, on the same port as before."""
        self._listening = socket.create_server(("127.0.0.1", self.port))
        self.port = self._listening.getsockname()[1]
        threading.Thread(target=self._accept, args=(self._listening,), daemon=True).start()

    def cut(self) -> None:
        """Close all connections, and the port."""
        if self._listening is not None:
            with contextlib.suppress(OSError):
                self._listening.shutdown(socket.SHUT_RDWR)  # wakes the thread that accepts
            self._listening.close()
        while self._open:
            one = self._open.pop()
            with contextlib.suppress(OSError):
                one.shutdown(socket.SHUT_RDWR)
            one.close()

    def _accept(self, listening: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while True:
                client, _ = listening.accept()
                server = socket.create_connection(("127.0.0.1", self._target))
                self._open += [client, server]
                for source, target in ((client, server), (server, client)):
                    threading.Thread(target=self._pass_on, args=(source, target), daemon=True).start()

    @staticmethod
    def _pass_on(source: socket.socket, target: socket.socket) -> None:
        with contextlib.suppress(OSError):
            while data := source.recv(_CHUNK):
                target.sendall(data)
            target.shutdown(socket.SHUT_WR)
