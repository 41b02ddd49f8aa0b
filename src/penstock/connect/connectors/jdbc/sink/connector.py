"""JdbcSinkConnector: records become rows of tables."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import ClassVar

from penstock.connect.api import SinkConnector, SinkTask
from penstock.connect.config import ConfigDef, ConfigValue
from penstock.connect.connectors.jdbc.connection import Database
from penstock.connect.connectors.jdbc.sink.settings import CONFIG, SinkSettings
from penstock.connect.connectors.jdbc.sink.task import JdbcSinkTask
from penstock.connect.errors import ConfigError


class JdbcSinkConnector(SinkConnector):
    """Writes records to tables of a database: insert, upsert, update, delete; creates tables and adds columns."""

    CONFIG: ClassVar[ConfigDef] = CONFIG
    TASK: ClassVar[type[SinkTask]] = JdbcSinkTask

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> Iterable[ConfigValue]:
        """Settings that depend on each other, and whether there is a driver for the URL."""
        try:
            cls.CONFIG.parse(config)
        except ConfigError:
            return ()  # told for the setting itself
        SinkSettings.of(config)
        Database(config).close()
        return ()
