"""Names, settings, requests and retries, without a server."""

from __future__ import annotations

import pytest

from penstock.connect.api import CONNECTORS, SinkConnector, connector_kind
from penstock.connect.connectors.search.actions import Action
from penstock.connect.connectors.search.bulk import Cause, Refusal, _sort_out, bulks
from penstock.connect.connectors.search.client import described
from penstock.connect.connectors.search.nodes import Nodes
from penstock.connect.connectors.search.opensearch import OpensearchSinkConnector
from penstock.connect.connectors.search.sink import ElasticsearchSinkConnector
from penstock.connect.errors import ConfigError
from penstock.connect.validation import ConnectorKind
from tests.connect.search.sink_driver import record

URL = {"connection.url": "http://localhost:9200"}


@pytest.mark.parametrize(
    ("name", "expected"),
    [
        ("io.confluent.connect.elasticsearch.ElasticsearchSinkConnector", ElasticsearchSinkConnector),
        ("ElasticsearchSinkConnector", ElasticsearchSinkConnector),
        ("ElasticsearchSink", ElasticsearchSinkConnector),
        ("io.aiven.connect.elasticsearch.ElasticsearchSinkConnector", ElasticsearchSinkConnector),
        ("io.aiven.kafka.connect.opensearch.OpensearchSinkConnector", OpensearchSinkConnector),
        ("OpensearchSink", OpensearchSinkConnector),
    ],
)
def test_the_connectors_are_found_by_the_names_they_are_known_by(name: str, expected: type[SinkConnector]) -> None:
    assert CONNECTORS.find(name) is expected
    assert connector_kind(expected) is ConnectorKind.SINK


def test_a_task_for_each_that_is_allowed() -> None:
    assert ElasticsearchSinkConnector(URL).task_configs(3) == [URL] * 3


@pytest.mark.parametrize(
    ("url", "message"),
    [
        ("", "Empty list"),
        ("localhost:9200", "Not a URL of a server.*http://localhost:9200"),
        ("http://", "Not a URL"),
        ("http://a:b", "Not a URL"),
        ("http://a:9200,ftp://b", "ftp://b"),
    ],
)
def test_urls_that_are_none_are_refused(url: str, message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ElasticsearchSinkConnector({"connection.url": url})


def test_a_password_in_a_url_is_refused_without_being_shown() -> None:
    with pytest.raises(ConfigError, match=r"connection.username and connection.password") as caught:
        ElasticsearchSinkConnector({"connection.url": "http://me:s3cret@localhost:9200"})
    assert "s3cret" not in str(caught.value)


@pytest.mark.parametrize(
    ("settings", "key", "message"),
    [
        ({"connection.username": "me"}, "connection.password", "must be set too"),
        ({"connection.password": "x"}, "connection.username", "must be set too"),
        ({"elastic.security.protocol": "SSL"}, "connection.url", "not a URL of https"),
        ({"elastic.https.ssl.keystore.location": "/none.pem"}, "elastic.https.ssl.keystore.location", "cannot be read"),
        ({"data.stream.type": "logs"}, "data.stream.dataset", "must be set too"),
        ({"data.stream.dataset": "shop"}, "data.stream.type", "must be set too"),
        (
            {"data.stream.type": "logs", "data.stream.dataset": "shop", "write.method": "upsert"},
            "write.method",
            "cannot be updated",
        ),
        (
            {"data.stream.type": "logs", "data.stream.dataset": "shop", "behavior.on.null.values": "delete"},
            "behavior.on.null.values",
            "cannot be deleted",
        ),
        ({"external.resource.usage": "INDEX"}, "topic.to.external.resource.mapping", "must be set too"),
        ({"topic.to.external.resource.mapping": "a:b"}, "external.resource.usage", "must be set too"),
        (
            {"external.resource.usage": "index", "topic.to.external.resource.mapping": "a:b", "topics": "a,c,d"},
            "topic.to.external.resource.mapping",
            "does not say where c, d goes",
        ),
        ({"kerberos.user.principal": "me"}, "kerberos.user.principal", "not supported"),
    ],
)
def test_settings_that_do_not_fit_together_are_named(settings: dict[str, str], key: str, message: str) -> None:
    (found,) = ElasticsearchSinkConnector.validate({**URL, **settings})
    assert found.name == key
    assert message in found.errors[0]


@pytest.mark.parametrize(
    ("settings", "message"),
    [
        ({"topic.index.map": "a"}, "Not of the form topic:name"),
        ({"topic.index.map": "a:b,a:c"}, "The topic a is there twice"),
        ({"data.stream.dataset": "Shop"}, "lower case"),
        ({"data.stream.dataset": "a-b"}, "Must not contain '-'"),
        ({"batch.size": "0"}, "at least 1"),
        ({"behavior.on.null.values": "explode"}, "IGNORE, DELETE, FAIL"),
    ],
)
def test_settings_with_wrong_values_are_refused(settings: dict[str, str], message: str) -> None:
    with pytest.raises(ConfigError, match=message):
        ElasticsearchSinkConnector({**URL, **settings})


def test_aivens_settings_that_do_not_fit_together_have_aivens_names() -> None:
    found = OpensearchSinkConnector.validate({**URL, "data.stream.enabled": "true", "index.write.method": "upsert"})
    assert [(one.name, one.errors) for one in found] == [
        ("index.write.method", ["Documents of a data stream cannot be updated: use insert."])
    ]
    assert OpensearchSinkConnector(URL).settings["behavior.on.null.values"] == "ignore"


def action(offset: int, lines: bytes = b"x" * 10, key: str = "a", *, once: bool = True) -> Action:
    return Action(record("t", offset, key, {}), lines, key, "t", once)


@pytest.mark.parametrize(
    ("most", "size", "expected"),
    [(100, -1, [7]), (3, -1, [3, 3, 1]), (100, 30, [3, 3, 1]), (100, 39, [3, 3, 1]), (100, 5, [1] * 7), (2, 30, [2, 2, 2, 1])],
)  # fmt: skip
def test_requests_have_so_many_documents_and_so_many_bytes(most: int, size: int, expected: list[int]) -> None:
    assert [len(bulk) for bulk in bulks([action(n) for n in range(7)], most, size)] == expected


def test_a_document_that_is_larger_than_a_request_is_sent_alone() -> None:
    assert [len(bulk) for bulk in bulks([action(0), action(1, b"x" * 99), action(2)], 100, 50)] == [1, 1, 1]


def item(status: int, kind: str | None = None) -> dict[str, object]:
    error = {} if kind is None else {"error": {"type": kind, "reason": "because"}}
    return {"index": {"status": status, **error}}


def test_updates_that_were_too_fast_come_again_behind_the_one_that_comes_again() -> None:
    """Three updates of a, of which the first met a full queue: sent again alone, it would win over the others."""
    actions = [action(0, once=False), action(1, key="b", once=False), action(2, once=False), action(3, once=False)]
    items = [
        item(429, "rejected_execution_exception"),
        item(200),
        item(200),
        item(409, "version_conflict_engine_exception"),
    ]
    refusals: list[Refusal] = []
    again, reason = _sort_out(actions, {"errors": True, "items": items}, refusals)
    assert [one.record.offset for one in again] == [0, 2, 3]
    assert refusals == []
    assert "because" in reason


def test_versioned_documents_come_again_alone() -> None:
    actions = [action(0), action(1), action(2), action(3), action(4), action(5)]
    items = [
        item(503, "unavailable_shards_exception"),
        item(200),
        item(409, "version_conflict_engine_exception"),
        item(400, "mapper_parsing_exception"),
        item(404, "index_not_found_exception"),
        item(403, "security_exception"),
    ]
    refusals: list[Refusal] = []
    again, _ = _sort_out(actions, {"errors": True, "items": items}, refusals)
    assert [one.record.offset for one in again] == [0]
    assert [(one.action.record.offset, one.cause) for one in refusals] == [
        (2, Cause.CONFLICT), (3, Cause.MALFORMED), (4, Cause.MISSING), (5, Cause.OTHER),
    ]  # fmt: skip


def test_causes_are_part_of_what_an_error_says() -> None:
    error = {"type": "a", "reason": "first", "caused_by": {"type": "b", "reason": "second"}}
    assert described(error) == ("a", "a: first; b: second")
    assert described("text") == ("", "text")


def test_a_node_that_failed_is_asked_again_after_a_minute_or_when_none_is_left() -> None:
    now = 0.0
    nodes = Nodes(["http://a/", "http://b"], now=lambda: now)
    nodes.failed("http://a")
    assert [nodes.next() for _ in range(3)] == ["http://b"] * 3
    now = 30.0
    nodes.failed("http://b")
    assert nodes.next() == "http://a", "both failed, a longer ago"
    now = 61.0
    assert [nodes.next() for _ in range(2)] == ["http://a"] * 2
    nodes.answered("http://b")
    assert {nodes.next() for _ in range(2)} == {"http://a", "http://b"}
