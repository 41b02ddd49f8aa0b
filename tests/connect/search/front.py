"""What stands between a sink and its cluster in production: HTTP servers that ask for a password, speak TLS, are slow, or fail.

A server that passes every request on to a real one, on a port of its own.
"""

from __future__ import annotations

import base64
import ssl
import threading
import time
from collections.abc import Mapping
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import httpx
from typing_extensions import Self


class Front:
    """Passes requests on, for the length of a `with` block.

    Attributes:
        seen: Method and path of each request, and whether it was compressed.
        delays: Seconds to wait before each of the next answers.
        failures: Statuses to give for the next requests instead of passing them on.

    Args:
        target: URL of the real server.
        user: Who may come in.
        password: The password.
        proxy: Whether it is a proxy, which is given whole URLs and wants its own credentials.
        certificate: A PEM file with certificate and key; then it speaks TLS.
        client_authority: A PEM file; then clients need a certificate that this one has signed.
    """

    def __init__(
        self,
        target: str,
        *,
        user: str = "",
        password: str = "",
        proxy: bool = False,
        certificate: Path | None = None,
        client_authority: Path | None = None,
    ) -> None:
        self.seen: list[tuple[str, str, bool]] = []
        self.delays: list[float] = []
        self.failures: list[int] = []
        self._http = httpx.Client(base_url=target, timeout=60, trust_env=False)
        expected = f"Basic {base64.b64encode(f'{user}:{password}'.encode()).decode()}" if user else ""
        front = self

        class Handler(BaseHTTPRequestHandler):
            protocol_version = "HTTP/1.1"

            def _pass_on(self) -> None:
                front._pass_on(self, "Proxy-Authorization" if proxy else "Authorization", expected)

            do_GET = do_HEAD = do_PUT = do_POST = _pass_on  # noqa: N815 - the names the class looks for

            def log_message(self, *_: object) -> None:
                pass

        self._server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
        self._server.daemon_threads = True
        self.port = self._server.server_address[1]
        self.url = f"{'https' if certificate else 'http'}://127.0.0.1:{self.port}"
        if certificate is not None:
            context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
            context.load_cert_chain(certificate)
            if client_authority is not None:
                context.verify_mode = ssl.CERT_REQUIRED
                context.load_verify_locations(client_authority)
            self._server.socket = context.wrap_socket(
                self._server.socket, server_side=True, do_handshake_on_connect=False
            )

    def __enter__(self) -> Self:
        self._thread = threading.Thread(target=self._server.serve_forever, args=(0.05,), daemon=True)
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._server.shutdown()
        self._thread.join()
        self._server.server_close()
        self._http.close()

    def _pass_on(self, request: BaseHTTPRequestHandler, header: str, expected: str) -> None:
        body = request.rfile.read(int(request.headers.get("Content-Length", 0)))
        path = request.path if request.path.startswith("/") else httpx.URL(request.path).raw_path.decode()
        self.seen.append((request.command, path, request.headers.get("Content-Encoding") == "gzip"))
        if expected and request.headers.get(header) != expected:
            _answer(request, 407 if header.startswith("Proxy") else 401, b'{"error": "who are you?"}', {})
            return
        if self.failures:
            _answer(request, self.failures.pop(0), b"<html>not now</html>", {"Content-Type": "text/html"})
            return
        passed = {
            name: request.headers[name] for name in ("Content-Type", "Content-Encoding") if name in request.headers
        }
        answer = self._http.request(request.command, path, content=body, headers=passed)
        if self.delays:
            time.sleep(self.delays.pop(0))
        _answer(request, answer.status_code, answer.content, {"Content-Type": "application/json"})


def _answer(request: BaseHTTPRequestHandler, status: int, content: bytes, headers: Mapping[str, str]) -> None:
    try:
        request.send_response(status)
        for name, value in {**headers, "Content-Length": str(len(content))}.items():
            request.send_header(name, value)
        request.end_headers()
        if request.command != "HEAD":
            request.wfile.write(content)
    except OSError:
        request.close_connection = True  # the client did not wait
