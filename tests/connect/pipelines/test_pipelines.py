from __future__ import annotations

import pytest

from penstock.connect.converters.json_converter import JsonConverter
from penstock.connect.converters.simple_header_converter import SimpleHeaderConverter
from penstock.connect.converters.string_converter import StringConverter
from penstock.connect.data import (
    INT8_SCHEMA,
    INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    ConnectHeaders,
    ConnectRecord,
    Header,
    Schema,
    SchemaAndValue,
    SinkRecord,
    SourceRecord,
    TimestampType,
)
from penstock.connect.errors import ConnectError, DataError, RetriableError
from penstock.connect.failures import ConsumedRecord, DeadLetterQueue, ErrorSettings, RetryWithTolerance
from penstock.connect.pipelines import SinkPipeline, SourcePipeline
from penstock.connect.transforms import TransformationChain, TransformationStage, configured_chain
from penstock.connect.transforms.transformation import Transformation
from penstock.handlers import DeadLetter
from penstock.records import Headers

CHAIN = {
    "transforms": "topic,skip",
    "transforms.topic.type": "InsertField$Value",
    "transforms.topic.topic.field": "from",
    "transforms.skip.type": "Filter",
    "transforms.skip.predicate": "marked",
    "predicates": "marked",
    "predicates.marked.type": "HasHeaderKey",
    "predicates.marked.name": "skip",
}


class StillClock:
    def now_ms(self) -> int:
        return 0

    def wait(self, millis: int) -> bool:
        return True


def _sink(settings: ErrorSettings, chain: TransformationChain | None, letters: list[DeadLetter]) -> SinkPipeline:
    return SinkPipeline(
        key_converter=StringConverter(),
        value_converter=JsonConverter({"schemas.enable": "false"}),
        header_converter=SimpleHeaderConverter(),
        chain=chain,
        operator=RetryWithTolerance(settings, [DeadLetterQueue("c", 0, settings, letters.append)], clock=StillClock()),
    )


def test_consumed_records_become_sink_records() -> None:
    pipeline = _sink(ErrorSettings(), configured_chain(CHAIN), [])
    records = [
        ConsumedRecord("a", 0, 1, b"k", b'{"x": 1}', 5, headers=Headers([("n", b"1")])),
        ConsumedRecord("b", 2, 9, None, None, 6),
        ConsumedRecord("a", 0, 2, b"k", b'{"x": 2}', 7, headers=Headers([("skip", b"true")])),
    ]
    assert pipeline.convert(records) == [
        SinkRecord(
            "a", 0, OPTIONAL_STRING_SCHEMA, "k", None, {"x": 1, "from": "a"}, 5,
            ConnectHeaders([Header("n", 1, INT8_SCHEMA)]), 1, TimestampType.CREATE_TIME, "a", 0, 1,
        ),
        SinkRecord(
            "b", 2, OPTIONAL_STRING_SCHEMA, None, None, None, 6,
            ConnectHeaders(), 9, TimestampType.CREATE_TIME, "b", 2, 9,
        ),
    ]  # fmt: skip


class BadHeaders(SimpleHeaderConverter):
    def to_connect_header(self, topic: str, name: str, data: bytes | None) -> SchemaAndValue:
        raise DataError("bad header")

    def from_connect_header(self, topic: str, name: str, schema: Schema | None, value: object) -> bytes | None:
        raise DataError("bad header")


def test_records_that_fail_at_any_step_become_dead_letters() -> None:
    letters: list[DeadLetter] = []
    settings = ErrorSettings(tolerate_all=True, dead_letter_topic="dlq", dead_letter_headers=True)
    pipeline = _sink(settings, configured_chain(CHAIN), letters)
    pipeline._header_converter = BadHeaders()
    records = [
        ConsumedRecord("a", 0, 1, b"\xff", b"{}"),
        ConsumedRecord("a", 0, 2, b"k", b"{"),
        ConsumedRecord("a", 0, 3, b"k", b"5"),
        ConsumedRecord("a", 0, 4, b"k", b"{}", headers=Headers([("h", b"1")])),
        ConsumedRecord("a", 0, 5, b"k", b"{}"),
    ]
    assert [record.offset for record in pipeline.convert(records)] == [5]
    assert [
        (letter.headers.last("__connect.errors.stage"), letter.headers.last("__connect.errors.offset"))
        for letter in letters
    ] == [
        (b"KEY_CONVERTER", b"1"),
        (b"VALUE_CONVERTER", b"2"),
        (b"TRANSFORMATION", b"3"),
        (b"HEADER_CONVERTER", b"4"),
    ]
    assert [letter.value for letter in letters] == [b"{}", b"{", b"5", b"{}"]
    classes = [letter.headers.last("__connect.errors.class.name") for letter in letters]
    assert classes[2] == b"penstock.connect.transforms.insert_field.InsertFieldValue"


@pytest.mark.parametrize(
    ("key", "value", "stage"),
    [(b"\xff", b"{}", "KEY_CONVERTER"), (b"k", b"{", "VALUE_CONVERTER"), (b"k", b"5", "TRANSFORMATION")],
)
def test_by_default_the_first_failure_ends_the_task(key: bytes, value: bytes, stage: str) -> None:
    pipeline = _sink(ErrorSettings(), configured_chain(CHAIN), [])
    with pytest.raises(ConnectError, match=rf"{stage} \(\w+\) of topic a, partition 0, offset 1 failed"):
        pipeline.convert([ConsumedRecord("a", 0, 1, key, value)])


class FailsOnce(Transformation):
    calls = 0

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        self.calls += 1
        if self.calls == 1:
            raise RetriableError("not now")
        return record


def test_a_transform_is_tried_again() -> None:
    transform = FailsOnce()
    chain = TransformationChain((TransformationStage("f", transform),))
    pipeline = _sink(ErrorSettings(retry_timeout_ms=-1), chain, [])
    assert len(pipeline.convert([ConsumedRecord("a", 0, 1, b"k", b"{}")])) == 1
    assert transform.calls == 2


def _source(settings: ErrorSettings, chain: TransformationChain | None = None) -> SourcePipeline:
    return SourcePipeline(
        key_converter=StringConverter(),
        value_converter=JsonConverter({"schemas.enable": "false"}),
        header_converter=SimpleHeaderConverter(),
        chain=chain,
        operator=RetryWithTolerance(settings, clock=StillClock()),
    )


def test_source_records_become_bytes() -> None:
    record = SourceRecord("a", 1, None, "k", INT32_SCHEMA, 5, 7, ConnectHeaders().add("h", [1]), {"f": "x"}, {"p": 1})
    [produced] = _source(ErrorSettings()).convert([record])
    assert produced == ("a", 1, b"k", b"5", 7, Headers([("h", b"[1]")]), record)
    chain = configured_chain({"transforms": "f", "transforms.f.type": "Filter"})
    assert _source(ErrorSettings(), chain).convert([record]) == []
    [routed] = _source(
        ErrorSettings(),
        configured_chain(
            {
                "transforms": "r",
                "transforms.r.type": "RegexRouter",
                "transforms.r.regex": "a",
                "transforms.r.replacement": "b",
            }
        ),
    ).convert([record.new_record(headers=ConnectHeaders())])
    assert (routed.topic, routed.source.topic, routed.headers) == ("b", "a", Headers())


def test_source_records_that_cannot_be_written() -> None:
    good = SourceRecord("a", value={"x": 1})
    bad_value = good.new_record(value={1})
    bad_key = SourceRecord("a", key="\ud800")
    bad_header = good.new_record(headers=ConnectHeaders().add("h", object()))
    bad_transform = SourceRecord("a", value=5)
    tolerant = _source(ErrorSettings(tolerate_all=True), configured_chain({
        "transforms": "t", "transforms.t.type": "InsertField$Value", "transforms.t.topic.field": "t",
    }))  # fmt: skip
    produced = tolerant.convert([bad_value, bad_key, bad_header, bad_transform, good])
    assert [one.value for one in produced] == [b'{"x":1,"t":"a"}']
    with pytest.raises(ConnectError, match=r"VALUE_CONVERTER \(JsonConverter\) of a record for topic a"):
        _source(ErrorSettings()).convert([bad_value])
    with pytest.raises(ConnectError, match="has no topic"):
        _source(ErrorSettings()).convert([SourceRecord(None)])
