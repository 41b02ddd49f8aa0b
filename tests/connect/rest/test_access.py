from __future__ import annotations

import base64
from pathlib import Path

import httpx
import pytest

from penstock.connect.errors import ConfigError
from penstock.connect.rest.app import RestOptions, Services
from penstock.connect.rest.basic_auth import Credentials, configured_credentials
from penstock.connect.rest.response_headers import parse_header_rules
from tests.connect.rest.serving import Serving
from tests.connect.worker.in_process import Parts

EXTENSION = "org.apache.kafka.connect.rest.basic.auth.extension.BasicAuthSecurityRestExtension"


def test_only_users_with_a_password_get_in(worker: Parts, serving: Serving, tmp_path: Path) -> None:
    file = tmp_path / "users.properties"
    file.write_text("ann=pass:word\n")
    options = RestOptions(credentials=Credentials(file))
    with serving(Services(herder=worker.herder), options) as client:
        for auth in (None, ("ann", "wrong"), ("bob", "pass:word"), ("", "")):
            refused = client.get("/connectors", auth=auth or httpx.USE_CLIENT_DEFAULT)
            assert (refused.status_code, refused.text) == (401, "User cannot access the resource.")
            assert refused.headers["content-type"] == "text/plain"
        for header in ("Basic", "Basic %%%", "Bearer " + base64.b64encode(b"ann:pass:word").decode(), "Basic /w=="):
            assert client.get("/", headers={"Authorization": header}).status_code == 401
        assert client.get("/connectors", auth=("ann", "pass:word")).json() == []


def test_users_are_found_where_the_settings_say(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    users = tmp_path / "users.properties"
    users.write_text("ann=1\n")
    jaas = tmp_path / "jaas.conf"
    jaas.write_text(
        "KafkaConnect {\n  org.apache.kafka.connect.rest.basic.auth.extension.PropertyFileLoginModule required\n"
        f'  file="{users}";\n}};\n'
    )
    assert configured_credentials({}) is None
    given = configured_credentials({"rest.extension.classes": EXTENSION, "basic.auth.credentials.file": str(users)})
    assert given is not None
    assert given.users() == {"ann": "1"}
    users.write_text("ann=2\nbob=3\n")
    import os

    os.utime(users, (1, 1))
    assert given.users() == {"ann": "2", "bob": "3"}
    monkeypatch.setenv("KAFKA_OPTS", f"-Xmx1g -Djava.security.auth.login.config={jaas}")
    found = configured_credentials({"rest.extension.classes": EXTENSION})
    assert found is not None
    assert found.users() == {"ann": "2", "bob": "3"}
    monkeypatch.delenv("KAFKA_OPTS")
    with pytest.raises(ConfigError, match=r"basic\.auth\.credentials\.file"):
        configured_credentials({"rest.extension.classes": EXTENSION})
    with pytest.raises(ConfigError, match="Known is BasicAuthSecurityRestExtension"):
        configured_credentials({"rest.extension.classes": "com.example.Other"})
    with pytest.raises(ConfigError, match="No such file"):
        Credentials(tmp_path / "missing")


def test_web_pages_from_elsewhere(worker: Parts, serving: Serving) -> None:
    options = RestOptions(allow_origins=("https://ui.example.org",), allow_methods=("GET", "PUT"))
    with serving(Services(herder=worker.herder), options) as client:
        allowed = client.get("/connectors", headers={"Origin": "https://ui.example.org"})
        assert allowed.headers["access-control-allow-origin"] == "https://ui.example.org"
        other = client.get("/connectors", headers={"Origin": "https://evil.example.org"})
        assert "access-control-allow-origin" not in other.headers
        asked = client.options(
            "/connectors/c/pause",
            headers={"Origin": "https://ui.example.org", "Access-Control-Request-Method": "PUT"},
        )
        assert asked.status_code == 200
        assert "PUT" in asked.headers["access-control-allow-methods"]


def test_headers_for_every_answer(worker: Parts, serving: Serving) -> None:
    rules = parse_header_rules(
        'set X-Frame-Options: DENY, "add Cache-Control: no-cache, no-store", add Cache-Control: private, setDate Expires: 0'
    )
    with serving(Services(herder=worker.herder), RestOptions(headers=rules)) as client:
        for path in ("/", "/nowhere"):
            headers = client.get(path).headers
            assert headers["x-frame-options"] == "DENY"
            assert headers.get_list("cache-control") == ["no-cache, no-store", "private"]
            assert headers["expires"] == "Thu, 01 Jan 1970 00:00:00 GMT"


@pytest.mark.parametrize("text", ["X-Frame-Options: DENY", "set X-Frame-Options", "set a b: c", "addDate A: soon"])
def test_headers_that_cannot_be(text: str) -> None:
    with pytest.raises(ConfigError, match=r"response\.http\.headers\.config"):
        parse_header_rules(text)
