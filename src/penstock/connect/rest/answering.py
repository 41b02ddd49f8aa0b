"""From calls of the herder to HTTP answers."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable
from typing import Any, TypeVar

import orjson
from anyio import CapacityLimiter, to_thread
from fastapi import Request
from fastapi.responses import Response

from penstock.connect.errors import ConnectError, RequestTimeoutError
from penstock.errors import PenstockError

log = logging.getLogger("penstock.connect.rest")
T = TypeVar("T")

REQUEST_SECONDS = 90.0
_JSON = "application/json"
# Requests that wait for connectors or Kafka; those that only read do not need a thread.
_WAITING = 256


class UnsupportedMediaTypeError(ConnectError):
    """The body is not declared to be JSON."""

    status = 415


def json_answer(content: Any, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    """An answer with a JSON body."""
    return Response(orjson.dumps(content), status, headers, _JSON)


def empty_answer(status: int) -> Response:
    """An answer without a body."""
    return Response(status_code=status)


class Caller:
    """Calls what may wait, on threads of its own, and no longer than a request may take."""

    def __init__(self, seconds: float = REQUEST_SECONDS) -> None:
        self._seconds = seconds
        self._limiter: CapacityLimiter | None = None

    async def __call__(self, function: Callable[..., T], *arguments: Any, **options: Any) -> T:
        if self._limiter is None:
            self._limiter = CapacityLimiter(_WAITING)
        call = to_thread.run_sync(
            lambda: _checked(function, arguments, options), abandon_on_cancel=True, limiter=self._limiter
        )
        try:
            return await asyncio.wait_for(call, self._seconds)
        except (asyncio.TimeoutError, TimeoutError):
            raise RequestTimeoutError(
                "Request timed out. The worker is currently busy with connector code or cannot reach Kafka."
            ) from None


def _checked(function: Callable[..., T], arguments: tuple[Any, ...], options: dict[str, Any]) -> T:
    try:
        return function(*arguments, **options)
    except (PenstockError, TimeoutError):
        raise
    except (Exception, SystemExit) as error:  # what connector code raises must not end the server
        log.exception("A request failed")
        raise ConnectError(f"{type(error).__name__}: {error}") from error


async def json_body(request: Request) -> bytes:
    """The body of a request that has to be JSON; whether it is, its reader says."""
    declared = request.headers.get("content-type", _JSON).partition(";")[0].strip().lower()
    if declared not in {_JSON, "text/json"} and not declared.endswith("+json"):
        raise UnsupportedMediaTypeError("HTTP 415 Unsupported Media Type")
    return await request.body()


def flag(text: str | None, *, default: bool = False) -> bool:
    """A flag of a query: true in any case of letters.

    >>> flag("True"), flag("yes"), flag(None, default=True)
    (True, False, True)
    """
    return default if text is None else text.strip().lower() == "true"
