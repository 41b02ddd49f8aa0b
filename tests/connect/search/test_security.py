"""Passwords, TLS and proxies in front of a real OpenSearch."""

from __future__ import annotations

from pathlib import Path

import pytest

from penstock.connect.connectors.search.sink import ElasticsearchSinkConnector, SearchSinkTask
from penstock.connect.errors import ConfigError, ConnectError
from tests.connect.search.certificates import write_certificate
from tests.connect.search.conftest import SinkFactory
from tests.connect.search.front import Front
from tests.connect.search.sink_driver import Sink, record
from tests.servers.opensearch import OpenSearchServer


def test_the_right_password_is_let_in(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    with Front(server.url, user="elastic", password="pä:ss") as front:
        writer = sink(
            schema_ignore="true",
            connection_url=front.url,
            connection_username="elastic",
            connection_password="pä:ss",
            connection_compression="true",
        )
        writer.put(record(topic, 0, "a", {"n": 1}))
        assert ("POST", "/_bulk", True) in front.seen
    assert server.count(topic) == 1


def test_a_wrong_password_is_told_at_once_and_not_shown(server: OpenSearchServer, sink: SinkFactory) -> None:
    with Front(server.url, user="elastic", password="right") as front:
        settings = {"connection_url": front.url, "connection_username": "elastic", "connection_password": "s3cret"}
        with pytest.raises(ConnectError, match=r"does not accept the user.*connection.username") as caught:
            sink(**settings)
        assert "s3cret" not in str(caught.value)
        assert len(front.seen) == 1, "it was tried again, which locks users out"


def test_a_password_that_is_changed_meanwhile_ends_the_task(
    server: OpenSearchServer, sink: SinkFactory, topic: str
) -> None:
    with Front(server.url) as front:
        writer = sink(schema_ignore="true", connection_url=front.url)
        front.failures = [401]
        with pytest.raises(ConnectError, match="does not accept the user"):
            writer.put(record(topic, 0, "a", {"n": 1}))
        front.failures = [403]
        with pytest.raises(ConnectError, match="the rights to create"):
            writer.put(record(topic, 0, "a", {"n": 1}))
        writer.put(record(topic, 0, "a", {"n": 1}))
    assert server.count(topic) == 1


def test_tls_trusts_the_certificates_of_a_pem_file(
    server: OpenSearchServer, sink: SinkFactory, topic: str, tmp_path: Path
) -> None:
    certificate = write_certificate(tmp_path, "server")
    with Front(server.url, certificate=certificate) as front:
        writer = sink(
            schema_ignore="true", connection_url=front.url, elastic_security_protocol="SSL",
            elastic_https_ssl_truststore_location=str(certificate),
        )  # fmt: skip
        writer.put(record(topic, 0, "a", {"n": 1}))
        aiven = Sink(
            {
                "connector.class": "io.aiven.kafka.connect.opensearch.OpensearchSinkConnector",
                "connection.url": front.url,
                "connection.ssl.truststore.location": str(certificate),
                "schema.ignore": "true",
            }
        )
        aiven.put(record(topic, 1, "b", {"n": 1}))
        aiven.stop()
    assert server.count(topic) == 2


def test_tls_does_not_trust_strangers(server: OpenSearchServer, sink: SinkFactory, tmp_path: Path) -> None:
    with Front(server.url, certificate=write_certificate(tmp_path, "server")) as front:
        with pytest.raises(ConnectError, match=r"is not trusted.*ssl.truststore.location"):
            sink(connection_url=front.url)
        assert front.seen == []


def test_tls_looks_at_the_name_of_the_host(
    server: OpenSearchServer, sink: SinkFactory, topic: str, tmp_path: Path
) -> None:
    certificate = write_certificate(tmp_path, "server", address="127.0.0.2")
    with Front(server.url, certificate=certificate) as front:
        settings = {"connection_url": front.url, "elastic_https_ssl_truststore_location": str(certificate)}
        with pytest.raises(ConnectError, match="is not trusted"):
            sink(**settings)
        sink(schema_ignore="true", elastic_https_ssl_endpoint_identification_algorithm="", **settings).put(
            record(topic, 0, "a", {"n": 1})
        )
    assert server.count(topic) == 1


def test_tls_shows_the_clients_certificate(
    server: OpenSearchServer, sink: SinkFactory, topic: str, tmp_path: Path
) -> None:
    own, client = write_certificate(tmp_path, "server"), write_certificate(tmp_path, "client", password="s3cret")
    with Front(server.url, certificate=own, client_authority=client) as front:
        settings = {
            "schema_ignore": "true", "connection_url": front.url, "elastic_https_ssl_truststore_location": str(own),
            "retry_backoff_ms": "1",
        }  # fmt: skip
        with pytest.raises(ConnectError, match="failed 6 times"):
            sink(**settings)
        keys = {"elastic_https_ssl_keystore_location": str(client), "elastic_https_ssl_key_password": "s3cret"}
        sink(**settings, **keys).put(record(topic, 0, "a", {"n": 1}))
        with pytest.raises(ConfigError, match="no certificate with a key that can be used") as caught:
            sink(**settings, **{**keys, "elastic_https_ssl_key_password": "wr0ng"})
        assert "wr0ng" not in str(caught.value)
    assert server.count(topic) == 1


def test_a_proxy_is_gone_through(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    with Front(server.url, proxy=True, user="me", password="there") as proxy:
        settings = {"schema_ignore": "true", "proxy_host": "127.0.0.1", "proxy_port": str(proxy.port)}
        writer = sink(**settings, proxy_username="me", proxy_password="there", connection_url="http://search.test:9200")
        writer.put(record(topic, 0, "a", {"n": 1}))
        assert ("POST", "/_bulk", False) in proxy.seen
    assert server.count(topic) == 1


def test_stores_that_python_cannot_read_are_refused_with_the_way_out(tmp_path: Path) -> None:
    store = tmp_path / "trust.jks"
    store.write_bytes(b"\xfe\xed\xfe\xed")
    config = {"connection.url": "https://localhost:9200", "elastic.https.ssl.truststore.location": str(store)}
    (found,) = ElasticsearchSinkConnector.validate(config)
    assert found.name == "elastic.https.ssl.truststore.location"
    assert "is not a PEM file" in found.errors[0]
    assert "keytool -exportcert" in found.errors[0]
    task = SearchSinkTask(config)
    with pytest.raises(ConfigError, match="is not a PEM file"):
        task.start()
    task.stop()
