"""Outputs that Kafka's client refuses, and the production handler that is asked about them."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock import StreamsBuilder
from penstock.broker import LocalBroker
from penstock.handlers import Origin, Response
from penstock.interpreter.guards import TaskFailed
from tests.conftest import TopicFactory
from tests.spark.application import Kafka, until
from tests.spark.in_process import InProcess

pytestmark = pytest.mark.broker
LARGE = "x" * 3000
_asked: list[tuple[Any, ...]] = []


def skip_large(context: Any, record: Any, exception: BaseException, *, origin: Origin) -> Response:
    _asked.append((context.processor_node_id, record.key, len(record.value), origin, str(exception)))
    return Response.resume()


def application(
    broker: LocalBroker, topic: TopicFactory, folder: Path, **settings: Any
) -> tuple[InProcess, Kafka, str]:
    kafka, source, target = Kafka(broker.bootstrap_servers), topic("in"), topic("out")
    kafka.send(source, ("a", "1", 1), ("b", LARGE, 2), ("c", "3", 3))
    builder = StreamsBuilder()
    builder.stream(source, key_serde="string", value_serde="string").to(target, name="out")
    given = {
        "bootstrap.servers": broker.bootstrap_servers,
        "application.id": f"app-{source}",
        "producer.message.max.bytes": 1500,
        **settings,
    }
    return InProcess(builder, folder, **given), kafka, target


@pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
def test_the_handler_may_go_on_without_them(
    guarantee: str, broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    _asked.clear()
    handler = {"production.exception.handler": skip_large, "processing.guarantee": guarantee}
    app, kafka, target = application(broker, topic, tmp_path, **handler)
    assert app.batches() == 1
    until(lambda: [m.key() for m in kafka.read(target)] == [b"a", b"c"])
    ((node, key, size, origin, text),) = _asked
    assert (node, key, size, origin) == ("out", b"b", 3000, Origin.SEND)
    assert "too large for the client" in text


def test_without_a_handler_the_task_fails_and_nothing_of_the_batch_is_seen(
    broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    app, kafka, target = application(broker, topic, tmp_path, **{"processing.guarantee": "exactly_once_v2"})
    with pytest.raises(TaskFailed, match=r"A record for \S+ is too large for the client.*node out"):
        app.batch()
    assert kafka.read(target) == []
