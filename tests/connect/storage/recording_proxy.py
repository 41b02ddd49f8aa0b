"""A proxy that passes nothing on: it remembers what it was asked, and answers that all is well."""

from __future__ import annotations

import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from types import TracebackType

from typing_extensions import Self


class RecordingProxy:
    """A proxy for the length of a `with` block.

    Attributes:
        asked: Method and address of each request.
        credentials: What each request had to say to the proxy.
    """

    def __init__(self) -> None:
        asked: list[str] = []
        credentials: list[str | None] = []

        class Handler(BaseHTTPRequestHandler):
            def do_HEAD(self) -> None:
                asked.append(f"{self.command} {self.path}")
                credentials.append(self.headers.get("Proxy-Authorization"))
                self.send_response(200)
                self.end_headers()

            def log_message(self, *_: object) -> None:
                """Say nothing."""

        self.asked, self.credentials = asked, credentials
        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self.host = f"127.0.0.1:{self._server.server_port}"
        self._thread = threading.Thread(target=self._server.serve_forever, kwargs={"poll_interval": 0.01})

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()
