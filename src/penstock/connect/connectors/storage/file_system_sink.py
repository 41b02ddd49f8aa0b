"""FileSystemSink: records to files of a local folder."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any, ClassVar
from urllib.parse import unquote, urlsplit

from penstock.connect.api import SinkTask
from penstock.connect.config import ConfigDef, ConfigKey, Importance
from penstock.connect.config.validators import Check
from penstock.connect.connectors.storage.folder_sink import LOGS_DIR, FolderSinkConnector, FolderSinkTask
from penstock.connect.connectors.storage.keys import STORAGE_KEYS, compression_keys
from penstock.connect.connectors.storage.stores.local import LocalStore
from penstock.connect.errors import invalid_value


def _folder(key: str, value: Any) -> None:
    if value is not None and not _path(value).is_absolute():
        raise invalid_value(key, value, "Not an absolute path", hint="/data/lake or file:///data/lake")


def _path(url: str) -> Path:
    return Path(unquote(urlsplit(url).path) if url.startswith("file:") else url)


class FileSystemSinkTask(FolderSinkTask):
    """Writes files to a folder."""

    def open_store(self) -> LocalStore:
        return FileSystemSinkConnector.store(self.settings)


class FileSystemSinkConnector(FolderSinkConnector):
    """Writes records to files of a local folder, each exactly once."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="store.url",
            importance=Importance.HIGH,
            validator=Check(_folder, "absolute path"),
            doc="The folder: `/data/lake` or `file:///data/lake`. With tasks on several machines, one that all of them see.",
        ),
        *STORAGE_KEYS,
        LOGS_DIR,
        *compression_keys(""),
    )
    TASK: ClassVar[type[SinkTask]] = FileSystemSinkTask

    @classmethod
    def store(cls, settings: Mapping[str, Any]) -> LocalStore:
        return LocalStore(_path(settings["store.url"]))


FileSystemSinkTask.CONFIG = FileSystemSinkConnector.CONFIG
