"""What a slot keeps of its output: nothing that is committed, or a day of it would not fit into memory."""

from __future__ import annotations

import gc
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.broker import LocalBroker
from penstock.spark.tasks.outputs import SlotOutput
from tests.conftest import TopicFactory
from tests.runtime.copying import counting
from tests.spark.application import Kafka
from tests.spark.in_process import InProcess

pytestmark = pytest.mark.broker


@pytest.fixture
def _no_collector() -> Iterator[None]:
    """Slots look for reference cycles every few minutes only: until then one would keep all records of its batch."""
    gc.collect()
    gc.disable()
    yield
    gc.enable()


@pytest.mark.usefixtures("_no_collector")
@pytest.mark.parametrize("guarantee", ["exactly_once_v2", "at_least_once"])
def test_records_are_let_go_when_they_are_committed(
    broker: LocalBroker, topic: TopicFactory, tmp_path: Path, guarantee: str
) -> None:
    source, target = topic("in"), topic("out")
    kafka = Kafka(broker.bootstrap_servers)
    app = InProcess(
        counting(source, target),
        tmp_path,
        application_id=f"let-go-{guarantee}",
        bootstrap_servers=broker.bootstrap_servers,
        processing_guarantee=guarantee,
    )
    before = _outputs()
    batches = 4
    for _ in range(batches):
        kafka.send(source, ("a", "x", 1), ("b", "y", 2))
        assert app.batch()
    kept = [one for one in _outputs() if one not in before]
    assert len(kept) < batches  # a task has that of its last batch
    assert [one._sent for one in kept] == [[]] * len(kept)


def _outputs() -> list[SlotOutput]:
    return [one for one in gc.get_objects() if isinstance(one, SlotOutput)]
