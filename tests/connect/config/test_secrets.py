from __future__ import annotations

import pickle

import pytest

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType
from penstock.connect.config.secrets import NO_SECRETS, Secrets


@pytest.mark.parametrize(
    ("secret", "text", "shown"),
    [
        ("s3cret-pw\n", "Invalid value s3cret-pw for", "Invalid value [hidden] for"),
        ("alpha-secret, beta-secret", "transforms.beta-secret.type", "transforms.[hidden].type"),
        ("-----BEGIN\nAAAsecretline\n-----END", "line AAAsecretline is bad", "line [hidden] is bad"),
        ("p@ss/word", "db://u:p%40ss%2Fword@h", "db://u:[hidden]@h"),
        ('quo"ted-pw', r'{"pw": "quo\"ted-pw"}', '{"pw": "[hidden]"}'),
        ("two\nlines", r"'two\nlines'", "'[hidden]'"),
        ("k" * 300, f"Invalid value {'k' * 200}...", "Invalid value [hidden]..."),
        ('Module required username="u" password="pw!1";', "no pw!1", "no [hidden]"),
        ("orders,a,b", "orders a b", "orders a b"),
        ("postgres", "postgresql for postgres:postgres@h", "postgresql for [hidden]:[hidden]@h"),
        ("no", "nothing", "nothing"),
    ],
)
def test_secrets_as_messages_have_them(secret: str, text: str, shown: str) -> None:
    assert Secrets([secret]).redact(text) == shown


def test_secrets_travel_and_add_up() -> None:
    both = pickle.loads(pickle.dumps(Secrets(["first-secret"]).union(Secrets(["other-secret"]), NO_SECRETS)))
    assert both.redact("first-secret other-secret") == "[hidden] [hidden]"
    assert repr(both) == "Secrets(..)"


def test_passwords_among_settings() -> None:
    definition = ConfigDef(
        ConfigKey(name="token", type=ConfigType.PASSWORD), ConfigKey(name="no.password", type=ConfigType.BOOLEAN)
    )
    settings = {
        "token": "t0ken-1",
        "no.password": "false",
        "producer.override.ssl.key.password": "k3y-pw",
        "x": "plain",
    }
    found = Secrets.of(settings, definition, ["resolved-1"])
    assert found.redact("t0ken-1 false k3y-pw plain resolved-1") == "[hidden] false [hidden] plain [hidden]"
