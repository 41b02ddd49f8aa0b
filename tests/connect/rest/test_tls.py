from __future__ import annotations

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import httpx
import pytest

from penstock.connect.errors import ConfigError
from penstock.connect.rest.app import Services, build_app
from penstock.connect.rest.server import BoundListener, RestServer
from penstock.connect.rest.tls import forwarding_context, server_context
from penstock.connect.worker.listener import Listener
from tests.connect.search.certificates import write_certificate
from tests.connect.worker.in_process import Parts

PREFIX = "listeners.https.ssl."


@contextmanager
def answering(worker: Parts, settings: dict[str, str]) -> Iterator[str]:
    bound = BoundListener(Listener("https", "127.0.0.1", 0))
    server = RestServer([(bound, build_app(Services(herder=worker.herder)))], settings)
    server.start()
    try:
        yield f"{bound.listener.url}/connectors"
    finally:
        server.close()


def client(server: Path, own: Path | None = None) -> ssl.SSLContext:
    context = ssl.create_default_context(cafile=str(server))
    if own is not None:
        context.load_cert_chain(own)
    return context


@pytest.mark.parametrize(
    ("auth", "without", "with_other"), [("required", False, False), ("Requested", True, False), ("none", True, True)]
)
def test_certificates_of_clients(worker: Parts, tmp_path: Path, auth: str, without: bool, with_other: bool) -> None:
    server, known, other = (write_certificate(tmp_path, name) for name in ("server", "known", "other"))
    settings = {
        f"{PREFIX}keystore.location": str(server),
        f"{PREFIX}truststore.location": str(known),
        f"{PREFIX}client.auth": auth,
    }

    def is_let_in(own: Path | None) -> bool:
        try:
            return httpx.get(url, verify=client(server, own), trust_env=False).status_code == 200
        except httpx.TransportError:
            return False

    with answering(worker, settings) as url:
        assert is_let_in(known)
        assert is_let_in(None) is without
        assert is_let_in(other) is with_other


def test_a_worker_shows_its_certificate_to_the_leader(worker: Parts, tmp_path: Path) -> None:
    pem = str(write_certificate(tmp_path, "worker"))
    settings = {
        f"{PREFIX}keystore.location": pem,
        f"{PREFIX}truststore.location": pem,
        f"{PREFIX}client.auth": "required",
    }
    with answering(worker, settings) as url:
        assert httpx.get(url, verify=forwarding_context(settings), trust_env=False).json() == []
    assert forwarding_context({}) is True


def test_a_key_with_a_password(worker: Parts, tmp_path: Path) -> None:
    server = write_certificate(tmp_path, "server", password="pw")
    settings = {f"{PREFIX}keystore.location": str(server)}
    with pytest.raises(ConfigError, match="no certificate and key"):
        server_context(settings)
    server_context({**settings, f"{PREFIX}keystore.password": "pw"})
    with answering(worker, {**settings, f"{PREFIX}key.password": "pw"}) as url:
        assert httpx.get(url, verify=client(server), trust_env=False).status_code == 200


def test_what_cannot_be_done_is_refused(tmp_path: Path) -> None:
    settings = {f"{PREFIX}keystore.location": str(write_certificate(tmp_path, "server"))}
    with pytest.raises(ConfigError, match=r"client\.auth=required needs listeners\.https\.ssl\.truststore\.location"):
        server_context({**settings, f"{PREFIX}client.auth": "required"})
    with pytest.raises(ConfigError, match=r"client\.auth: String must be one of: none, requested, required"):
        server_context({**settings, f"{PREFIX}client.auth": "yes"})
    store = tmp_path / "trust.jks"
    store.write_bytes(b"\xfe\xed\xfe\xed")
    with pytest.raises(ConfigError, match=r"trust\.jks cannot be used: it has no certificate"):
        server_context({**settings, f"{PREFIX}client.auth": "required", f"{PREFIX}truststore.location": str(store)})
