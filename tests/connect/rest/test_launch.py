from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from penstock.connect.errors import ConfigError, ConnectError
from penstock.connect.rest.app import Services
from penstock.connect.rest.launch import BoundListeners, rest_options
from penstock.connect.rest.server import RestServer
from penstock.connect.worker.backend import StandaloneBackend
from penstock.connect.worker.listener import Listener, local_host_name
from penstock.connect.worker.loggers import Loggers
from penstock.connect.worker.worker_config import Mode, WorkerConfig
from tests.connect.worker.in_process import WORKER, Parts

ANY = "http://127.0.0.1:0"


def config(**more: str) -> WorkerConfig:
    settings = {**WORKER, "listeners": ANY, **{key.replace("_", "."): value for key, value in more.items()}}
    return WorkerConfig.parse(settings, Mode.STANDALONE)


@contextmanager
def bound(**more: str) -> Iterator[BoundListeners]:
    listeners = BoundListeners(config(**more))
    try:
        yield listeners
    finally:
        listeners.close()


def test_settings_become_options() -> None:
    options = rest_options(
        config(
            access_control_allow_origin="https://a.example, https://b.example",
            access_control_allow_methods="GET,PUT",
            response_http_headers_config="set X-A: b",
        )
    )
    assert options.allow_origins == ("https://a.example", "https://b.example")
    assert options.allow_methods == ("GET", "PUT")
    assert [rule.name for rule in options.headers] == ["X-A"]
    assert options.credentials is None
    with pytest.raises(ConfigError, match=r"rest\.extension\.classes|cannot be loaded"):
        rest_options(config(rest_extension_classes="com.example.Other"))


def test_the_address_for_others() -> None:
    with bound() as listeners:
        port = listeners.main[0].listener.port
        assert listeners.advertised == Listener("http", "127.0.0.1", port)
    with bound(listeners="http://:0") as listeners:
        assert listeners.advertised.host == local_host_name()
    with bound(rest_advertised_host_name="example.org", rest_advertised_port="80") as listeners:
        assert listeners.advertised.url == "http://example.org:80"
    with bound(listeners=f"{ANY},https://127.0.0.1:0", rest_advertised_listener="HTTPS") as listeners:
        assert listeners.advertised.scheme == "https"


def test_a_taken_port_gives_the_others_back() -> None:
    with bound() as taken:
        address = taken.main[0].listener.url
        with pytest.raises(ConnectError, match="cannot listen on"):
            BoundListeners(config(listeners=f"{ANY},{address}"))


@pytest.mark.parametrize(
    ("admin", "on_main", "elsewhere"),
    [(None, 200, False), ("", 404, False), (ANY, 200, False), ("http://localhost:0", 404, True)],
)
def test_where_loggers_are_answered(
    worker: Parts, tmp_path: Path, admin: str | None, on_main: int, elsewhere: bool
) -> None:
    given = {} if admin is None else {"admin_listeners": admin}
    chosen = config(offset_storage_file_filename=str(tmp_path / "offsets"), **given)
    listeners = BoundListeners(chosen)
    backend = StandaloneBackend(chosen, Loggers())
    apps = listeners.apps(Services(herder=worker.herder), rest_options(chosen), backend)
    server = RestServer(apps, chosen.settings)
    server.start()
    try:
        main = listeners.main[0].listener.url
        assert httpx.get(f"{main}/admin/loggers", trust_env=False).status_code == on_main
        assert httpx.post(f"{main}/connectors", json=[], trust_env=False).status_code == 500
        assert bool(listeners.admin) is elsewhere
        if elsewhere:
            admin_url = f"http://127.0.0.1:{listeners.admin[0].listener.port}"
            assert httpx.get(f"{admin_url}/admin/loggers", trust_env=False).status_code == 200
            assert httpx.get(f"{admin_url}/connectors", trust_env=False).status_code == 404
    finally:
        server.close()
        listeners.close()


def test_trusted_certificates_have_to_be_there(worker: Parts, tmp_path: Path) -> None:
    chosen = config(listeners_https_ssl_truststore_location=str(tmp_path / "missing.pem"))
    listeners = BoundListeners(chosen)
    try:
        with pytest.raises(ConfigError, match=r"missing\.pem cannot be used: No such file"):
            listeners.apps(Services(herder=worker.herder), rest_options(chosen), StandaloneBackend(chosen, Loggers()))
    finally:
        listeners.close()
