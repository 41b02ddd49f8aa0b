"""Paths as Kafka Connect takes them: trailing slashes are left aside, names may have any character, percent-encoded."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import quote, unquote

from fastapi import Depends, Path, Request
from starlette.types import ASGIApp, Receive, Scope, Send

from penstock.connect.errors import NotFoundError
from penstock.connect.name_in_path import name_in_path

_INT_MAX = 2**31 - 1


class RawPaths:
    """Routes by the path as it was sent: `%2F` inside a name is no separator. Parameters have to be unquoted."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            raw: bytes = scope.get("raw_path") or quote(scope["path"]).encode()
            path = raw.partition(b"?")[0].decode("latin-1").rstrip("/") or "/"
            scope = {**scope, "path": path}
        await self._app(scope, receive, send)


def _connector(name: Annotated[str, Path(description="Name of the connector.")]) -> str:
    return unquote(name)


def _plugin(plugin: Annotated[str, Path(description="Class of the plugin: full name, simple name or alias.")]) -> str:
    return unquote(plugin)


def _logger(logger: Annotated[str, Path(description="Name of the logger; root is the one above all.")]) -> str:
    return unquote(logger)


def _task(task: Annotated[str, Path(description="Number of the task.")]) -> int:
    """A number; anything else is a path that does not exist."""
    text = unquote(task)
    if not (text.isascii() and text.isdigit()) or int(text) > _INT_MAX:
        raise NotFoundError("HTTP 404 Not Found")
    return int(text)


ConnectorName = Annotated[str, Depends(_connector)]
PluginName = Annotated[str, Depends(_plugin)]
LoggerName = Annotated[str, Depends(_logger)]
TaskNumber = Annotated[int, Depends(_task)]


def location(request: Request, name: str) -> dict[str, str]:
    """The header that says where a new connector is."""
    return {"Location": f"{request.base_url}connectors/{name_in_path(name)}"}
