"""MockSource: gives no records, and fails when told to. For trying what a worker does with failures."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import ClassVar

from penstock.connect.api import ConnectorContext, OffsetReader, SourceConnector, SourceRange, SourceTask
from penstock.connect.config import ConfigDef
from penstock.connect.connectors.mock_failure import CONNECTOR_FAILURE, MOCK_CONFIG, TASK_FAILURE, MockFailure
from penstock.connect.data import SourceRecord


class MockSourceTask(SourceTask):
    """Finds nothing to read, and fails after a while if told to."""

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._failure = MockFailure(config, TASK_FAILURE)

    def start(self) -> None:
        self._failure.start()

    def plan(self, offsets: OffsetReader) -> Sequence[SourceRange]:
        self._failure.check()
        return ()

    def read(self, wanted: SourceRange) -> Iterator[SourceRecord]:
        return iter(())


class MockSourceConnector(SourceConnector):
    """A source without records."""

    CONFIG: ClassVar[ConfigDef] = MOCK_CONFIG
    TASK: ClassVar[type[SourceTask]] = MockSourceTask

    def start(self, context: ConnectorContext) -> None:
        self._failure = MockFailure(self.config, CONNECTOR_FAILURE)
        self._failure.start(context.raise_error)

    def stop(self) -> None:
        self._failure.stop()
