"""Requests that change something go to the worker that leads; the answer comes back as it is."""

from __future__ import annotations

import asyncio
import ssl
from collections.abc import Callable
from urllib.parse import parse_qsl, urlencode

import httpx
from anyio import to_thread
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Receive, Scope, Send

from penstock.connect.rest.failures import error_answer
from penstock.connect.worker.backend import NoLeaderError

_READING = frozenset({"GET", "HEAD", "OPTIONS"})
_HOP_BY_HOP = frozenset({"connection", "content-length", "host", "keep-alive", "transfer-encoding", "date"})
_REQUEST_SECONDS = 90.0
_RETRY_SECONDS = 0.25
_NO_LEADER = "Cannot complete request because of a conflicting operation (e.g. worker rebalance)"


class Forwarding:
    """Hands over what only the leader can do: all changes of connectors, and their offsets.

    Args:
        app: Answers the other requests.
        leader: The leader's address, None if it is this worker; raises NoLeaderError if there is none now.
        catch_up: Reads what the leader wrote, so that the next answer of this worker has it.
        verify: Whom to trust on the way to the leader.
        wait_seconds: How long a request waits for a leader.
    """

    def __init__(
        self,
        app: ASGIApp,
        *,
        leader: Callable[[], str | None],
        catch_up: Callable[[], None],
        verify: ssl.SSLContext | bool = True,
        wait_seconds: float = _REQUEST_SECONDS,
    ) -> None:
        self._app = app
        self._leader = leader
        self._catch_up = catch_up
        self._verify = verify
        self._wait_seconds = wait_seconds

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or not _needs_leader(scope["method"], scope["path"]):
            await self._app(scope, receive, send)
            return
        request = Request(scope, receive)
        query = parse_qsl(scope["query_string"].decode("latin-1"), keep_blank_values=True)
        # A request that came from another worker is not sent on: it would go round in circles.
        wait = 0.0 if ("forward", "false") in query else self._wait_seconds
        deadline = asyncio.get_running_loop().time() + wait
        body: bytes | None = None
        while True:
            answer = None
            try:
                leader = self._leader()
                if leader is None:
                    if body is not None:
                        receive = _replay(body)
                    await self._app(scope, receive, send)
                    return
                if wait:
                    body = await request.body() if body is None else body
                    answer = await self._forward(request, leader, query, body)
            except (NoLeaderError, httpx.ConnectError):
                pass  # it has just gone; the next one is about to lead
            except httpx.HTTPError as error:
                answer = error_answer(500, f"IO Error trying to forward REST request: {error}")
            if answer is None and asyncio.get_running_loop().time() >= deadline:
                answer = error_answer(409, _NO_LEADER)
            if answer is not None:
                if answer.status_code < 400:
                    await to_thread.run_sync(self._catch_up)
                await answer(scope, receive, send)
                return
            await asyncio.sleep(_RETRY_SECONDS)

    async def _forward(self, request: Request, leader: str, query: list[tuple[str, str]], body: bytes) -> Response:
        kept = [(name, value) for name, value in query if name != "forward"]
        url = f"{leader.rstrip('/')}{request.scope['path']}?{urlencode([*kept, ('forward', 'false')])}"
        headers = {name: value for name, value in request.headers.items() if name not in _HOP_BY_HOP}
        timeout = httpx.Timeout(_REQUEST_SECONDS + 5, connect=5)
        async with httpx.AsyncClient(timeout=timeout, trust_env=False, verify=self._verify) as client:
            answer = await client.request(request.method, url, content=body, headers=headers)
        passed = {name: value for name, value in answer.headers.items() if name.lower() not in _HOP_BY_HOP}
        return Response(answer.content, answer.status_code, passed)


def _needs_leader(method: str, path: str) -> bool:
    if path != "/connectors" and not path.startswith("/connectors/"):
        return False
    return method not in _READING or path.endswith("/offsets")


def _replay(body: bytes) -> Receive:
    async def receive() -> dict[str, object]:
        return {"type": "http.request", "body": body, "more_body": False}

    return receive
