from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest

from penstock.cli.errors import InputError
from penstock.cli.produce import NewRecord, _parser
from penstock.cli.record_formats import Format
from tests.cli.conftest import Penstock

TopicFactory = Callable[..., str]


def parsed(line: str, **options: Any) -> NewRecord:
    separator = options.pop("separator", None)
    kinds = options.pop("key", Format.STRING), options.pop("value", Format.STRING)
    return _parser(separator, *kinds, json=separator is None and options.pop("json", True))(line.encode())


def test_lines_with_and_without_keys() -> None:
    assert parsed("a:b", json=False) == NewRecord(None, b"a:b")
    assert parsed("k::v:w", separator=b"::") == NewRecord(b"k", b"v:w")
    assert parsed("", json=False) == NewRecord(None, b"")
    assert parsed("7=8", separator=b"=", key=Format.SHORT, value=Format.SHORT) == NewRecord(b"\0\7", b"\0\x08")
    with pytest.raises(InputError, match="there is no ':' between key and value: oops"):
        parsed("oops", separator=b":")


def test_json_lines_with_all_fields() -> None:
    line = {
        "key": "k",
        "value": {"n": 1},
        "headers": {"a": "x", "b": None, "c": 3},
        "timestamp": 5,
        "partition": 2,
        "offset": 9,
        "topic": "other",
    }
    headers = (("a", b"x"), ("b", None), ("c", b"3"))
    assert parsed(json.dumps(line)) == NewRecord(b"k", b'{"n":1}', headers, 5, 2)
    assert parsed('{"value": "v"}') == NewRecord(None, b"v")
    assert parsed('{"value": null, "key": 1}') == NewRecord(b"1", None)
    assert parsed('{"value": "v", "headers": [["a", "1"], ["a", "2"]]}').headers == (("a", b"1"), ("a", b"2"))


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("2024-01-02T03:04:05Z", 1704164645000),
        ("2024-01-02T03:04:05.678", 1704164645678),
        ("2024-01-02T04:04:05+01:00", 1704164645000),
    ],
)
def test_timestamps_may_be_iso(text: str, expected: int) -> None:
    assert parsed(json.dumps({"value": 1, "timestamp": text})).timestamp == expected


@pytest.mark.parametrize(
    ("line", "message"),
    [
        ("nope", "this is no JSON .* at column 1.*: nope"),
        ("[1]", r"a record is a JSON object, not \[1\]"),
        ('{"key": "k"}', 'the field "value" is missing. A tombstone is written'),
        ('{"vlaue": 1}', "unknown field 'vlaue'. Did you mean 'value'?"),
        ('{"value": 1, "zzz": 1}', "unknown field 'zzz'. Known are key, value, headers, timestamp, partition"),
        ('{"value": 1, "headers": ["a"]}', "headers are an object or a list of pairs"),
        ('{"value": 1, "headers": 5}', "headers are an object or a list of pairs"),
        ('{"value": 1, "timestamp": "soon"}', "timestamp soon is neither milliseconds"),
        ('{"value": 1, "timestamp": true}', "timestamp true is neither"),
        ('{"value": 1, "timestamp": -1}', "timestamp -1 is neither"),
        ('{"value": 1, "partition": "one"}', "partition one is not a number"),
    ],
)
def test_bad_json_lines_say_what_is_wrong(line: str, message: str) -> None:
    with pytest.raises(InputError, match=message):
        parsed(line)


@pytest.mark.broker
def test_lines_become_records(penstock: Penstock, topic: TopicFactory) -> None:
    name = topic()
    assert penstock("produce", name, stdin="one\ntwo\r\n\nlast") == (0, "", f"Sent 4 records to {name}.\n")
    assert penstock("consume", name).out == "one\ntwo\n\nlast\n"


@pytest.mark.broker
def test_what_is_consumed_as_json_can_be_produced_again(penstock: Penstock, topic: TopicFactory) -> None:
    first, copy = topic("first"), topic("copy")
    line = '{"key": "k", "value": "v", "headers": [["h", "1"], ["h", null]], "timestamp": 5}\n{"key": "k", "value": null, "timestamp": 6}\n'
    assert penstock("produce", first, "--json", stdin=line).code == 0
    consumed = penstock("consume", first, "--json").out
    assert penstock("produce", copy, "--json", stdin=consumed).code == 0
    assert penstock("consume", copy, "--json").out == consumed.replace(first, copy)


@pytest.mark.broker
def test_a_bad_line_is_named_and_what_was_sent_is_said(penstock: Penstock, topic: TopicFactory) -> None:
    name = topic()
    done = penstock("produce", name, "--json", stdin='{"value": 1}\n{"value": 2}\n{"value": \n{"value": 4}\n')
    assert done.code == 1
    assert done.err.startswith("penstock: Line 3: this is no JSON")
    assert done.err.endswith("(the 2 before it were sent)\n")
    assert penstock("consume", name).out == "1\n2\n"
    assert penstock("produce", name, "--value-format", "int", stdin="x\n").err == (
        "penstock: Line 1: 'x' is not an int (nothing was sent)\n"
    )


@pytest.mark.broker
def test_records_the_broker_refuses_are_an_error_with_the_likely_cause(penstock: Penstock, topic: TopicFactory) -> None:
    name = topic(config={"cleanup.policy": "compact"})
    done = penstock("produce", name, stdin="no key\n")
    assert done.code == 1
    assert "1 record was not delivered" in done.err
    assert "a compacted topic takes no record without a key" in done.err
    mixed = penstock("produce", name, "--json", stdin='{"value": 1}\nnope\n')
    assert "Line 2: this is no JSON" in mixed.err
    assert "of the 1 before it, 1 record was not delivered" in mixed.err


@pytest.mark.broker
def test_a_missing_topic_and_contradicting_options(penstock: Penstock, topic: TopicFactory) -> None:
    name = topic()
    done = penstock("produce", f"{name}s", stdin="x\n")
    assert (done.code, done.out) == (1, "")
    assert f"Topic '{name}s' does not exist. Did you mean '{name}'?" in done.err
    both = penstock("produce", name, "--json", "-k", ":")
    assert both.code == 2
    assert "not with --json" in both.err
    partition = penstock("produce", name, "--json", stdin='{"value": 1, "partition": 7}\n')
    assert partition.code == 1
    assert partition.err == f"penstock: Line 1: topic {name} has no partition 7, only 0 to 0 (nothing was sent)\n"
