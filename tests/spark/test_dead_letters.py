"""Records that cannot be read or processed, in tasks as Spark hosts them: what is written, and what is committed with it."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from penstock import StreamsBuilder, Topology
from penstock.broker import LocalBroker
from penstock.interpreter.guards import TaskFailed
from tests.conftest import TopicFactory
from tests.spark.application import Kafka
from tests.spark.in_process import InProcess

pytestmark = [pytest.mark.broker]
GUARANTEES = pytest.mark.parametrize("guarantee", ["at_least_once", "exactly_once_v2"])
GOES_ON = {
    "deserialization.exception.handler": "LogAndContinueExceptionHandler",
    "processing.exception.handler": "LogAndContinueProcessingExceptionHandler",
}


class World:
    """Numbers from 0 to 9 as 8 bytes, and what is none: read, halved, and written."""

    def __init__(self, broker: LocalBroker, topic: TopicFactory, folder: Path, guarantee: str) -> None:
        self.kafka = Kafka(broker.bootstrap_servers)
        self.numbers, self.out, self.dead = topic("numbers"), topic("out"), topic("dead")
        self._folder, self._guarantee = folder, guarantee

    def app(self, **settings: Any) -> InProcess:
        return InProcess(
            self._topology(),
            self._folder,
            bootstrap_servers=self.kafka.settings["bootstrap.servers"],
            application_id=f"app-{self.numbers}",
            processing_guarantee=self._guarantee,
            errors_dead_letter_queue_topic_name=self.dead,
            **{key.replace(".", "_"): value for key, value in settings.items()},
        )

    def _topology(self) -> Topology:
        builder = StreamsBuilder()
        numbers = builder.stream(self.numbers, key_serde="string", value_serde="integer")
        numbers.map_values(lambda number: str(100 // number)).to(self.out, value_serde="string")
        return builder.build()

    def send(self, *values: bytes) -> None:
        # UTF-8 of characters below 128 is the byte itself.
        self.kafka.send(self.numbers, *[("k", value.decode(), i + 1) for i, value in enumerate(values)])

    def results(self) -> list[bytes | None]:
        return [m.value() for m in self.kafka.read_settled(self.out)]

    def letters(self) -> list[tuple[bytes, str, str]]:
        """Value, kind of error and offset of each."""
        found = []
        for m in self.kafka.read_settled(self.dead):
            headers = dict(m.headers())
            error = headers["__streams.errors.exception"].decode().rpartition(".")[2]
            found.append((m.value(), error, headers["__streams.errors.offset"].decode()))
        return found


@pytest.fixture
def world(broker: LocalBroker, topic: TopicFactory, tmp_path: Path, guarantee: str) -> World:
    return World(broker, topic, tmp_path, guarantee)


@GUARANTEES
def test_bytes_that_are_no_value_and_a_function_that_fails(world: World) -> None:
    world.send(b"\0\0\0\2", b"xy", b"\0\0\0\0", b"\0\0\0\4")
    app = world.app(**GOES_ON)
    app.batches()
    assert world.results() == [b"50", b"25"]
    assert world.letters() == [
        (b"xy", "SerdeError", "1"),
        (b"\0\0\0\0", "ZeroDivisionError", "2"),
    ]
    assert app.metric("dropped") == 2
    assert not app.batch(), "they are behind us"


@GUARANTEES
def test_the_letter_of_a_record_that_ends_the_application(world: World, guarantee: str) -> None:
    world.send(b"\0\0\0\2", b"xy")
    with pytest.raises(TaskFailed):
        world.app().batches()
    if guarantee == "at_least_once":
        assert (world.results(), len(world.letters())) == ([b"50"], 1)
    else:
        assert (world.results(), world.letters()) == ([], []), "rolled back with the batch"
    world.app(**GOES_ON).batches()
    assert world.letters()[-1][0] == b"xy"
    assert world.results()[-1] == b"50"
