"""Dead letters of sources, which Kafka does not have."""

from __future__ import annotations

from typing import Any

import pytest

from penstock.connect.data import (
    INT32_SCHEMA,
    STRING_SCHEMA,
    ConnectHeaders,
    Header,
    SchemaBuilder,
    SourceRecord,
    Struct,
)
from penstock.connect.errors import DataError
from penstock.connect.failures import DeadLetterQueue, EncodedRecord, ErrorSettings, Failure, Stage
from penstock.connect.failures.letter_text import header_text, json_text
from penstock.handlers import DeadLetter
from penstock.kafka.errors import RecordTooLarge
from penstock.records import Headers

SCHEMA = SchemaBuilder.struct().field("id", INT32_SCHEMA).build()
RECORD = SourceRecord(
    "rows",
    None,
    STRING_SCHEMA,
    "k",
    SCHEMA,
    Struct(SCHEMA).put("id", 5),
    1700000000000,
    ConnectHeaders([Header("h", 7, INT32_SCHEMA)]),
    {"table": "a"},
    {"id": 5},
)
SETTINGS = ErrorSettings(tolerate_all=True, dead_letter_topic="dlq", dead_letter_headers=True)


def failure(stage: Stage = Stage.VALUE_CONVERTER, encoded: EncodedRecord | None = None) -> Failure:
    return Failure(stage, "JsonConverter", DataError("bad"), RECORD, encoded=encoded)


def test_a_record_without_bytes_is_sent_as_json() -> None:
    sent: list[DeadLetter] = []
    DeadLetterQueue("c", 1, SETTINGS, sent.append).report(failure())
    (letter,) = sent
    assert (letter.topic, letter.key, letter.value, letter.timestamp) == ("dlq", b'"k"', b'{"id":5}', 1700000000000)
    headers = dict(letter.headers)
    assert b"DataError: bad" in (headers.pop("__connect.errors.exception.stacktrace") or b"")
    assert headers == {
        "h": b"7",
        "__connect.errors.topic": b"rows",
        "__connect.errors.source.partition": b'{"table": "a"}',
        "__connect.errors.source.offset": b'{"id": 5}',
        "__connect.errors.connector.name": b"c",
        "__connect.errors.task.id": b"1",
        "__connect.errors.stage": b"VALUE_CONVERTER",
        "__connect.errors.class.name": b"JsonConverter",
        "__connect.errors.exception.class.name": b"org.apache.kafka.connect.errors.DataException",
        "__connect.errors.exception.message": b"bad",
    }


def test_a_record_that_the_producer_refused_is_sent_as_it_was_to_be() -> None:
    sent: list[DeadLetter] = []
    encoded = EncodedRecord(b"k", b"v", Headers([("h", b"7")]))
    settings = ErrorSettings(tolerate_all=True, dead_letter_topic="dlq")
    DeadLetterQueue("c", 1, settings, sent.append).report(failure(Stage.KAFKA_PRODUCE, encoded))
    assert (sent[0].key, sent[0].value, sent[0].headers) == encoded


def test_of_a_record_that_is_too_large_its_place_is_kept_whatever_the_settings_say() -> None:
    sent: list[DeadLetter] = []

    def send(letter: DeadLetter) -> None:
        if letter.value:
            raise RecordTooLarge(letter.topic)
        sent.append(letter)

    settings = ErrorSettings(tolerate_all=True, dead_letter_topic="dlq")
    queue = DeadLetterQueue("c", 1, settings, send)
    queue.report(failure(Stage.KAFKA_PRODUCE, EncodedRecord(b"k", b"v" * 10)))
    (letter,) = sent
    headers = dict(letter.headers)
    assert letter.key is None
    assert headers["__connect.errors.source.offset"] == b'{"id": 5}'
    assert headers["__connect.errors.left.out"] == b"key and value of 11 bytes are left out: too large for a letter"
    assert queue.sent == 1


def itself() -> list[Any]:
    endless: list[Any] = []
    endless.append(endless)
    return endless


@pytest.mark.parametrize(
    ("value", "text"),
    [(None, None), ("x", b'"x"'), ({"a": 1}, b'{"a":1}'), (object, b"\"<class 'object'>\""), (itself(), b'"[[...]]"')],
)
def test_whatever_is_in_a_record_can_be_written(value: Any, text: bytes | None) -> None:
    assert json_text(None, value) == text


def test_whatever_is_in_a_header_can_be_written() -> None:
    assert header_text(Header("h", None, None)) is None
    assert header_text(Header("h", object, None)) == b"<class 'object'>"
