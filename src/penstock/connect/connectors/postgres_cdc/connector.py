"""The PostgreSQL change source: its connector and its task."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import ClassVar

from penstock.connect.api import Offset, OffsetReader, Partition, SourceConnector, SourceRange, SourceTask
from penstock.connect.config import ConfigDef, ConfigValue
from penstock.connect.connectors.postgres_cdc.connections import Database
from penstock.connect.connectors.postgres_cdc.keys import CONFIG
from penstock.connect.connectors.postgres_cdc.planning import Planner
from penstock.connect.connectors.postgres_cdc.position import COMPLETED, Position
from penstock.connect.connectors.postgres_cdc.reading import Reader
from penstock.connect.connectors.postgres_cdc.source_settings import SourceSettings
from penstock.connect.data import SourceRecord
from penstock.connect.errors import ConnectError, RetriableError

_FINISHED_MS = 60_000


class PostgresSourceTask(SourceTask):
    """Reads one database: `plan` follows the slot, `read` a copy of it."""

    idle_ms = 10  # plans wait for changes themselves

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._settings = SourceSettings(config)
        self._database = Database(self._settings.parsed)
        self._planner: Planner | None = None
        self._reader: Reader | None = None

    def plan(self, offsets: OffsetReader) -> Sequence[SourceRange]:
        if self._planner is None:
            self._planner = Planner(self._database, self._settings)
        try:
            found = self._planner.plan(offsets.offset(self._settings.partition))
        except RetriableError:
            self._planner.close()
            raise
        self.idle_ms = _FINISHED_MS if self._planner.finished else PostgresSourceTask.idle_ms
        return () if found is None else (found,)

    def read(self, wanted: SourceRange) -> Iterator[SourceRecord]:
        if self._reader is None:
            self._reader = Reader(self._database, self._settings)
        return self._reader.read(wanted)

    def commit(self, delivered: Sequence[SourceRange]) -> None:
        if self._planner is None:
            return
        try:
            for wanted in delivered:
                self._planner.delivered(wanted.end)
        except RetriableError:
            self._planner.close()  # the records are in Kafka; the next plan connects anew and confirms them

    def stop(self) -> None:
        if self._reader is not None:
            self._reader.close()
        if self._planner is not None:
            self._planner.close()
            if self._settings.parsed["slot.drop.on.stop"]:
                self._planner.drop_slot()


class PostgresConnector(SourceConnector):
    """Reads the rows of PostgreSQL's tables, and then each change of them."""

    CONFIG: ClassVar[ConfigDef] = CONFIG
    TASK: ClassVar[type[SourceTask]] = PostgresSourceTask

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        SourceSettings(config)

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> Iterable[ConfigValue]:
        if not any(value.errors for value in CONFIG.validate(config)):
            SourceSettings(config)
        return ()

    @classmethod
    def alter_offsets(
        cls, config: Mapping[str, str], offsets: Iterable[tuple[Partition | None, Offset | None]]
    ) -> None:
        for partition, offset in offsets:
            if offset is None:
                continue  # forgets a part, whatever it is called
            if partition is None or "server" not in partition:
                raise ConnectError(
                    "Partition objects should contain the key 'server'",
                    hint='It is the connector\'s topic.prefix: {"server": "inventory"}.',
                )
            if offset.get(COMPLETED) is False:
                raise ConnectError(
                    "A snapshot cannot be entered in its middle", hint="Reset the offsets to read all rows."
                )
            Position.of(offset)
