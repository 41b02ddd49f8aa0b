"""A REST API on a free port of this machine: one server for all tests, with the application of each test."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from typing import Any

import httpx

from penstock.connect.rest.app import RestOptions, Services, build_app
from penstock.connect.rest.server import BoundListener, RestServer
from penstock.connect.worker.listener import Listener

Serving = Callable[..., AbstractContextManager[httpx.Client]]
"""`with serving(services, options) as client`: a client of an application."""


class Exchangeable:
    """An application that is another one from test to test."""

    app: Any = None

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        await self.app(scope, receive, send)


@contextmanager
def server() -> Iterator[Serving]:
    exchangeable = Exchangeable()
    bound = BoundListener(Listener("http", "127.0.0.1", 0))
    running = RestServer([(bound, exchangeable)], {})
    running.start()

    @contextmanager
    def serving(services: Services, options: RestOptions | None = None) -> Iterator[httpx.Client]:
        exchangeable.app = build_app(services, options)
        with httpx.Client(base_url=bound.listener.url, timeout=30, verify=False, trust_env=False) as client:
            yield client

    try:
        yield serving
    finally:
        running.close()
