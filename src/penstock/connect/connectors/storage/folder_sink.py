"""Sinks to stores that rename: the log of a partition says what counts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.api import TopicPartition
from penstock.connect.config import ConfigKey
from penstock.connect.connectors.storage.commit_log import CommitLog
from penstock.connect.connectors.storage.delivery import LoggedDelivery
from penstock.connect.connectors.storage.file_names import FileNames
from penstock.connect.connectors.storage.storage_connector import StorageSinkConnector
from penstock.connect.connectors.storage.storage_task import StorageSinkTask, storage_settings
from penstock.connect.connectors.storage.stores.store import FolderStore
from penstock.connect.errors import ConfigError

LOGS_DIR = ConfigKey(name="logs.dir", default="logs", doc="The folder of the logs that say which files count.")


class FolderSinkTask(StorageSinkTask):
    """Gathers records into files of a store that renames."""

    NAMES_HAVE_END: ClassVar[bool] = True

    def delivery(self, store: Any, names: FileNames, at: TopicPartition) -> LoggedDelivery:
        return LoggedDelivery(store, names, at, self.config.get("name", ""))


class FolderSinkConnector(StorageSinkConnector):
    """A sink to a store that renames."""

    @classmethod
    @abstractmethod
    def store(cls, settings: Mapping[str, Any]) -> FolderStore:
        """The place for files."""

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        if settings["directory.delim"] != "/":
            raise ConfigError("Folders have a slash between them: directory.delim must be /", key="directory.delim")

    @classmethod
    def alter_offsets(cls, config: Mapping[str, str], offsets: Mapping[tuple[str, int], int | None]) -> None:
        settings = storage_settings(cls.CONFIG.parse(config))
        names, store = FileNames(settings, with_end=True), cls.store(settings)
        for (topic, partition), offset in offsets.items():
            folder = names.log_folder(config.get("name", ""), TopicPartition(topic, partition))
            CommitLog(store, folder).set_end(offset or 0)

    @classmethod
    def reset_offsets(cls, config: Mapping[str, str]) -> None:
        settings = storage_settings(cls.CONFIG.parse(config))
        names, store = FileNames(settings, with_end=True), cls.store(settings)
        known = names.logged(store, config.get("name", ""))
        cls.alter_offsets(config, dict.fromkeys(known))
