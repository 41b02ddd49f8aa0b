"""MockSink: takes records and forgets them, and fails when told to. For trying what a worker does with failures."""

from __future__ import annotations

from collections.abc import Mapping
from typing import ClassVar

from penstock.connect.api import ConnectorContext, SinkConnector, SinkTask
from penstock.connect.config import ConfigDef
from penstock.connect.connectors.mock_failure import CONNECTOR_FAILURE, MOCK_CONFIG, TASK_FAILURE, MockFailure
from penstock.connect.data import SinkRecord


class MockSinkTask(SinkTask):
    """Takes everything; fails with the first records after a while if told to."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._failure = MockFailure(config, TASK_FAILURE)

    def start(self) -> None:
        self._failure.start()

    def put(self, records: list[SinkRecord]) -> None:
        self._failure.check()


class MockSinkConnector(SinkConnector):
    """A sink that writes nowhere."""

    CONFIG: ClassVar[ConfigDef] = MOCK_CONFIG
    TASK: ClassVar[type[SinkTask]] = MockSinkTask

    def start(self, context: ConnectorContext) -> None:
        self._failure = MockFailure(self.config, CONNECTOR_FAILURE)
        self._failure.start(context.raise_error)

    def stop(self) -> None:
        self._failure.stop()
