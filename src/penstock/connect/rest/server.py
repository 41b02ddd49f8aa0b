"""The servers of a worker's REST API, each listener in one event loop on a thread of its own."""

from __future__ import annotations

import asyncio
import socket
import threading
from collections.abc import Mapping, Sequence

import uvicorn
from starlette.types import ASGIApp

from penstock.connect.errors import ConnectError
from penstock.connect.rest.tls import server_context
from penstock.connect.worker.listener import Listener

_STOP_SECONDS = 5


class BoundListener:
    """A listener whose port is taken: nobody is answered yet.

    Args:
        listener: The address; port 0 takes a free one.

    Raises:
        ConnectError: The port is taken already.
    """

    def __init__(self, listener: Listener) -> None:
        family = socket.AF_INET6 if ":" in listener.host else socket.AF_INET
        # The protocol is named so that asyncio knows it: otherwise answers wait 40 ms for the client's acknowledgement.
        self.socket = socket.socket(family, socket.SOCK_STREAM, socket.IPPROTO_TCP)
        self.socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        try:
            self.socket.bind((listener.host, listener.port))
            self.socket.listen(2048)
        except OSError as error:
            self.socket.close()
            raise ConnectError(
                f"The REST API cannot listen on {listener.url}: {error.strerror}",
                hint="Another worker may run there; set listeners to another address.",
            ) from None
        self.listener = Listener(listener.scheme, listener.host, self.socket.getsockname()[1])


class RestServer:
    """Answers requests on some listeners until it is closed.

    Args:
        bound: Where it listens, each with the application that answers.
        settings: The worker's settings, for https.
    """

    def __init__(self, bound: Sequence[tuple[BoundListener, ASGIApp]], settings: Mapping[str, str]) -> None:
        self._servers = [(uvicorn.Server(_config(one.listener, app, settings)), one.socket) for one, app in bound]
        self._thread = threading.Thread(target=self._run, name="connect-rest", daemon=True)
        self._failure: BaseException | None = None
        self._started = threading.Event()

    def start(self) -> None:
        """Starts answering.

        Raises:
            ConnectError: The server could not be started.
        """
        self._thread.start()
        while not self._started.wait(0.01):
            if not self._thread.is_alive():
                raise ConnectError(f"The REST API could not be started: {self._failure}")

    def close(self) -> None:
        """Answers what is under way, and ends."""
        for server, bound in self._servers:
            server.should_exit = True
            if not self._thread.is_alive():
                bound.close()
        if self._thread.is_alive():
            self._thread.join(_STOP_SECONDS * 2)

    def _run(self) -> None:
        try:
            asyncio.run(self._serve())
        except BaseException as error:  # noqa: BLE001 - start() reports it
            self._failure = error

    async def _serve(self) -> None:
        serving = [asyncio.create_task(server.serve(sockets=[bound])) for server, bound in self._servers]
        while not all(server.started for server, _ in self._servers):
            if any(task.done() for task in serving):
                break
            await asyncio.sleep(0.01)
        else:
            self._started.set()
        await asyncio.gather(*serving)


def _config(listener: Listener, app: ASGIApp, settings: Mapping[str, str]) -> uvicorn.Config:
    config = uvicorn.Config(
        app,
        log_config=None,
        access_log=False,
        lifespan="off",
        timeout_graceful_shutdown=_STOP_SECONDS,
        server_header=False,
        date_header=True,
    )
    if listener.scheme == "https":
        # Loaded here, so that a bad file is told before the server runs.
        config.load()
        config.ssl = server_context(settings)
    return config
