from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import ConfigError
from penstock.kafka.settings import bootstrap_servers, client_settings


def consumer(**settings: Any) -> dict[str, Any]:
    result = client_settings({key.replace("_", "."): value for key, value in settings.items()}, "consumer")
    del result["bootstrap.servers"]
    return result


def test_bootstrap_servers_may_be_a_list() -> None:
    assert bootstrap_servers({"bootstrap.servers": ["a:1", "b:2"]}) == "a:1,b:2"
    assert client_settings({"bootstrap.servers": ("a:1", "b:2")}, "admin") == {"bootstrap.servers": "a:1,b:2"}


def test_a_prefix_is_for_its_role_and_wins() -> None:
    settings = {"client.id": "all", "consumer.client.id": "c", "admin.client.id": "a"}
    assert client_settings(settings, "consumer")["client.id"] == "c"
    assert client_settings(settings, "admin")["client.id"] == "a"
    assert client_settings(settings, "producer") == {"bootstrap.servers": "localhost:9092", "client.id": "all"}


def test_java_names_and_values_are_translated() -> None:
    assert consumer(fetch_max_wait_ms=7) == {"fetch.wait.max.ms": 7}
    assert consumer(max_request_size=9) == {"message.max.bytes": 9}
    assert consumer(default_api_timeout_ms=9) == {}
    assert consumer(auto_offset_reset="none") == {"auto.offset.reset": "error"}
    assert consumer(ssl_endpoint_identification_algorithm="") == {"ssl.endpoint.identification.algorithm": "none"}
    assert consumer(ssl_truststore_certificates="-----BEGIN") == {"ssl.ca.pem": "-----BEGIN"}


def test_settings_of_the_java_client_alone_are_left_out() -> None:
    assert consumer(key_deserializer="x.Y", max_poll_records=5, client_id="me") == {"client.id": "me"}


@pytest.mark.parametrize(
    "line",
    [
        'org.apache.kafka.common.security.plain.PlainLoginModule required username="ann" password="s=c;r et";',
        "org.apache.kafka.common.security.scram.ScramLoginModule required username='ann' password='s=c;r et' ;",
    ],
)
def test_a_jaas_line_gives_user_and_password(line: str) -> None:
    assert consumer(sasl_jaas_config=line) == {"sasl.username": "ann", "sasl.password": "s=c;r et"}


@pytest.mark.parametrize(
    "line", ["com.sun.security.auth.module.Krb5LoginModule required;", "PlainLoginModule required;", ""]
)
def test_other_jaas_lines_name_the_replacement(line: str) -> None:
    with pytest.raises(ConfigError, match=r"sasl\.jaas\.config is understood for .* Give sasl\.username"):
        consumer(sasl_jaas_config=line)


def test_pem_stores_become_files() -> None:
    assert consumer(ssl_truststore_location="/ca.pem", ssl_truststore_password="x") == {"ssl.ca.location": "/ca.pem"}
    assert consumer(ssl_truststore_location="/ca", ssl_truststore_type="pem") == {"ssl.ca.location": "/ca"}
    assert consumer(ssl_keystore_location="/me.pem", ssl_key_password="x") == {
        "ssl.certificate.location": "/me.pem",
        "ssl.key.location": "/me.pem",
        "ssl.key.password": "x",
    }


def test_pkcs12_key_stores_pass() -> None:
    store = {"ssl.keystore.location": "/me.p12", "ssl.keystore.password": "x"}
    assert client_settings({**store, "ssl.keystore.type": "PKCS12"}, "admin") == {
        "bootstrap.servers": "localhost:9092",
        **store,
    }


def test_java_key_stores_are_refused_with_the_way_out() -> None:
    with pytest.raises(ConfigError, match=r"ssl.truststore.location=/t.jks .* Export the certificates as PEM"):
        consumer(ssl_truststore_location="/t.jks")
    with pytest.raises(ConfigError, match=r"ssl.keystore.location=/k.jks .* keytool -importkeystore"):
        consumer(ssl_keystore_location="/k.jks")
