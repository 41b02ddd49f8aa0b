"""Fixtures shared by all tests. Nothing here starts a JVM before a test asks for it."""

from __future__ import annotations

import gc
import itertools
import logging
import re
import signal
import sys
from collections.abc import Callable, Iterator
from typing import TYPE_CHECKING, Any

import hypothesis
import pytest

from tests import side_by_side

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.broker import LocalBroker

# A program started in the background may begin with Ctrl-C ignored, and hands that on to what it starts; several tests
# interrupt such programs.
if signal.getsignal(signal.SIGINT) is signal.SIG_IGN:
    signal.signal(signal.SIGINT, signal.default_int_handler)

# How long an example takes says something about the machine, not about the code.
hypothesis.settings.register_profile("penstock", deadline=None)
hypothesis.settings.load_profile("penstock")


def pytest_xdist_make_scheduler(config: pytest.Config, log: Any) -> Any:
    return side_by_side.scheduler(config, log)


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    if hasattr(config, "workerinput"):  # one of several sides
        items.sort(key=side_by_side.place)


TopicFactory = Callable[..., str]
"""`topic()` or `topic(partitions=4, config={"cleanup.policy": "compact"})` creates a topic and returns its name."""


@pytest.fixture(autouse=True)
def _apart() -> Iterator[None]:
    """What tests, doctests and pages of the docs change for the whole process is put back."""
    from penstock.serde import names

    logger, serdes = logging.getLogger("penstock"), dict(names._FACTORIES)
    before = (logger.propagate, logger.level, list(logger.handlers))
    collecting = gc.get_threshold()
    yield
    if gc.get_threshold() != collecting:  # a test ran what a process of its own does at its start
        gc.unfreeze()
        gc.set_threshold(*collecting)
    logger.propagate, logger.level, logger.handlers = before[0], before[1], before[2]
    names._FACTORIES.clear()
    names._FACTORIES.update(serdes)
    _let_go()


def _let_go() -> None:
    """Close what a process that hosts tasks keeps for its life: hundreds of tests run their tasks in this one."""
    hosting = sys.modules.get("penstock.spark.tasks.host")
    sending = sys.modules.get("penstock.spark.tasks.outputs")
    asking = sys.modules.get("penstock.spark.tasks.commits")
    disk = sys.modules.get("penstock.state.disk.environments")
    for host in hosting._hosts.values() if hosting else ():
        host.forget()
    kept = [
        (hosting, "_hosts"),
        (hosting, "_consumers"),
        (sending, "_producers"),
        (asking, "_committers"),
        (disk, "_open"),
    ]
    for module, name in kept:
        found = getattr(module, name, {})
        for one in found.values():
            if hasattr(one, "close"):
                one.close()
        found.clear()


@pytest.fixture(scope="session")
def broker() -> Iterator[LocalBroker]:
    """One Kafka for the whole session; tests stay apart by their topic names."""
    from penstock.broker import LocalBroker

    with LocalBroker() as running:
        yield running


@pytest.fixture
def topic(broker: LocalBroker, request: pytest.FixtureRequest) -> TopicFactory:
    """Creates topics with names no other test uses."""
    from confluent_kafka.admin import AdminClient, NewTopic

    admin = AdminClient({"bootstrap.servers": broker.bootstrap_servers})
    test = re.sub(r"[^a-zA-Z0-9]+", "-", request.node.name).strip("-")[:60]

    def create(name: str = "topic", *, partitions: int = 1, config: dict[str, str] | None = None) -> str:
        unique = f"{test}-{name}-{next(_numbers)}"
        new = NewTopic(unique, num_partitions=partitions, replication_factor=1, config=config or {})
        admin.create_topics([new])[unique].result(timeout=30)
        while unique not in admin.list_topics(timeout=10).topics:  # the controller answers before the broker knows
            pass
        return unique

    return create


@pytest.fixture
def swept_broker(broker: LocalBroker) -> Iterator[LocalBroker]:
    """The session's Kafka, for programs that name their topics themselves: what they create is gone after the test."""
    from penstock.kafka.admin import Admin

    admin = Admin({"bootstrap.servers": broker.bootstrap_servers})
    before = set(admin.topics())
    yield broker
    admin.delete_topics(name for name, topic in admin.topics().items() if name not in before and not topic.is_internal)


@pytest.fixture(scope="session")
def spark() -> Iterator[SparkSession]:
    """One Spark session for the whole test session."""
    from penstock.spark.session import build_session

    session = build_session()
    yield session
    session.stop()


_numbers = itertools.count(1)
