"""HTTP requests to a cluster: credentials, TLS, compression, and another node where one does not answer."""

from __future__ import annotations

import gzip
import random
import threading
import time
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx
import orjson

from penstock.connect.connectors.search import keys
from penstock.connect.connectors.search.nodes import Nodes
from penstock.connect.connectors.search.tls import tls_context
from penstock.connect.errors import ConnectError, shown

# Too many requests, and what a node or a proxy says that cannot serve right now.
RETRIABLE = frozenset({429, 502, 503, 504})
_LONGEST_WAIT_SECONDS = 10.0
_JSON, _LINES = "application/json", "application/x-ndjson"


class Unanswered(Exception):
    """No node answered; the message says why."""


@dataclass(frozen=True, slots=True)
class Answer:
    """What a node answered.

    Attributes:
        status: The HTTP status.
        body: The JSON in it; an empty object if it has none.
        url: The node.
    """

    status: int
    body: Any
    url: str

    @property
    def error(self) -> tuple[str, str]:
        """Type and reason of an error, as far as it tells."""
        error = self.body.get("error") if isinstance(self.body, dict) else None
        return described(error) if error is not None else ("", f"HTTP status {self.status}")


def described(error: Any) -> tuple[str, str]:
    """Type and reason of an error object, causes included."""
    if not isinstance(error, dict):
        return "", shown(error)
    reasons: list[str] = []
    cause: Any = error
    while isinstance(cause, dict):
        reasons.append(": ".join(str(cause[key]) for key in ("type", "reason") if cause.get(key)))
        cause = cause.get("caused_by")
    text = "; ".join(reason for reason in reasons if reason)
    return str(error.get("type", "")), text if len(text) <= 1000 else f"{text[:1000]}..."


class Attempts:
    """Counts the tries of one request, and waits before each further one.

    Args:
        settings: The sink's settings.
        what: What is tried, for messages.
        deadline: When the time for it is over, by `time.monotonic`.
        stopped: Ends waiting.
    """

    def __init__(self, settings: Mapping[str, Any], what: str, deadline: float, stopped: threading.Event) -> None:
        self._most: int = settings[keys.MAX_RETRIES]
        self._backoff = settings[keys.BACKOFF_MS] / 1000
        self._limit_ms: int = settings[keys.FLUSH_TIMEOUT_MS]
        self._what = what
        self._deadline = deadline
        self._stopped = stopped
        self._failed = 0

    def wait(self, reason: str) -> None:
        """Wait before the next try.

        Raises:
            ConnectError: There is none.
        """
        self._failed += 1
        if self._failed > self._most:
            raise ConnectError(
                f"{self._what} failed {self._failed} times, the last time so: {reason}",
                hint=f"If the server needs longer to come back, increase {keys.MAX_RETRIES} or {keys.BACKOFF_MS}.",
            )
        ceiling = min(self._backoff * 2.0 ** min(self._failed - 1, 40), _LONGEST_WAIT_SECONDS)
        delay = random.uniform(0, ceiling)
        if time.monotonic() + delay > self._deadline:
            raise ConnectError(
                f"{self._what} did not succeed within {keys.FLUSH_TIMEOUT_MS}={self._limit_ms}, the last time so: {reason}",
                hint=f"Increase {keys.FLUSH_TIMEOUT_MS}, or find out why the server is slow.",
            )
        if self._stopped.wait(delay):
            raise ConnectError(f"{self._what} was given up because the task stops; the last time so: {reason}")


class SearchClient:
    """A client of a cluster; several threads may use it.

    Args:
        settings: The sink's settings.
        tls_prefix: What comes before the names of the settings of TLS.
    """

    def __init__(self, settings: Mapping[str, Any], tls_prefix: str = keys.TLS_PREFIX) -> None:
        self._settings = settings
        self._nodes = Nodes(settings[keys.URL])
        self._compress: bool = settings[keys.COMPRESSION]
        self._stopped = threading.Event()
        secured = any(url.startswith("https:") for url in settings[keys.URL])
        self._http = httpx.Client(
            auth=_credentials(settings),
            verify=tls_context(settings, tls_prefix) if secured else False,
            proxy=_proxy(settings),
            # Proxies are set for the connector, not for the process; a .netrc is none of its business either.
            trust_env=False,
            timeout=httpx.Timeout(
                _seconds(settings[keys.READ_TIMEOUT_MS]), connect=_seconds(settings[keys.CONNECT_TIMEOUT_MS]), pool=None
            ),
            limits=httpx.Limits(
                max_connections=settings[keys.IN_FLIGHT] + 1,
                keepalive_expiry=settings[keys.IDLE_MS] / 1000,
            ),
        )

    def close(self) -> None:
        """Stop waiting, close connections."""
        self._stopped.set()
        self._http.close()

    def deadline(self) -> float:
        """When the time for what begins now is over."""
        return time.monotonic() + float(self._settings[keys.FLUSH_TIMEOUT_MS]) / 1000

    def attempts(self, what: str, deadline: float) -> Attempts:
        """The tries of one request."""
        return Attempts(self._settings, what, deadline, self._stopped)

    def request(self, method: str, path: str, body: Any = None) -> Answer:
        """Ask until there is an answer that is not one of a server that cannot serve now.

        Raises:
            ConnectError: There was none, or the user is refused.
        """
        attempts = self.attempts(f"{method} {path}", self.deadline())
        while True:
            try:
                answer = self.send(method, path, None if body is None else orjson.dumps(body))
            except Unanswered as error:
                attempts.wait(str(error))
                continue
            if answer.status not in RETRIABLE:
                return answer
            attempts.wait(f"{answer.url} answered {answer.status}: {answer.error[1]}")

    def send(self, method: str, path: str, body: bytes | None = None, *, lines: bool = False) -> Answer:
        """Ask once each node, until one answers.

        Raises:
            Unanswered: None did.
            ConnectError: The user is refused, or the server is not the one its certificate names.
        """
        headers = {"Accept": _JSON}
        if body is not None:
            headers["Content-Type"] = _LINES if lines else _JSON
            if self._compress:
                headers["Content-Encoding"] = "gzip"
                body = gzip.compress(body, compresslevel=4, mtime=0)
        failures: list[str] = []
        for _ in range(len(self._nodes)):
            url = self._nodes.next()
            try:
                response = self._http.request(method, url + path, content=body, headers=headers)
            except httpx.TransportError as error:
                _refuse_certificate(url, error)
                self._nodes.failed(url)
                failures.append(f"{url}: {type(error).__name__}{f' ({error})' if str(error) else ''}")
                continue
            answer = Answer(response.status_code, _parsed(response), url)
            if answer.status in {502, 503, 504} and len(failures) + 1 < len(self._nodes):
                self._nodes.failed(url)
                failures.append(f"{url}: {answer.error[1]}")
                continue
            self._nodes.answered(url)
            _refuse_credentials(answer)
            return answer
        raise Unanswered("; ".join(failures))


def path_of(*parts: str) -> str:
    """A path whose parts may have any character.

    >>> path_of("orders", "_mapping"), path_of("a/b")
    ('/orders/_mapping', '/a%2Fb')
    """
    return "".join(f"/{quote(part, safe='')}" for part in parts)


def refused(answer: Answer, what: str, hint: str = "") -> ConnectError:
    """The error for an answer that is not the one hoped for."""
    if answer.status == 403:
        hint = f"Give the user of {keys.USERNAME} the rights to create, map and write the connector's indices."
    return ConnectError(f"{what} failed, {answer.url} answered {answer.status}: {answer.error[1]}", hint=hint)


def _parsed(response: httpx.Response) -> Any:
    try:
        return orjson.loads(response.content) if response.content else {}
    except orjson.JSONDecodeError:
        # A proxy in between speaks HTML.
        return {"error": shown(response.text)}


def _refuse_credentials(answer: Answer) -> None:
    if answer.status == 401:
        raise ConnectError(
            f"{answer.url} does not accept the user: {answer.error[1]}",
            hint=f"Check {keys.USERNAME} and {keys.PASSWORD}.",
        )


def _refuse_certificate(url: str, error: httpx.TransportError) -> None:
    if "CERTIFICATE_VERIFY_FAILED" in str(error):
        raise ConnectError(
            f"{url} is not trusted: {error}",
            hint="Name a PEM file with the certificate of its authority in ssl.truststore.location.",
        ) from error


def _credentials(settings: Mapping[str, Any]) -> httpx.BasicAuth | None:
    user, password = settings[keys.USERNAME], settings[keys.PASSWORD]
    return httpx.BasicAuth(user, password.value) if user is not None and password is not None else None


def _proxy(settings: Mapping[str, Any]) -> httpx.Proxy | None:
    host, user, password = settings[keys.PROXY_HOST], settings[keys.PROXY_USERNAME], settings[keys.PROXY_PASSWORD]
    if not host:
        return None
    auth = (user, password.value) if user and password is not None else None
    return httpx.Proxy(f"http://{host}:{settings[keys.PROXY_PORT]}", auth=auth)


def _seconds(millis: int) -> float | None:
    return millis / 1000 if millis else None
