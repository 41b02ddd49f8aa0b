"""Failures as the REST API tells them: `{"error_code": 404, "message": "..."}`."""

from __future__ import annotations

from collections.abc import Callable

from fastapi import FastAPI, Request
from fastapi.responses import Response
from starlette.exceptions import HTTPException

from penstock.connect.rest.answering import json_answer
from penstock.errors import PenstockError

_PHRASES = {404: "Not Found", 405: "Method Not Allowed", 406: "Not Acceptable", 415: "Unsupported Media Type"}


def error_answer(status: int, message: str, headers: dict[str, str] | None = None) -> Response:
    """A failure."""
    return json_answer({"error_code": status, "message": message}, status, headers)


def handle_failures(app: FastAPI, redact: Callable[[str], str]) -> None:
    """Lets an application answer failures in Kafka's shape.

    Args:
        app: The application.
        redact: Removes secrets from messages.
    """

    @app.exception_handler(PenstockError)
    async def foreseen(request: Request, error: PenstockError) -> Response:
        return error_answer(getattr(error, "status", 500), redact(str(error)))

    @app.exception_handler(HTTPException)
    async def routing(request: Request, error: HTTPException) -> Response:
        phrase = _PHRASES.get(error.status_code, str(error.detail))
        headers = dict(error.headers) if error.headers else None
        return error_answer(error.status_code, f"HTTP {error.status_code} {phrase}", headers)

    @app.exception_handler(Exception)
    async def unforeseen(request: Request, error: Exception) -> Response:
        return error_answer(500, redact(f"{type(error).__name__}: {error}"))
