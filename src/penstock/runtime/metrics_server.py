"""An HTTP endpoint for metrics."""

from __future__ import annotations

import threading
from collections.abc import Callable
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from penstock.errors import ConfigError

CONTENT_TYPE = "text/plain; version=0.0.4; charset=utf-8"


class MetricsServer:
    """Serves `/metrics` until it is closed.

    Args:
        host: Address to listen on.
        port: Port to listen on; 0 takes a free one.
        text: Gives the page.
    """

    def __init__(self, host: str, port: int, text: Callable[[], str]) -> None:
        try:
            self._server = ThreadingHTTPServer((host, port), _handler(text))
        except OSError as error:
            raise ConfigError(
                f"penstock.metrics.port={port} cannot be opened on {host}: {error.strerror or error}",
                hint="Give another port, or 0 for a free one.",
            ) from error
        self._server.daemon_threads = True
        self._thread = threading.Thread(target=self._server.serve_forever, name="penstock-metrics", daemon=True)
        self._thread.start()

    @property
    def port(self) -> int:
        """The port it listens on."""
        return int(self._server.server_address[1])

    def close(self) -> None:
        """Stop listening."""
        self._server.shutdown()
        self._server.server_close()
        self._thread.join()


def _handler(text: Callable[[], str]) -> type[BaseHTTPRequestHandler]:
    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            if self.path.partition("?")[0] != "/metrics":
                self.send_error(404, "See /metrics")
                return
            page = text().encode()
            self.send_response(200)
            self.send_header("Content-Type", CONTENT_TYPE)
            self.send_header("Content-Length", str(len(page)))
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, format: str, *args: Any) -> None:  # noqa: A002 - the base class's name
            """Requests are not worth a line in the application's log."""

    return Handler
