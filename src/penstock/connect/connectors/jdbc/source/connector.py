"""JdbcSourceConnector: rows of tables, or of a query, become records."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from typing import ClassVar

from penstock.connect.api import (
    ConnectorContext,
    ExactlyOnceSupport,
    Offset,
    Partition,
    SourceConnector,
    SourceTask,
)
from penstock.connect.config import ConfigDef, ConfigValue
from penstock.connect.connectors.jdbc.connection import Database
from penstock.connect.connectors.jdbc.source import settings as keys
from penstock.connect.connectors.jdbc.source.position import check_offset
from penstock.connect.connectors.jdbc.source.session import Session
from penstock.connect.connectors.jdbc.source.table_monitor import TableMonitor
from penstock.connect.connectors.jdbc.source.tables import TableFilter
from penstock.connect.connectors.jdbc.source.task import TABLES, JdbcSourceTask, query_of
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.errors import ConfigError


class JdbcSourceConnector(SourceConnector):
    """Reads rows of tables, or of a query, and polls for new ones."""

    CONFIG: ClassVar[ConfigDef] = keys.CONFIG
    TASK: ClassVar[type[SourceTask]] = JdbcSourceTask

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        self._query = query_of(self.settings)
        self._session = Session(Database(self.settings, existing=True), self.settings)
        self._tables = TableFilter(self._session, self.settings)
        self._monitor: TableMonitor | None = None

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> Iterable[ConfigValue]:
        try:
            settings = cls.CONFIG.parse(config)
        except ConfigError:
            return []  # told for the setting itself
        errors = [*_list_errors(settings), *_mode_errors(settings)]
        try:
            Database(settings)
        except ConfigError as error:
            errors.append((error.key or "connection.url", str(error)))
        return [ConfigValue(name, settings.get(name), errors=[message]) for name, message in errors]

    @classmethod
    def exactly_once_support(cls, config: Mapping[str, str]) -> ExactlyOnceSupport:
        """Rows between two numbers or times are the same again, unless somebody changes them; all rows of a table are not."""
        bulk = config.get(keys.MODE, "").strip() == keys.BULK
        return ExactlyOnceSupport.UNSUPPORTED if bulk else ExactlyOnceSupport.SUPPORTED

    @classmethod
    def alter_offsets(
        cls, config: Mapping[str, str], offsets: Iterable[tuple[Partition | None, Offset | None]]
    ) -> None:
        bulk = config.get(keys.MODE, "").strip() == keys.BULK
        for partition, offset in offsets:
            check_offset(partition, offset, bulk=bulk)

    def start(self, context: ConnectorContext) -> None:
        if self._query:
            with self._session.connected("connecting", patiently=True):
                return
        interval = self.settings[keys.TABLE_POLL_INTERVAL_MS] / 1000
        self._monitor = TableMonitor(self._tables, interval, context.request_task_reconfiguration, context.raise_error)
        self._monitor.start()

    def task_configs(self, max_tasks: int) -> list[dict[str, str]]:
        if self._query or self._monitor is None:
            return [dict(self.config)]
        groups = grouped(self._monitor.known, max_tasks)
        # Without any table there is one task that waits: a connector that is there should be seen.
        return [{**self.config, TABLES: _as_json(group)} for group in groups or [[]]]

    def stop(self) -> None:
        if self._monitor is not None:
            self._monitor.stop()
        else:
            self._session.close()


def grouped(tables: Sequence[TableId], groups: int) -> list[Sequence[TableId]]:
    """Tables that stand together stay together; groups differ by one table at most.

    >>> grouped([1, 2, 3, 4, 5], 2)
    [[1, 2, 3], [4, 5]]
    """
    count = min(len(tables), groups)
    if not count:
        return []
    size, longer = divmod(len(tables), count)
    found, at = [], 0
    for index in range(count):
        end = at + size + (index < longer)
        found.append(tables[at:end])
        at = end
    return found


def _as_json(tables: Sequence[TableId]) -> str:
    return json.dumps([[table.catalog, table.schema, table.table] for table in tables])


def _list_errors(settings: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    given = [name for name in (keys.WHITELIST, keys.BLACKLIST) if settings[name]]
    if len(given) > 1:
        yield keys.BLACKLIST, f"{keys.WHITELIST} and {keys.BLACKLIST} cannot both be set"
    patterns = [name for name in (keys.INCLUDE, keys.EXCLUDE) if settings[name]]
    if given and patterns:
        yield given[0], f"{given[0]} and {patterns[0]} cannot both be set: use one pair of lists"
    if query_of(settings):
        if settings[keys.QUERY] and settings[keys.QUERY_MASKED]:
            yield keys.QUERY_MASKED, f"{keys.QUERY} and {keys.QUERY_MASKED} cannot both be set"
        for name in (*given, *patterns):
            yield name, f"{name} has no meaning with a query: leave one of them out"


def _mode_errors(settings: Mapping[str, object]) -> Iterable[tuple[str, str]]:
    mode = str(settings[keys.MODE])
    times = [*_texts(settings[keys.TIMESTAMP_COLUMNS]), *_texts(settings[keys.TIMESTAMP_MAPPING])]
    if keys.TIMESTAMP in mode and not times:
        yield keys.TIMESTAMP_COLUMNS, f"The mode {mode} needs {keys.TIMESTAMP_COLUMNS} or {keys.TIMESTAMP_MAPPING}"
    if keys.INCREMENTING in mode and query_of(settings) and not settings[keys.INCREMENTING_COLUMN]:
        yield keys.INCREMENTING_COLUMN, f"The mode {mode} with a query needs {keys.INCREMENTING_COLUMN}"


def _texts(value: object) -> list[str]:
    return value if isinstance(value, list) else []
