from __future__ import annotations

import logging
from collections.abc import Set as AbstractSet
from pathlib import Path

import pytest

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Password
from penstock.connect.config.config_transformer import ConfigTransformer
from penstock.connect.config.providers import ConfigData, ConfigProvider
from penstock.connect.config.providers.directory_config_provider import DirectoryConfigProvider
from penstock.connect.config.providers.env_var_config_provider import EnvVarConfigProvider
from penstock.connect.config.providers.file_config_provider import FileConfigProvider
from penstock.connect.config.providers.registry import configured_providers
from penstock.connect.config.secrets import Secrets
from penstock.connect.errors import ConfigError


class Vault(ConfigProvider):
    """Counts how often it is asked."""

    def __init__(self, ttl_ms: int | None = None) -> None:
        super().__init__()
        self.asked: list[tuple[str, frozenset[str]]] = []
        self.closed = False
        self._ttl = ttl_ms

    def get(self, path: str, keys: AbstractSet[str] | None = None) -> ConfigData:
        self.asked.append((path, frozenset(keys or ())))
        return ConfigData({"user": f"user-of-{path}", "password": "s3cret${vault:p:user}"}, self._ttl)

    def close(self) -> None:
        self.closed = True


def test_references_are_replaced_once() -> None:
    vault = Vault(ttl_ms=500)
    transformer = ConfigTransformer({"vault": vault})
    settings = {
        "url": "jdbc://${vault:db:user}:${vault:db:password}@host",
        "other": "${vault:app:user}",
        "plain": "${HOME} $5 ${a}",
        "unknown": "${nobody:x:y} ${vault:db:missing}",
        "null": None,
    }
    done = transformer.transform(settings)
    assert done.settings == {
        "url": "jdbc://user-of-db:s3cret${vault:p:user}@host",
        "other": "user-of-app",
        "plain": "${HOME} $5 ${a}",
        "unknown": "${nobody:x:y} ${vault:db:missing}",
        "null": None,
    }
    assert vault.asked == [("db", frozenset({"user", "password", "missing"})), ("app", frozenset({"user"}))]
    assert (done.ttls, done.restart_after_ms) == ({"db": 500, "app": 500}, 500)
    assert done.shown == settings
    transformer.close()
    assert vault.closed


def test_values_that_last_need_no_restart() -> None:
    assert ConfigTransformer({"vault": Vault()}).transform({"a": "${vault:db:user}"}).restart_after_ms is None


def test_resolved_values_are_never_shown() -> None:
    done = ConfigTransformer({"vault": Vault()}).transform({"password": "${vault:db:password}"})
    assert "s3cret" not in repr(done)
    assert done.secrets.redact("login with s3cret${vault:p:user} failed") == "login with [hidden] failed"
    assert "s3cret" not in repr(Vault().get("db"))
    assert repr(done.secrets) == "Secrets(..)"


def test_passwords_are_secrets_too() -> None:
    keys = ConfigDef(ConfigKey(name="pw", type=ConfigType.PASSWORD), ConfigKey(name="user"))
    secrets = Secrets.of({"pw": "abcdef", "user": "ann", "none": None}, keys, ["abc", "x"])
    assert secrets.redact("ann abcdef abc x") == "ann [hidden] [hidden] x"
    assert Secrets.of({"pw": Password("abcdef")}, keys).redact("abcdef") == "[hidden]"


def test_files(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    file = tmp_path / "secrets.properties"
    file.write_text("user = ann\npassword=pässword", encoding="utf-8")
    provider = FileConfigProvider()
    assert dict(provider.get(str(file)).data) == {"user": "ann", "password": "pässword"}
    assert dict(provider.get(str(file), {"user", "x"}).data) == {"user": "ann"}
    assert dict(provider.get("").data) == {}
    with pytest.raises(ConfigError, match=r"Could not read properties from file .*: No such file"):
        provider.get(str(tmp_path / "missing"))
    limited = FileConfigProvider({"allowed.paths": f"/no/such, {tmp_path / 'inside'}"})
    with caplog.at_level(logging.WARNING):
        assert dict(limited.get(str(file)).data) == {}
        assert dict(limited.get(str(tmp_path / "inside" / ".." / "secrets.properties")).data) == {}
    assert "is not allowed to be accessed by FileConfigProvider" in caplog.text
    assert dict(FileConfigProvider({"allowed.paths": str(tmp_path)}).get(str(file), {"user"}).data) == {"user": "ann"}
    (tmp_path / "latin").write_bytes(b"a=\xff")
    with pytest.raises(ConfigError, match="it is not UTF-8"):
        provider.get(str(tmp_path / "latin"))


def test_directories(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    inside = tmp_path / "inside"
    inside.mkdir()
    (inside / "password").write_bytes(b" s3cret\r\n")
    (inside / "folder").mkdir()
    (tmp_path / "outside").write_text("other", encoding="utf-8")
    (inside / "link").symlink_to(tmp_path / "outside")
    assert dict(DirectoryConfigProvider().get(str(inside)).data) == {"password": " s3cret\r\n", "link": "other"}
    assert dict(DirectoryConfigProvider().get(str(inside), {"password", "../outside"}).data) == {
        "password": " s3cret\r\n"
    }
    limited = DirectoryConfigProvider({"allowed.paths": str(inside)})
    assert dict(limited.get(str(inside)).data) == {"password": " s3cret\r\n"}
    with caplog.at_level(logging.WARNING):
        assert dict(limited.get(str(tmp_path)).data) == {}
        assert dict(DirectoryConfigProvider().get(str(tmp_path / "outside")).data) == {}
        assert dict(DirectoryConfigProvider().get("").data) == {}
    assert "is not allowed" in caplog.text
    assert "is not a directory" in caplog.text
    (inside / "binary").write_bytes(b"\xff")
    with pytest.raises(ConfigError, match="it is not UTF-8"):
        DirectoryConfigProvider().get(str(inside), {"binary"})


def test_environment_variables(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PENSTOCK_TEST_VALUE", "7")
    assert EnvVarConfigProvider().get("", {"PENSTOCK_TEST_VALUE"}).data == {"PENSTOCK_TEST_VALUE": "7"}
    provider = EnvVarConfigProvider({"allowlist.pattern": "DB_.*"}, {"DB_USER": "ann", "MY_DB_USER": "x"})
    assert dict(provider.get("").data) == {"DB_USER": "ann"}
    with pytest.raises(ConfigError, match=r"Path is not supported.*\$\{env:NAME\}"):
        provider.get("path")
    with pytest.raises(ConfigError, match="Invalid regex"):
        EnvVarConfigProvider({"allowlist.pattern": "["})


def test_a_worker_declares_its_providers(tmp_path: Path) -> None:
    file = tmp_path / "p.properties"
    file.write_text("a=1", encoding="utf-8")
    providers = configured_providers({
        "config.providers": "file, env",
        "config.providers.file.class": "org.apache.kafka.common.config.provider.FileConfigProvider",
        "config.providers.file.param.allowed.paths": str(tmp_path),
        "config.providers.env.class": "EnvVar",
    })  # fmt: skip
    assert providers["file"].params == {"allowed.paths": str(tmp_path)}
    done = ConfigTransformer(providers).transform({"x": f"${{file:{file}:a}}"})
    assert done.settings == {"x": "1"}
    with pytest.raises(ConfigError, match=r"Missing required configuration \"config\.providers\.v\.class\""):
        configured_providers({"config.providers": "v"})
    assert configured_providers({}) == {}
