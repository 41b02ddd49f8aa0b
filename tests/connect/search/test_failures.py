"""What goes wrong between a sink and a real OpenSearch, and what becomes of the records."""

from __future__ import annotations

import threading
import time
from typing import Any

import pytest

from penstock.broker.ports import free_port
from penstock.connect.data import STRING_SCHEMA, SinkRecord
from penstock.connect.errors import ConnectError, DataError
from tests.connect.search.conftest import SinkFactory
from tests.connect.search.front import Front
from tests.connect.search.sink_driver import Sink, record
from tests.servers.opensearch import OpenSearchServer


def numbers(server: OpenSearchServer, topic: str, bad: Any = "not a number") -> list[SinkRecord]:
    """Five records for an index that takes numbers; the second and the fourth are none."""
    server.call("PUT", f"/{topic}", {"mappings": {"properties": {"n": {"type": "long"}}}})
    return [record(topic, offset, f"k{offset}", {"n": bad if offset in {1, 3} else offset}) for offset in range(5)]


@pytest.mark.parametrize("behaviour", ["ignore", "warn", "report", "IGNORE"])
def test_malformed_documents_are_reported_and_the_others_written(
    server: OpenSearchServer, sink: SinkFactory, topic: str, behaviour: str
) -> None:
    writer = sink(schema_ignore="true", behavior_on_malformed_documents=behaviour, errors_tolerance="all")
    writer.put(*numbers(server, topic))
    assert sorted(server.documents(topic)) == ["k0", "k2", "k4"]
    assert writer.reports.offsets == [1, 3]
    message = str(writer.reports.reported[0][1])
    assert f"topic {topic}, partition 0, offset 1, document k1 of {topic}: mapper_parsing_exception" in message
    assert "failed to parse field [n]" in message


def test_malformed_documents_are_left_out_with_a_warning_where_nobody_is_told(
    server: OpenSearchServer, sink: SinkFactory, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    writer = sink(schema_ignore="true", behavior_on_malformed_documents="ignore")
    with caplog.at_level("INFO", logger="penstock.connect"):
        writer.put(*numbers(server, topic))
    assert sorted(server.documents(topic)) == ["k0", "k2", "k4"]
    assert writer.reports.offsets == []
    assert caplog.text.count("Left out: topic") == 2
    assert "2 are malformed" in caplog.text


@pytest.mark.parametrize("tolerance", ["none", "all"])
def test_a_malformed_document_fails_the_task_unless_told_otherwise(
    server: OpenSearchServer, sink: SinkFactory, topic: str, tolerance: str
) -> None:
    writer = sink(schema_ignore="true", errors_tolerance=tolerance)
    with pytest.raises(ConnectError, match=rf"offset 1, document k1 of {topic}: mapper_parsing_exception"):
        writer.put(*numbers(server, topic))
    assert writer.reports.offsets == [1]
    assert sorted(server.documents(topic)) == ["k0", "k2", "k4"]


def test_fields_that_a_strict_mapping_does_not_know_are_malformed(
    server: OpenSearchServer, sink: SinkFactory, topic: str
) -> None:
    server.call("PUT", f"/{topic}", {"mappings": {"dynamic": "strict", "properties": {"n": {"type": "long"}}}})
    writer = sink(schema_ignore="true", behavior_on_malformed_documents="warn", errors_tolerance="all")
    writer.put(record(topic, 0, "a", {"n": 1}), record(topic, 1, "b", {"m": 1}))
    assert server.documents(topic) == {"a": {"n": 1}}
    assert writer.reports.offsets == [1]


@pytest.mark.parametrize("method", ["insert", "upsert"])
def test_documents_that_would_spoil_a_whole_request_are_found(
    server: OpenSearchServer, sink: SinkFactory, topic: str, method: str
) -> None:
    writer = sink(
        schema_ignore="true", write_method=method, behavior_on_malformed_documents="ignore", errors_tolerance="all"
    )
    values = {3: "a text", 5: [1, 2], 7: 8}
    names = {11: "k" * 513, 13: ""}
    records = [record(topic, n, names.get(n, f"k{n}"), values.get(n, {"n": n})) for n in range(20)]
    writer.put(*records)
    bad = sorted([*values, *names])
    assert sorted(server.documents(topic)) == sorted(f"k{n}" for n in range(20) if n not in bad)
    assert sorted(writer.reports.offsets) == bad


def test_a_request_that_is_refused_as_a_whole_is_divided_until_the_culprit_is_alone(
    server: OpenSearchServer, sink: SinkFactory, topic: str
) -> None:
    with Front(server.url) as front:
        writer = sink(
            schema_ignore="true", connection_url=front.url, behavior_on_malformed_documents="warn", errors_tolerance="all"
        )  # fmt: skip
        writer.put(record(topic, 0, "k0", {"n": 0}))
        # The left half, its left half, and the one record in that are refused; everything else is passed on.
        front.failures = [400, 400, 400]
        writer.put(*(record(topic, n, f"k{n}", {"n": n}) for n in range(1, 5)))
    assert sorted(server.documents(topic)) == ["k0", "k2", "k3", "k4"]
    assert writer.reports.offsets == [1]


@pytest.mark.parametrize(
    ("bad", "message"),
    [
        (record("t", 1, None, {"n": 1}), "The key is null"),
        (record("t", 1, {"id": 1}, {"n": 1}), "A key of type dict cannot be a document's id"),
        (record("t", 1, 1.5, {"n": 1}), "A key of type float"),
        (record("t", 1, True, {"n": 1}), "A key of type bool"),
        (record("t", 1, "k1", None), "The record has no value"),
        (record("t", 1, "k1", {"n": 2**70}), "1180591620717411303424 has more than 64 bits"),
    ],
)  # fmt: skip
def test_records_that_cannot_become_documents(
    server: OpenSearchServer, sink: SinkFactory, topic: str, bad: SinkRecord, message: str
) -> None:
    bad = bad.new_record(topic=topic)
    good = [record(topic, offset, f"k{offset}", {"n": offset}) for offset in (0, 2)]
    strict = sink(schema_ignore="true")
    with pytest.raises(ConnectError, match=f"topic {topic}, partition 0, offset 1: {message}"):
        strict.put(good[0], bad, good[1])
    dropping = sink(schema_ignore="true", drop_invalid_message="true", errors_tolerance="all")
    dropping.put(good[0], bad, good[1])
    assert sorted(server.documents(topic)) == ["k0", "k2"]
    assert dropping.reports.offsets == [1]
    assert isinstance(dropping.reports.reported[0][1], DataError)


def test_a_value_that_is_no_struct_needs_another_shape(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    with pytest.raises(ConnectError, match="HoistField"):
        sink().put(record(topic, 0, "a", "text", value_schema=STRING_SCHEMA))


@pytest.mark.parametrize(("behaviour", "reported"), [("ignore", []), ("warn", []), ("report", [0])])
def test_conflicts_count_as_written(
    server: OpenSearchServer, sink: SinkFactory, topic: str, behaviour: str, reported: list[int]
) -> None:
    writer = sink(schema_ignore="true", behavior_on_version_conflict=behaviour, errors_tolerance="all")
    writer.put(record(topic, 0, "a", {"n": 1}))
    writer.put(record(topic, 0, "a", {"n": 1}), record(topic, 1, "b", {"n": 1}))
    assert writer.reports.offsets == reported
    assert server.count(topic) == 2


def test_conflicts_can_fail_the_task(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    writer = sink(schema_ignore="true", behavior_on_version_conflict="fail")
    writer.put(record(topic, 0, "a", {"n": 1}))
    with pytest.raises(ConnectError, match="version_conflict_engine_exception"):
        writer.put(record(topic, 0, "a", {"n": 1}))


def test_a_data_stream_that_has_a_key_already_does_not_lose_the_record_in_silence(
    server: OpenSearchServer, sink: SinkFactory, topic: str, caplog: pytest.LogCaptureFixture
) -> None:
    writer = sink(schema_ignore="true", data_stream_type="logs", data_stream_dataset="keys", errors_tolerance="all")
    with caplog.at_level("INFO", logger="penstock.connect"):
        writer.put(record(topic, 0, "a", {"n": 1}, timestamp=1), record(topic, 1, "a", {"n": 2}, timestamp=2))
    assert [one["n"] for one in server.documents(f"logs-keys-{topic}").values()] == [1]
    assert writer.reports.offsets == [1]
    assert "1 have a key the data stream has already" in caplog.text


def test_requests_that_are_too_large_are_divided(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    # The server takes 4 MB.
    writer = sink(
        schema_ignore="true", bulk_size_bytes="-1", behavior_on_malformed_documents="ignore", errors_tolerance="all"
    )
    writer.put(*(record(topic, n, n, {"text": "x" * (5_000_000 if n == 7 else 600_000)}) for n in range(12)))
    assert server.count(topic) == 11
    assert writer.reports.offsets == [7]
    assert "413" in str(writer.reports.reported[0][1])


def test_a_full_queue_is_waited_for(server: OpenSearchServer, sink: SinkFactory, topic: str) -> None:
    def rejected() -> int:
        nodes = server.call("GET", "/_nodes/stats/thread_pool")["nodes"]
        return sum(node["thread_pool"]["write"]["rejected"] for node in nodes.values())

    before = rejected()
    writer = sink(
        schema_ignore="true", batch_size="20", max_in_flight_requests="20", max_retries="200", retry_backoff_ms="20"
    )
    writer.put(*(record(topic, n, n, {"n": n, "text": "the river and the mill " * 50}) for n in range(1000)))
    assert server.count(topic) == 1000
    assert writer.reports.offsets == []
    assert rejected() > before, "the queue was never full: the test shows nothing"


@pytest.mark.parametrize("method", ["insert", "upsert"])
def test_a_disk_that_is_full_is_waited_for(
    server: OpenSearchServer, sink: SinkFactory, topic: str, method: str
) -> None:
    """The server answers 429 for each document while its disk is nearly full."""
    server.call("PUT", f"/{topic}")
    server.call("PUT", f"/{topic}/_settings", {"index.blocks.read_only_allow_delete": True})
    writer = sink(schema_ignore="true", write_method=method, max_retries="100", retry_backoff_ms="50")
    free = threading.Timer(
        1.0, server.call, ("PUT", f"/{topic}/_settings", {"index.blocks.read_only_allow_delete": None})
    )
    free.start()
    writer.put(*(record(topic, n, n % 3, {"n": n}) for n in range(10)))
    free.join()
    assert server.documents(topic) == {"0": {"n": 9}, "1": {"n": 7}, "2": {"n": 8}}

    server.call("PUT", f"/{topic}/_settings", {"index.blocks.read_only_allow_delete": True})
    impatient = sink(schema_ignore="true", write_method=method, max_retries="2", retry_backoff_ms="1")
    with pytest.raises(
        ConnectError, match=rf"Writing 1 documents \({topic}-0, offsets 10 to 10\) failed 3 times.*disk"
    ):
        impatient.put(record(topic, 10, "x", {"n": 10}))
    hurried = sink(
        schema_ignore="true", write_method=method, max_retries="1000", retry_backoff_ms="2000", flush_timeout_ms="1000"
    )
    with pytest.raises(ConnectError, match=r"did not succeed within flush.timeout.ms=1000"):
        hurried.put(record(topic, 10, "x", {"n": 10}))


def test_a_closed_port_is_said_after_some_tries(server: OpenSearchServer) -> None:
    url = f"http://127.0.0.1:{free_port()}"
    started = time.monotonic()
    with pytest.raises(
        ConnectError, match=rf"GET / failed 4 times, the last time so: {url}: ConnectError.*max.retries"
    ):
        Sink({"connection.url": url, "max.retries": "3", "retry.backoff.ms": "20"})
    assert time.monotonic() - started < 5


def test_another_node_is_asked_where_one_does_not_answer(
    server: OpenSearchServer, sink: SinkFactory, topic: str
) -> None:
    closed = f"http://127.0.0.1:{free_port()}"
    with Front(server.url) as second:
        urls = f"{closed},{server.url},{second.url}"
        writer = sink(schema_ignore="true", connection_url=urls, batch_size="10", max_retries="0")
        writer.put(*(record(topic, n, n, {"n": n}) for n in range(200)))
        assert server.count(topic) == 200
        assert [path for _, path, _ in second.seen].count("/_bulk") > 3, "requests are not divided between nodes"
        second.failures = [503]
        writer.put(*(record(topic, n, n, {"n": n}) for n in range(200, 400)))
        assert second.failures == []
    writer.put(*(record(topic, n, n, {"n": n}) for n in range(400, 600)))
    assert server.count(topic) == 600


@pytest.mark.parametrize("status", [429, 502, 503, 504])
def test_a_server_that_cannot_serve_now_is_asked_again(
    server: OpenSearchServer, sink: SinkFactory, topic: str, status: int
) -> None:
    with Front(server.url) as front:
        writer = sink(schema_ignore="true", connection_url=front.url, retry_backoff_ms="10")
        front.failures = [status] * 3
        writer.put(record(topic, 0, "a", {"n": 1}))
        assert server.count(topic) == 1
        front.failures = [status] * 6
        with pytest.raises(ConnectError, match=rf"failed 6 times.*answered {status}: .*not now"):
            writer.put(record(topic, 1, "b", {"n": 1}))


def test_an_answer_that_does_not_come_in_time_is_asked_for_again(
    server: OpenSearchServer, sink: SinkFactory, topic: str
) -> None:
    with Front(server.url) as front:
        writer = sink(schema_ignore="true", connection_url=front.url, read_timeout_ms="500", retry_backoff_ms="10")
        writer.put(record(topic, 0, "a", {"n": 0}))
        front.delays = [1.5]
        writer.put(record(topic, 1, "a", {"n": 1}), record(topic, 2, "b", {"n": 2}))
    assert server.documents(topic) == {"a": {"n": 1}, "b": {"n": 2}}
    assert server.call("GET", f"/{topic}/_doc/a")["_version"] == 1
    assert writer.reports.offsets == []


def test_a_server_that_is_killed_under_load_loses_nothing(
    server: OpenSearchServer, sink: SinkFactory, topic: str
) -> None:
    writer = sink(
        schema_ignore="true", batch_size="50", max_retries="1000", retry_backoff_ms="20",
        behavior_on_null_values="delete",
    )  # fmt: skip
    records = [record(topic, n, n % 700, None if n % 9 == 0 else {"n": n}) for n in range(4000)]
    writer.put(*records[:50])
    killed = threading.Event()

    def restart() -> None:
        while server.count(topic) < 100:
            time.sleep(0.01)
        server.kill()
        killed.set()
        server.spawn()
        server.wait()

    killer = threading.Thread(target=restart)
    killer.start()
    try:
        for begin in range(0, len(records), 500):
            writer.put(*records[begin : begin + 500])
            if begin == 1000:
                killed.wait(60)
    finally:
        killer.join()
    expected = {str(one.key): one.value for one in records}
    assert server.documents(topic) == {key: value for key, value in expected.items() if value is not None}
    assert writer.reports.offsets == []
