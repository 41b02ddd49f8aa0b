"""Transforms of topics and headers, predicates, paths."""

from __future__ import annotations

import pytest

from penstock.connect.data import INT8_SCHEMA, STRING_SCHEMA, ConnectHeaders, Header, SinkRecord
from penstock.connect.errors import ConfigError, DataError
from penstock.connect.transforms import PREDICATES, TRANSFORMS
from penstock.connect.transforms.field_path import FieldPath

RECORD = SinkRecord("orders-eu", 0, None, "k", None, {"a": 1}, 1483425001864)


def test_drop_headers_removes_all_of_a_name() -> None:
    record = RECORD.new_record(headers=ConnectHeaders([Header("a", 1), Header("b", 2), Header("a", 3)]))
    after = TRANSFORMS.find("DropHeaders")({"headers": "a, c"}).apply(record)
    assert after is not None
    assert list(after.headers) == [Header("b", 2)]


def test_insert_header_adds_a_typed_value() -> None:
    transform = TRANSFORMS.find("InsertHeader")({"header": "h", "value.literal": "1"})
    once = transform.apply(RECORD)
    assert once is not None
    twice = transform.apply(once)
    assert twice is not None
    assert list(twice.headers) == [Header("h", 1, INT8_SCHEMA)] * 2
    text = TRANSFORMS.find("InsertHeader")({"header": "h", "value.literal": "a b"}).apply(RECORD)
    assert text is not None
    assert text.headers[0].schema == STRING_SCHEMA
    for settings in ({"header": "", "value.literal": "1"}, {"header": "h", "value.literal": ""}, {"header": "h"}):
        with pytest.raises(ConfigError):
            TRANSFORMS.find("InsertHeader")(settings)


@pytest.mark.parametrize(
    ("regex", "replacement", "topic"),
    [
        ("orders-(.*)", "all-$1", "all-eu"),
        ("(?<kind>.*)-(?<region>..)", "${region}.${kind}", "eu.orders"),
        ("orders", "x", "orders-eu"),
        ("(o)(.*)", "$1$2$10", "orders-euo0"),
        (".*", r"a\$b\\", "a$b\\"),
        (r"\Qorders-eu\E", "q", "q"),
        (r"\p{Alpha}+-\p{Lower}{2}", "p", "p"),
    ],
)
def test_regex_router(regex: str, replacement: str, topic: str) -> None:
    transform = TRANSFORMS.find("RegexRouter")({"regex": regex, "replacement": replacement})
    for _ in range(2):
        after = transform.apply(RECORD)
        assert after is not None
        assert after.topic == topic
    assert transform.apply(RECORD.new_record(topic=None)) == RECORD.new_record(topic=None)


@pytest.mark.parametrize(("regex", "replacement"), [("a", "$1"), ("a", "${x}"), ("a", "$"), ("a", "\\"), ("[", "x")])
def test_regex_router_checks_its_patterns(regex: str, replacement: str) -> None:
    with pytest.raises(ConfigError, match="Invalid value"):
        TRANSFORMS.find("RegexRouter")({"regex": regex, "replacement": replacement})


def test_timestamp_router() -> None:
    transform = TRANSFORMS.find("TimestampRouter")(
        {"topic.format": "${timestamp}/${topic}", "timestamp.format": "yyyy-MM"}
    )
    after = transform.apply(RECORD)
    assert after is not None
    assert after.topic == "2017-01/orders-eu"
    with pytest.raises(DataError, match="Timestamp missing on record of topic orders-eu"):
        transform.apply(RECORD.new_record(timestamp=None))
    with pytest.raises(ConfigError, match="Illegal pattern character"):
        TRANSFORMS.find("TimestampRouter")({"timestamp.format": "bbb"})


def test_filter_drops() -> None:
    transform = TRANSFORMS.find("Filter")()
    assert transform.apply(RECORD) is None
    transform.close()


def test_predicates() -> None:
    tombstone = PREDICATES.find("RecordIsTombstone")()
    assert [tombstone.test(RECORD), tombstone.test(RECORD.with_value(None, None))] == [False, True]
    header = PREDICATES.find("HasHeaderKey")({"name": "h"})
    assert [header.test(RECORD), header.test(RECORD.new_record(headers=ConnectHeaders().add("h", None)))] == [
        False,
        True,
    ]
    topic = PREDICATES.find("org.apache.kafka.connect.transforms.predicates.TopicNameMatches")({"pattern": "orders-.*"})
    assert [topic.test(RECORD), topic.test(RECORD.new_record(topic="my-orders-eu"))] == [True, False]
    topic.close()


@pytest.mark.parametrize(
    ("path", "steps"),
    [
        ("", ()),
        ("a", ("a",)),
        ("a.b", ("a", "b")),
        ("`a.b`", ("a.b",)),
        ("`a`.b", ("a", "b")),
        ("a.`b.c`.d", ("a", "b.c", "d")),
        ("..", ("", "", "")),
        ("`a`b`.c", ("a`b", "c")),
        ("`a\\`.b`", ("a`.b",)),
    ],
)
def test_paths(path: str, steps: tuple[str, ...]) -> None:
    assert FieldPath.parse(path, "V2").steps == steps
    assert FieldPath.parse(path).steps == (path,)


@pytest.mark.parametrize("path", ["`", "`a", "a.`b", "`a\\`"])
def test_paths_with_an_open_backtick(path: str) -> None:
    with pytest.raises(ConfigError, match=f"Incomplete backtick pair .* position {path.index('`')}"):
        FieldPath.parse(path, "V2")
