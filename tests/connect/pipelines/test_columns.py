"""Records by columns go the same way as one by one."""

from __future__ import annotations

import json
from collections.abc import Callable
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connect.converters.registry import configured_converter, configured_header_converter
from penstock.connect.data import ConnectRecord, SinkColumns, SinkRecord, TimestampType
from penstock.connect.errors import ConnectError
from penstock.connect.failures import ConsumedColumns, ErrorSettings, Failure, RetryWithTolerance
from penstock.connect.pipelines import SinkPipeline
from penstock.connect.transforms.chain import configured_chain
from penstock.connect.transforms.transformation import Transformation
from penstock.records import Headers

STATIC = {
    "transforms.s.type": "org.apache.kafka.connect.transforms.InsertField$Value",
    "transforms.s.static.field": "origin",
    "transforms.s.static.value": "here",
}
WHERE = {
    "transforms.w.type": "org.apache.kafka.connect.transforms.InsertField$Value",
    "transforms.w.offset.field": "at",
    "transforms.w.timestamp.field": "time",
}
CAST = {"transforms.c.type": "org.apache.kafka.connect.transforms.Cast$Value", "transforms.c.spec": "a:int32"}
DROP = {
    "transforms.d.type": "org.apache.kafka.connect.transforms.Filter",
    "transforms.d.predicate": "p",
    "predicates": "p",
    "predicates.p.type": "org.apache.kafka.connect.transforms.predicates.RecordIsTombstone",
}
CONDITIONAL = {**STATIC, "transforms.s.predicate": "p", "transforms.s.negate": "true"}
CHAINS: list[dict[str, str]] = [
    {},
    {"transforms": "s", **STATIC},
    {"transforms": "w", **WHERE},
    {"transforms": "s,w,c", **STATIC, **WHERE, **CAST},
    {"transforms": "c,s", **STATIC, **CAST},
    {"transforms": "d,s", **STATIC, **DROP},
    {"transforms": "d,s", **CONDITIONAL, **DROP},
]
VALUES = st.sampled_from(
    [b'{"a": 1}', b'{"a": "7", "b": null}', b'{"a": "x"}', b"[1]", b"3", b"no json", b"null", b"", None, b'{"a": 007}']
)
KEYS = st.sampled_from([b"k", b"", None, "ä".encode("latin-1")])
RECORDS = st.one_of(st.lists(st.tuples(KEYS, VALUES), max_size=8), st.lists(st.tuples(st.none(), VALUES), max_size=8))


def by_columns_or_not(made: SinkPipeline, given_columns: ConsumedColumns) -> list[SinkRecord]:
    found = made.convert_columns(given_columns)
    return found.records() if isinstance(found, SinkColumns) else found


class Reports:
    def __init__(self) -> None:
        self.failures: list[tuple[str, Any]] = []

    def report(self, failure: Failure) -> None:
        self.failures.append((failure.stage.value, failure.record))


def pipeline(chain: dict[str, str], *, tolerant: bool) -> tuple[SinkPipeline, Reports]:
    settings = {
        "key.converter": "StringConverter",
        "value.converter": "JsonConverter",
        "value.converter.schemas.enable": "false",
        **chain,
    }
    reports = Reports()
    made = SinkPipeline(
        key_converter=configured_converter(settings, "key.converter"),
        value_converter=configured_converter(settings, "value.converter"),
        header_converter=configured_header_converter(settings),
        chain=configured_chain(settings),
        operator=RetryWithTolerance(ErrorSettings(tolerate_all=tolerant), (reports,)),
    )
    return made, reports


def columns(
    values: list[bytes | None], *, keys: list[bytes | None] | None = None, headers: bool = False
) -> ConsumedColumns:
    count = len(values)
    return ConsumedColumns(
        "t", 1, list(range(5, 5 + count)), [b"k"] * count if keys is None else keys, values, list(range(100, 100 + count)),
        [TimestampType.CREATE_TIME] * count, [Headers([("h", b"1")])] * count if headers else None,
    )  # fmt: skip


@given(records=RECORDS, chain=st.sampled_from(CHAINS), headers=st.booleans(), tolerant=st.booleans())
def test_the_same_records_and_failures_either_way(
    records: list[tuple[bytes | None, bytes | None]], chain: dict[str, str], headers: bool, tolerant: bool
) -> None:
    def outcome(by_columns: bool) -> Any:
        made, reports = pipeline(chain, tolerant=tolerant)
        keys, values = [key for key, _ in records], [value for _, value in records]
        given_columns = columns(values, keys=keys, headers=headers)
        try:
            found: list[SinkRecord] | str = (
                by_columns_or_not(made, given_columns) if by_columns else made.convert(given_columns.rows())
            )
        except ConnectError as error:
            found = str(error)
        return found, reports.failures

    assert outcome(by_columns=True) == outcome(by_columns=False)


@pytest.mark.parametrize("chain", CHAINS, ids=lambda chain: chain.get("transforms", "none"))
def test_good_records_are_records(chain: dict[str, str]) -> None:
    made, _ = pipeline(chain, tolerant=False)
    good: list[bytes | None] = [json.dumps({"a": number}).encode() for number in range(3)]
    records = by_columns_or_not(made, columns(good))
    assert [type(record) for record in records] == [SinkRecord] * 3
    assert [record.offset for record in records] == [5, 6, 7]
    assert [record.value["a"] for record in records] == [0, 1, 2]
    assert all(("origin" in record.value) is ("s" in chain.get("transforms", "")) for record in records)


class Picky(Transformation):
    """Changes maps, and refuses some."""

    def map_function(self) -> Callable[[dict[str, Any]], dict[str, Any]]:
        def change(value: dict[str, Any]) -> dict[str, Any]:
            if value["a"] == 1:
                raise ValueError("one is no number")
            return {**value, "seen": True}

        return change

    def apply(self, record: ConnectRecord) -> ConnectRecord:
        return record.new_record(value=self.map_function()(record.value))


def test_a_transform_that_fails_in_a_loop_over_maps_fails_for_its_record_alone() -> None:
    made, reports = pipeline({"transforms": "p", "transforms.p.type": f"{__name__}:Picky"}, tolerant=True)
    values: list[bytes | None] = [json.dumps({"a": number}).encode() for number in range(3)]
    assert [record.value["a"] for record in by_columns_or_not(made, columns(values))] == [0, 2]
    ((stage, record),) = reports.failures
    assert (stage, record.offset) == ("TRANSFORMATION", 6)
