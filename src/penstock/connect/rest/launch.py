"""The applications a worker's settings ask for, on the listeners they name."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from fastapi import FastAPI

from penstock.connect.rest.app import RestOptions, Services, build_app
from penstock.connect.rest.basic_auth import configured_credentials
from penstock.connect.rest.forwarding import Forwarding
from penstock.connect.rest.response_headers import parse_header_rules
from penstock.connect.rest.server import BoundListener
from penstock.connect.rest.tls import forwarding_context
from penstock.connect.worker.backend import Backend
from penstock.connect.worker.listener import Listener, local_host_name
from penstock.connect.worker.worker_config import WorkerConfig

_EVERYWHERE = ("", "0.0.0.0", "::")  # noqa: S104 - compared with


def rest_options(config: WorkerConfig) -> RestOptions:
    """What the settings say about the REST API.

    Raises:
        ConfigError: A setting cannot be used.
    """
    values = config.values
    return RestOptions(
        credentials=configured_credentials(config.settings),
        allow_origins=_parts(values["access.control.allow.origin"]),
        allow_methods=_parts(values["access.control.allow.methods"]),
        headers=parse_header_rules(values["response.http.headers.config"]),
    )


def _parts(text: str) -> tuple[str, ...]:
    return tuple(part.strip() for part in text.split(",") if part.strip())


class BoundListeners:
    """The ports of a worker, taken before anything else is begun.

    Args:
        config: The worker's settings.

    Raises:
        ConnectError: A port is taken already.
    """

    def __init__(self, config: WorkerConfig) -> None:
        self._config = config
        self.main: list[BoundListener] = []
        self.admin: list[BoundListener] = []
        try:
            self.main.extend(map(BoundListener, config.listeners))
            own = config.admin_listeners or []
            self.admin.extend(BoundListener(one) for one in own if one not in config.listeners)
        except BaseException:
            self.close()
            raise

    @property
    def advertised(self) -> Listener:
        """The address other workers use."""
        values = self._config.values
        scheme = (values["rest.advertised.listener"] or "").lower()
        first = next((one.listener for one in self.main if one.listener.scheme == scheme), self.main[0].listener)
        host = values["rest.advertised.host.name"] or (local_host_name() if first.host in _EVERYWHERE else first.host)
        return Listener(first.scheme, host, values["rest.advertised.port"] or first.port)

    def apps(
        self, services: Services, options: RestOptions, backend: Backend
    ) -> Sequence[tuple[BoundListener, FastAPI]]:
        """An application for each listener: the whole API, or only a part of it."""
        verify = forwarding_context(self._config.settings)

        def forward(app: FastAPI) -> None:
            app.add_middleware(Forwarding, leader=backend.leader_url, catch_up=backend.catch_up, verify=verify)

        own = self._config.admin_listeners
        shared = own is None or any(one in self._config.listeners for one in own)
        main = build_app(services, replace(options, admin=shared), forward=forward)
        apps = [(bound, main) for bound in self.main]
        if self.admin:
            admin = build_app(services, replace(options, connectors=False))
            apps += [(bound, admin) for bound in self.admin]
        return apps

    def close(self) -> None:
        """Gives the ports back."""
        for bound in (*self.main, *self.admin):
            bound.socket.close()
