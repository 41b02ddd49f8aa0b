"""HdfsSink: records to files in HDFS."""

from __future__ import annotations

import getpass
from collections.abc import Mapping
from typing import Any, ClassVar
from urllib.parse import SplitResult, urlsplit

from penstock.connect.api import SinkTask
from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.connectors.storage.folder_sink import LOGS_DIR, FolderSinkConnector, FolderSinkTask
from penstock.connect.connectors.storage.keys import AVRO, FORMAT, STORAGE_KEYS, compression_keys
from penstock.connect.connectors.storage.storage_connector import refused
from penstock.connect.connectors.storage.stores.store import FolderStore
from penstock.connect.errors import ConfigError, invalid_value

_SCHEMES = {"hdfs": "http", "webhdfs": "http", "swebhdfs": "https", "http": "http", "https": "https"}


def namenodes(settings: Mapping[str, Any]) -> tuple[list[str], str]:
    """The HTTP addresses of the namenodes, and the folder below which files are.

    >>> namenodes({"hdfs.url": "hdfs://nn:8020/lake", "store.url": "", "hdfs.http.port": 9870})
    (['http://nn:9870'], '/lake')

    Raises:
        ConfigError: The address cannot be used.
    """
    key = "hdfs.url" if settings["hdfs.url"] else "store.url"
    url: str = settings[key]
    if not url:
        raise ConfigError("The HDFS sink needs hdfs.url", key="hdfs.url", hint="webhdfs://namenode:9870/data")
    scheme, _, rest = url.partition("://")
    if scheme not in _SCHEMES or not rest:
        raise invalid_value(key, url, f"Not one of {', '.join(_SCHEMES)}", hint="webhdfs://namenode:9870/data")
    hosts, _, path = rest.partition("/")
    found = []
    for host in hosts.split(","):
        parts = urlsplit(f"//{host}")
        # The port of an hdfs address is that of Hadoop's own protocol.
        port = settings["hdfs.http.port"] if scheme == "hdfs" else _port(parts, key, url) or settings["hdfs.http.port"]
        found.append(f"{_SCHEMES[scheme]}://{parts.hostname}:{port}")
    return found, f"/{path}"


def _port(parts: SplitResult, key: str, url: str) -> int | None:
    try:
        return parts.port
    except ValueError as error:
        raise invalid_value(key, url, str(error)) from error


class HdfsSinkTask(FolderSinkTask):
    """Writes files to HDFS."""

    ENCODED: ClassVar[str] = ":"

    def open_store(self) -> FolderStore:
        return HdfsSinkConnector.store(self.settings)


class HdfsSinkConnector(FolderSinkConnector):
    """Writes records to files in HDFS, each exactly once."""

    CONFIG: ClassVar[ConfigDef] = ConfigDef(
        ConfigKey(
            name="hdfs.url",
            default="",
            importance=Importance.HIGH,
            doc="The namenode and the folder: `webhdfs://namenode:9870/data`, swebhdfs for HTTPS; several namenodes with "
            "commas between them. Of `hdfs://namenode:8020/data` the host counts, with the port of hdfs.http.port.",
        ),
        ConfigKey(name="store.url", default="", importance=Importance.HIGH, doc="The same as hdfs.url."),
        ConfigKey(
            name="hdfs.http.port",
            type=ConfigType.INT,
            default=9870,
            doc="The namenode's port for HTTP, where hdfs.url has none.",
        ),
        ConfigKey(name="hdfs.user", default="", doc="Who writes; the user of the worker if it is not set."),
        ConfigKey(
            name="hdfs.authentication.kerberos",
            type=ConfigType.BOOLEAN,
            default=False,
            doc="Kerberos; it cannot be switched on.",
        ),
        *STORAGE_KEYS.extended(
            ConfigKey(name=FORMAT.name, type=FORMAT.type, default=AVRO, importance=FORMAT.importance, doc=FORMAT.doc)
        ),
        LOGS_DIR,
        *compression_keys(""),
        ConfigKey(
            name="hive.integration",
            type=ConfigType.BOOLEAN,
            default=False,
            importance=Importance.LOW,
            doc="Tables in Hive; it cannot be switched on. Folders of the partitioners are named as Hive's partitions.",
        ),
    )
    TASK: ClassVar[type[SinkTask]] = HdfsSinkTask

    @classmethod
    def store(cls, settings: Mapping[str, Any]) -> FolderStore:
        try:
            from penstock.connect.connectors.storage.stores.hdfs import HdfsStore
            from penstock.connect.connectors.storage.stores.webhdfs import WebHdfs
        except ImportError as error:
            raise ConfigError("The HDFS sink needs requests", hint="pip install 'penstock[storage]'") from error
        addresses, folder = namenodes(settings)
        return HdfsStore(WebHdfs(addresses, settings["hdfs.user"] or getpass.getuser()), folder)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        super().check(settings)
        namenodes(settings)
        for key in ("topics.dir", "logs.dir", "file.delim", "format.bytearray.extension"):
            if ":" in settings[key]:
                raise invalid_value(key, settings[key], "Names in HDFS cannot have a colon")
        refused(
            settings, "hive.integration", True, "tables in Hive are not made; create an external table on the folder."
        )
        refused(
            settings,
            "hdfs.authentication.kerberos",
            True,
            "Kerberos is not supported; a gateway such as Knox can be used.",
        )


HdfsSinkTask.CONFIG = HdfsSinkConnector.CONFIG
