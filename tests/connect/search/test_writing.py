"""What arrives in a real OpenSearch: ids, versions, mappings, deletes, upserts, data streams."""

from __future__ import annotations

import random
from datetime import datetime, timezone
from decimal import Decimal
from typing import Any

import pytest

from penstock.connect.data import (
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT32_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    ConnectHeaders,
    SchemaBuilder,
    SinkRecord,
    Struct,
    decimal_schema,
)
from penstock.connect.errors import ConnectError
from tests.connect.search.conftest import SinkFactory
from tests.connect.search.sink_driver import record
from tests.servers.opensearch import OpenSearchServer

ORDER = (
    SchemaBuilder.struct()
    .field("id", INT64_SCHEMA)
    .field("city", OPTIONAL_STRING_SCHEMA)
    .field("weight", FLOAT32_SCHEMA)
    .field("price", decimal_schema(2))
    .field("day", DATE_SCHEMA)
    .field("at", TIMESTAMP_SCHEMA)
    .field("seal", BYTES_SCHEMA)
    .field("pieces", SchemaBuilder.int32().default(1).build())
    .field("tags", SchemaBuilder.map(STRING_SCHEMA, INT32_SCHEMA).build())
    .field("shelves", SchemaBuilder.map(INT32_SCHEMA, STRING_SCHEMA).build())
    .field("lines", SchemaBuilder.array(SchemaBuilder.struct().field("item", STRING_SCHEMA).build()).build())
    .build()
)


def order(number: int = 7, **more: Any) -> Struct:
    line = Struct(ORDER.fields[-1].schema.value_schema or ORDER, {"item": "tap"})
    midnight, noon = datetime(2024, 5, 1, tzinfo=timezone.utc), datetime(2024, 5, 1, 12, tzinfo=timezone.utc)
    values = {
        "id": number, "city": "Rome", "weight": 0.1, "price": Decimal("19.90"), "day": midnight, "at": noon,
        "seal": b"\x00\xff", "tags": {"new": 1}, "shelves": {3: "top"}, "lines": [line], **more,
    }  # fmt: skip
    return Struct(ORDER, values)


def test_documents_have_the_text_of_the_key_as_id_and_the_offset_as_version(
    server: OpenSearchServer, sink: SinkFactory, topic: str
) -> None:
    sink(schema_ignore="true").put(
        record(topic, 0, "a", {"n": 1}),
        record(topic, 1, 42, {"n": 2}),
        record(topic, 2, "ü/ä ", {"n": 3}),
        record(topic, 3, "a", {"n": 4}),
    )
    assert server.documents(topic) == {"a": {"n": 4}, "42": {"n": 2}, "ü/ä ": {"n": 3}}
    assert server.call("GET", f"/{topic}/_doc/a")["_version"] == 3


def test_a_schema_becomes_the_mapping_of_a_new_index(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    sink().put(record(topic, 0, "a", order(), value_schema=ORDER))
    text = {"type": "text", "fields": {"keyword": {"type": "keyword", "ignore_above": 256}}}
    properties = server.call("GET", f"/{topic}/_mapping")[topic]["mappings"]["properties"]
    assert properties == {
        "id": {"type": "long"},
        "city": text,
        "weight": {"type": "float"},
        "price": {"type": "double"},
        "day": {"type": "date"},
        "at": {"type": "date"},
        "seal": {"type": "binary"},
        "pieces": {"type": "integer", "null_value": 1},
        "tags": {"properties": {"new": {"type": "long"}}},  # an object whose fields the server finds out
        "shelves": {"properties": {"key": {"type": "integer"}, "value": text}},
        "lines": {"properties": {"item": text}},
    }
    assert server.documents(topic)["a"] == {
        "id": 7, "city": "Rome", "weight": 0.1, "price": 19.9, "day": 1714521600000, "at": 1714564800000, "seal": "AP8=",
        "pieces": 1, "tags": {"new": 1}, "shelves": [{"key": 3, "value": "top"}], "lines": [{"item": "tap"}],
    }  # fmt: skip
    by_day = {"query": {"range": {"day": {"gte": "2024-05-01", "lt": "2024-05-02"}}}}
    assert server.call("POST", f"/{topic}/_search", by_day)["hits"]["total"]["value"] == 1


def test_maps_become_lists_of_key_and_value_where_that_is_wanted(
    server: OpenSearchServer, sink: SinkFactory, topic: str
) -> None:
    sink(compact_map_entries="false").put(record(topic, 0, "a", order(), value_schema=ORDER))
    assert server.documents(topic)["a"]["tags"] == [{"key": "new", "value": 1}]


def test_a_mapping_that_is_there_stays(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    server.call("PUT", f"/{topic}", {"mappings": {"properties": {"id": {"type": "keyword"}}}})
    sink().put(record(topic, 0, "a", order(), value_schema=ORDER))
    properties = server.call("GET", f"/{topic}/_mapping")[topic]["mappings"]["properties"]
    assert properties["id"] == {"type": "keyword"}


def test_records_without_schema_need_schema_ignore(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    strict = sink()
    with pytest.raises(ConnectError, match=rf"topic {topic}, partition 0, offset 3.*schema.ignore=true"):
        strict.put(record(topic, 3, "a", {"n": 1}))
    sink(topic_schema_ignore=f"other,{topic}").put(record(topic, 3, "a", {"n": 1}))
    assert server.documents(topic) == {"a": {"n": 1}}


def test_with_ignored_keys_each_record_is_a_document(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    writer = sink(topic_key_ignore=topic, schema_ignore="true", behavior_on_null_values="delete")
    records = [record(topic, 5, "a", {"n": 1}), record(topic, 6, None, {"n": 2}), record(topic, 7, "a", None)]
    writer.put(*records)
    writer.put(*records)
    assert server.documents(topic) == {f"{topic}+0+5": {"n": 1}, f"{topic}+0+6": {"n": 2}}


@pytest.mark.parametrize("method", ["insert", "upsert"])
def test_records_that_come_again_change_nothing(
    server: OpenSearchServer, sink: SinkFactory, topic: str, method: str
) -> None:
    chosen = random.Random(11)
    records = [
        record(topic, offset, f"key-{chosen.randrange(50)}", None if chosen.random() < 0.2 else {"n": offset})
        for offset in range(2000)
    ]
    expected: dict[str, Any] = {}
    for one in records:
        expected[one.key] = one.value
    expected = {key: value for key, value in expected.items() if value is not None}
    settings = {
        "schema_ignore": "true",
        "write_method": method,
        "behavior_on_null_values": "delete",
        "batch_size": "300",
    }
    first = sink(**settings)
    first.put(*records)
    assert server.documents(topic) == expected
    second = sink(**settings)
    second.put(*records[700:])
    second.put(*records[1500:])
    assert server.documents(topic) == expected
    assert second.reports.offsets == []


def test_an_older_record_does_not_replace_a_newer_one(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    writer = sink(schema_ignore="true")
    writer.put(record(topic, 9, "a", {"n": 9}))
    writer.put(record(topic, 8, "a", {"n": 8}))
    assert server.documents(topic) == {"a": {"n": 9}}


def test_a_header_can_have_the_version(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    writer = sink(
        schema_ignore="true", external_version_header="v", drop_invalid_message="true", errors_tolerance="all"
    )
    writer.put(
        record(topic, 0, "a", {"n": 1}, headers=ConnectHeaders().add("v", b"20")),
        record(topic, 1, "a", {"n": 2}, headers=ConnectHeaders().add("v", 10)),
        record(topic, 2, "b", {"n": 3}, headers=ConnectHeaders().add("v", "30")),
        record(topic, 3, "c", {"n": 4}),
        record(topic, 4, "c", {"n": 5}, headers=ConnectHeaders().add("v", "late")),
    )
    assert server.documents(topic) == {"a": {"n": 1}, "b": {"n": 3}}
    assert server.call("GET", f"/{topic}/_doc/a")["_version"] == 20
    assert writer.reports.offsets == [3, 4]


def test_tombstones_delete_the_document_of_their_key(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    writer = sink(schema_ignore="true", behavior_on_null_values="delete")
    writer.put(record(topic, 0, "a", {"n": 1}), record(topic, 1, "b", {"n": 1}), record(topic, 2, "a", None))
    writer.put(record(topic, 3, "gone", None), record(topic, 4, None, None))
    assert server.documents(topic) == {"b": {"n": 1}}
    writer.put(record(topic, 0, "a", {"n": 1}))
    assert server.documents(topic) == {"b": {"n": 1}}, "a record from before the tombstone came back"


def test_a_tombstone_first_does_not_need_a_schema(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    sink(behavior_on_null_values="delete").put(
        record(topic, 0, "a", None), record(topic, 1, "b", order(), value_schema=ORDER)
    )
    assert list(server.documents(topic)) == ["b"]


def test_tombstones_can_be_left_out(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    sink(schema_ignore="true", behavior_on_null_values="IGNORE").put(
        record(topic, 0, "a", {"n": 1}), record(topic, 1, "a", None)
    )
    assert server.documents(topic) == {"a": {"n": 1}}


def test_upserts_merge_fields_and_deletes_follow_them(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    writer = sink(schema_ignore="true", write_method="upsert", behavior_on_null_values="delete")
    writer.put(
        record(topic, 0, "a", {"n": 1, "deep": {"x": 1}}),
        record(topic, 1, "a", {"m": 2, "deep": {"y": 2}}),
        record(topic, 2, "b", {"n": 1}),
        record(topic, 3, "b", {"n": 2}),
        record(topic, 4, "b", {"n": 3}),
        record(topic, 5, "b", None),
    )
    assert server.documents(topic) == {"a": {"n": 1, "m": 2, "deep": {"x": 1, "y": 2}}}


def test_the_server_can_make_up_ids(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    sink(schema_ignore="true", use_autogenerated_ids="true").put(
        record(topic, 0, "a", {"n": 1}), record(topic, 1, None, {"n": 2})
    )
    found = server.documents(topic)
    assert sorted(one["n"] for one in found.values()) == [1, 2]
    assert "a" not in found


def test_data_streams_take_records_in_once(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    writer = sink(
        schema_ignore="true", key_ignore="true", data_stream_type="LOGS", data_stream_dataset="shop",
    )  # fmt: skip
    records = [record(topic.upper(), n, "a", {"n": n}, timestamp=1714521600000 + n) for n in range(3)]
    writer.put(*records)
    writer.put(*records)
    found = server.documents(f"logs-shop-{topic}")
    assert sorted((one["n"], one["@timestamp"]) for one in found.values()) == [(n, 1714521600000 + n) for n in range(3)]
    (stream,) = server.call("GET", f"/_data_stream/logs-shop-{topic}")["data_streams"]
    assert stream["timestamp_field"] == {"name": "@timestamp"}


def test_a_data_streams_timestamp_can_be_a_field(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    writer = sink(
        schema_ignore="true", key_ignore="true", data_stream_type="metrics", data_stream_dataset="shop",
        data_stream_namespace="prod", data_stream_timestamp_field="seen,made",
        behavior_on_malformed_documents="ignore", errors_tolerance="all",
    )  # fmt: skip
    writer.put(
        record(topic, 0, "a", {"made": "2024-05-01T00:00:00Z", "seen": "2024-05-02T00:00:00Z"}, timestamp=1),
        record(topic, 1, "a", {"made": 1714521600000}, timestamp=1),
        record(topic, 2, "a", {"n": 1}, timestamp=1),
    )
    found = server.documents("metrics-shop-prod")
    assert [one["@timestamp"] for _, one in sorted(found.items())] == ["2024-05-02T00:00:00Z", 1714521600000]
    assert writer.reports.offsets == [2]
    assert "timestamp" in str(writer.reports.reported[0][1])


def test_what_others_have_made_is_written_to_by_its_name(
    server: OpenSearchServer, sink: SinkFactory, topic: str
) -> None:
    server.call("PUT", f"/{topic}-000001", {"aliases": {f"{topic}-write": {"is_write_index": True}}})
    settings = {
        "schema_ignore": "true", "external_resource_usage": "alias_index",
        "topic_to_external_resource_mapping": f"{topic}:{topic}-write,else:nowhere-at-all",
    }  # fmt: skip
    writer = sink(**settings)
    writer.put(record(topic, 0, "a", {"n": 1}))
    assert server.documents(f"{topic}-000001") == {"a": {"n": 1}}
    with pytest.raises(ConnectError, match="no index, data stream or alias nowhere-at-all"):
        writer.put(record("else", 0, "a", {"n": 1}))
    with pytest.raises(ConnectError, match="does not say where the topic third goes"):
        writer.put(record("third", 0, "a", {"n": 1}))


def test_requests_can_be_compressed(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    sink(schema_ignore="true", connection_compression="true").put(
        *(record(topic, n, n, {"text": "the river and the mill " * 20}) for n in range(500))
    )
    assert server.count(topic) == 500


@pytest.mark.parametrize(("batch", "size"), [("1", "-1"), ("1000", "200"), ("30", "100000"), ("10000", "-1")])
def test_any_size_of_requests_writes_all(
    server: OpenSearchServer, sink: SinkFactory, topic: str, batch: str, size: str
) -> None:
    writer = sink(
        schema_ignore="true", batch_size=batch, bulk_size_bytes=size, max_buffered_records="64",
        flush_synchronously="true", max_retries="50",
    )  # fmt: skip
    writer.put(*(record(topic, n, n, {"n": n, "text": "x" * n}) for n in range(70)))
    assert server.count(topic) == 70


def test_topics_go_to_an_index_of_their_name_or_of_another(
    server: OpenSearchServer, sink: SinkFactory, topic: str
) -> None:
    sink(schema_ignore="true", topic_index_map=f"{topic}:{topic}-elsewhere").put(
        record(topic, 0, "a", {"n": 1}), record(f"_{topic.upper()}-B", 0, "a", {"n": 2})
    )
    assert server.documents(f"{topic}-elsewhere") == {"a": {"n": 1}}
    assert server.documents(f"{topic}-b") == {"a": {"n": 2}}


def test_a_topic_whose_name_no_index_can_have_says_so(server: OpenSearchServer, sink: SinkFactory) -> None:
    # Kafka allows no such topic, but a transform may make one.
    with pytest.raises(ConnectError, match=r"Creating the index a b failed.*RegexRouter"):
        sink(schema_ignore="true").put(SinkRecord("a b", 0, None, "k", None, {"n": 1}, offset=0))


def test_an_index_that_is_deleted_is_made_again(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    server.call("PUT", "/_cluster/settings", {"transient": {"action.auto_create_index": "false"}})
    try:
        writer = sink()
        writer.put(record(topic, 0, "a", order(), value_schema=ORDER))
        server.call("DELETE", f"/{topic}")
        with pytest.raises(ConnectError, match=f"no such index .{topic}") as caught:
            writer.put(record(topic, 1, "b", order(), value_schema=ORDER))
        assert caught.typename == "RetriableError"
        writer.put(record(topic, 1, "b", order(), value_schema=ORDER))
        assert list(server.documents(topic)) == ["b"]
        assert server.call("GET", f"/{topic}/_mapping")[topic]["mappings"]["properties"]["price"] == {"type": "double"}
    finally:
        server.call("PUT", "/_cluster/settings", {"transient": {"action.auto_create_index": None}})


AIVEN = "io.aiven.kafka.connect.opensearch.OpensearchSinkConnector"


def test_aivens_settings_mean_the_same(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    writer = sink(
        connector_class=AIVEN, schema_ignore="true", index_write_method="upsert", key_ignore="true",
        key_ignore_id_strategy="record.key",
    )  # fmt: skip
    writer.put(record(topic, 0, "a", {"n": 1}), record(topic, 1, "a", {"m": 2}), record(topic, 2, "a", None))
    assert server.documents(topic) == {"a": {"n": 1, "m": 2}}


def test_aivens_data_streams(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    writer = sink(
        connector_class=AIVEN,
        schema_ignore="true",
        key_ignore="true",
        data_stream_enabled="true",
        data_stream_prefix="app",
    )
    writer.put(
        record(topic, 0, None, {"n": 1}, timestamp=17),
        record(topic, 1, None, {"n": 2, "@timestamp": 42}, timestamp=18),
    )
    found = server.documents(f"app-{topic}")
    assert sorted((one["n"], one["@timestamp"]) for one in found.values()) == [(1, 17), (2, 42)]
