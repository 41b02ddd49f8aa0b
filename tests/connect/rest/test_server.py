from __future__ import annotations

import ssl
import subprocess
from pathlib import Path

import httpx
import pytest

from penstock.connect.errors import ConfigError, ConnectError
from penstock.connect.rest.app import RestOptions, Services, build_app
from penstock.connect.rest.server import BoundListener, RestServer
from penstock.connect.worker.listener import Listener
from tests.connect.worker.in_process import Parts

LOCAL = Listener("http", "127.0.0.1", 0)


def test_a_port_that_is_taken_is_told() -> None:
    first = BoundListener(LOCAL)
    try:
        with pytest.raises(ConnectError, match=rf"cannot listen on http://127.0.0.1:{first.listener.port}: Address"):
            BoundListener(first.listener)
    finally:
        first.socket.close()


def test_several_listeners_with_parts_of_the_api(worker: Parts) -> None:
    services = Services(herder=worker.herder)
    main, admin = BoundListener(LOCAL), BoundListener(LOCAL)
    apps = [
        (main, build_app(services, RestOptions(admin=False))),
        (admin, build_app(services, RestOptions(connectors=False))),
    ]
    server = RestServer(apps, {})
    server.start()
    try:
        assert httpx.get(f"{main.listener.url}/connectors").json() == []
        assert httpx.get(f"{main.listener.url}/admin/loggers").status_code == 404
        assert httpx.get(f"{admin.listener.url}/admin/loggers").status_code == 200
        assert httpx.get(f"{admin.listener.url}/connectors").status_code == 404
    finally:
        server.close()
    with pytest.raises(httpx.ConnectError):
        httpx.get(f"{main.listener.url}/")


def test_https_with_a_pem_file(worker: Parts, tmp_path: Path) -> None:
    key, certificate, pem = tmp_path / "key.pem", tmp_path / "cert.pem", tmp_path / "both.pem"
    subprocess.run(
        ["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "1", "-subj", "/CN=localhost",
         "-addext", "subjectAltName=IP:127.0.0.1", "-keyout", key, "-out", certificate],
        check=True, capture_output=True,
    )  # fmt: skip
    pem.write_text(key.read_text() + certificate.read_text())
    bound = BoundListener(Listener("https", "127.0.0.1", 0))
    settings = {"listeners.https.ssl.keystore.location": str(pem)}
    server = RestServer([(bound, build_app(Services(herder=worker.herder)))], settings)
    server.start()
    try:
        trusting = ssl.create_default_context(cafile=str(certificate))
        assert httpx.get(f"{bound.listener.url}/connectors", verify=trusting).json() == []
    finally:
        server.close()


@pytest.mark.parametrize(("content", "reason"), [(None, "No such file"), ("nothing", "no certificate and key")])
def test_https_without_a_usable_file(worker: Parts, tmp_path: Path, content: str | None, reason: str) -> None:
    file = tmp_path / "key.pem"
    if content is not None:
        file.write_text(content)
    bound = BoundListener(Listener("https", "127.0.0.1", 0))
    app = build_app(Services(herder=worker.herder))
    try:
        with pytest.raises(ConfigError, match=reason):
            RestServer([(bound, app)], {"listeners.https.ssl.keystore.location": str(file)})
        with pytest.raises(ConfigError, match="A listener for https needs"):
            RestServer([(bound, app)], {})
    finally:
        bound.socket.close()
