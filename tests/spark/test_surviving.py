"""Records that retention removes between plan and work."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from penstock import StreamsBuilder
from penstock.broker import LocalBroker
from penstock.interpreter.guards import TaskFailed
from penstock.kafka.ranges import OffsetRange
from penstock.spark.tasks.surviving import surviving
from tests.conftest import TopicFactory
from tests.spark.application import Kafka
from tests.spark.in_process import InProcess


class Consumer:
    """Partitions that hold offsets 10 to 20."""

    def get_watermark_offsets(self, partition: Any, timeout: float) -> tuple[int, int]:
        return 10, 20


@pytest.mark.parametrize(
    ("start", "end", "kept"),
    [
        (12, 18, (12, 18)),
        (5, 15, (10, 15)),
        (5, 8, (8, 8)),
        (15, 30, (15, 20)),
        (25, 30, (25, 25)),
    ],
)
def test_what_is_left_of_a_range(start: int, end: int, kept: tuple[int, int]) -> None:
    (found,) = surviving(Consumer(), [OffsetRange("t", 0, start, end)])
    assert (found.start, found.end) == kept


def test_empty_ranges_are_not_asked_for() -> None:
    assert surviving(None, [OffsetRange("t", 0, 5, 5)]) == []


@pytest.mark.broker
@pytest.mark.parametrize("fail", [True, False])
def test_a_planned_batch_goes_on_without_them_or_fails(
    fail: bool, broker: LocalBroker, topic: TopicFactory, tmp_path: Path
) -> None:
    kafka, source, target = Kafka(broker.bootstrap_servers), topic("in"), topic("out")
    kafka.send(source, *[(f"k{i}", "v", i + 1) for i in range(10)])
    builder = StreamsBuilder()
    builder.stream(source, key_serde="string", value_serde="string").to(target)
    app = InProcess(
        builder,
        tmp_path,
        bootstrap_servers=broker.bootstrap_servers,
        application_id=f"app-{source}",
        penstock_fail_on_data_loss=fail,
    )
    end = app.plan()
    app.log("offsets", end, json.dumps(end))
    kafka.admin.delete_records({(source, 0): 6})
    if fail:
        with pytest.raises(TaskFailed, match=f"OffsetsGone: Offsets 0 to 10 of {source}-0 cannot be read"):
            app.batch()
    else:
        app.batch()
        assert [m.key() for m in kafka.read_settled(target)] == [b"k6", b"k7", b"k8", b"k9"]
        assert app.metric("dropped") == 6
