"""Records by columns: what a cache flushes goes to the client without a tuple for each record."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock import StreamsBuilder
from penstock.broker import LocalBroker
from penstock.handlers import Origin, Response
from penstock.spark.tasks.changelog import TaskChangelog
from penstock.spark.tasks.outgoing import Columns
from penstock.state.caching_key_value import CachingKeyValueStore
from tests.conftest import TopicFactory
from tests.spark.application import Kafka, until
from tests.spark.fake_kafka import make_job
from tests.spark.in_process import InProcess

TEXT: dict[str, Any] = {"key_serde": "string", "value_serde": "string"}
LARGE = "x" * 3000
_asked: list[Any] = []


def skip(context: Any, record: Any, exception: BaseException, *, origin: Origin) -> Response:
    _asked.append(record.key)
    return Response.resume()


def test_columns_are_as_long_as_each_other() -> None:
    with pytest.raises(ValueError, match="t: 2 keys, 1 values and 2 timestamps"):
        Columns("t", [b"a", b"b"], [b"1"], [1, 2])


def test_the_client_takes_0_for_now_also_beside_other_odd_timestamps() -> None:
    columns = Columns("t", [b"a", b"b", b"c"], [b"1", b"2", b"3"], [-1, 0, 5])
    assert [record[6] for record in columns] == [-1, 1, 5]


def test_taking_the_last_record_leaves_the_columns_as_they_are() -> None:
    keys, values, stamps, headers = [b"a", b"b"], [b"1", None], [1, 2], [None, [("h", b"x")]]
    columns = Columns("t", keys, values, stamps, headers, partition=3)
    assert columns.pop() == ("t", None, b"b", 3, None, None, 2, [("h", b"x")])
    assert list(columns) == [("t", b"1", b"a", 3, None, None, 1, None)]
    assert (len(keys), len(values), len(stamps), len(headers)) == (2, 2, 2, 2)


@pytest.mark.broker
@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
@pytest.mark.parametrize("who", ["client", "broker"])
def test_one_of_many_is_refused(
    who: str, guarantee: str, broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    """All others arrive in their order, whether the client refuses it at once or the broker when all is sent."""
    _asked.clear()
    config, settings = {"max.message.bytes": "1500"}, {}
    if who == "client":
        config, settings = {}, {"producer.message.max.bytes": 1500}
    kafka, source, target = Kafka(broker.bootstrap_servers), topic("in"), topic("out", config=config)
    kafka.send(source, ("a", "1", 1), ("b", LARGE, 2), ("c", "3", 3), ("d", LARGE, 4), ("e", "5", 5))
    builder = StreamsBuilder()
    latest = builder.stream(source, **TEXT).group_by_key(**TEXT).reduce(lambda old, new: new)
    latest.to_stream().to(target, **TEXT)
    app = InProcess(
        builder,
        tmp_path,
        **{
            **settings,
            "application.id": f"app-{source}",
            "bootstrap.servers": broker.bootstrap_servers,
            "production.exception.handler": skip,
            "processing.guarantee": guarantee,
        },
    )
    assert app.batches() == 1
    until(lambda: [m.key() for m in kafka.read(target)] == [b"a", b"c", b"e"])
    assert _asked == [b"b", b"d"]


class Output:
    def __init__(self) -> None:
        self.sent: list[Any] = []

    def produce_all(self, records: Any) -> None:
        self.sent += [(record[2], record[1]) for record in records]


def test_a_changelog_that_goes_out_in_parts_keeps_the_order_of_a_key(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The last record of a part is held back, as it may have to carry the mark; what comes later must not overtake it."""
    monkeypatch.setattr("penstock.spark.tasks.changelog._MANY", 1)
    builder = StreamsBuilder()
    builder.stream("in", **TEXT).group_by_key(**TEXT).count(store="counts")
    changelog = TaskChangelog(make_job(builder, {"in": 1}, tmp_path), 0, 0)
    store: Any = CachingKeyValueStore.__new__(CachingKeyValueStore)
    changelog.listen({"counts": store})
    output: Any = Output()
    store.on_changes([b"a", b"b"], [b"1", b"1"], [1, 1])
    changelog.send_some(output)
    assert output.sent == [(b"a", b"1")]
    store.on_changes([b"b", b"c"], [b"2", None], [2, 2])
    changelog.send_some(output)
    changelog.send(output, lambda name: None, 1, {})
    assert output.sent == [(b"a", b"1"), (b"b", b"1"), (b"b", b"2"), (b"c", None)]
