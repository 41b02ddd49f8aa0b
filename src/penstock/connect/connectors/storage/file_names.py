"""Where files belong, and what they are called."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any
from urllib.parse import quote

from penstock.connect.api import TopicPartition
from penstock.connect.connectors.storage.partitioners.partitioner import hex_code, safe_name
from penstock.connect.connectors.storage.stores.store import FolderStore


class FileNames:
    """Names as Kafka Connect's storage sinks give them.

    The topic in a file's name is the one the records were read from, also where a transform changed it for the folder:
    records of two topics that end up in one folder have the same partitions and offsets, and must not have the same names.

    Args:
        settings: The settings of the connector.
        with_end: Whether the last offset is in the name, beside the first one.
        encoded: Characters that names in the store cannot have: in folders their codes stand for them.
    """

    def __init__(self, settings: Mapping[str, Any], *, with_end: bool, encoded: str = "") -> None:
        self._topics: str = settings["topics.dir"].strip("/")
        self._logs: str = settings.get("logs.dir", "").strip("/")
        self._slash: str = settings["directory.delim"]
        self._plus: str = settings["file.delim"]
        self._width: int = settings["filename.offset.zero.pad.width"]
        self._with_end = with_end
        self._codes = str.maketrans({char: hex_code(char) for char in encoded})

    def folder(self, topic: str, encoded: str) -> str:
        """The folder of a topic's records."""
        path = self._slash.join(part for part in (self._topics, safe_name(topic), encoded) if part)
        return path.translate(self._codes) if self._codes else path

    def file(self, folder: str, at: TopicPartition, first: int, last: int, extension: str) -> str:
        """The path of a file."""
        offsets = (first, last) if self._with_end else (first,)
        parts = (at.topic, str(at.partition), *(str(offset).zfill(self._width) for offset in offsets))
        return f"{folder}{self._slash}{self._plus.join(parts)}{extension}"

    def temporary_folder(self, connector: str, at: TopicPartition) -> str:
        """Where the files of a connector are until they count."""
        return self._join(self._topics, "+tmp", quote(connector, safe=""), at.topic, str(at.partition))

    def log_folder(self, connector: str, at: TopicPartition) -> str:
        """Where the log of a connector is."""
        return self._join(self._logs, at.topic, str(at.partition), quote(connector, safe=""))

    def logged(self, store: FolderStore, connector: str) -> list[TopicPartition]:
        """The partitions a connector has logs of."""
        return [
            TopicPartition(topic, int(partition))
            for topic in store.names(self._logs)
            for partition in store.names(self._join(self._logs, topic))
            if partition.isdigit() and store.names(self.log_folder(connector, TopicPartition(topic, int(partition))))
        ]

    def highest_end(self, store: FolderStore, at: TopicPartition) -> int | None:
        """The offset behind all files of a partition, also of those Kafka Connect has written."""
        plus = re.escape(self._plus)
        pattern = re.compile(rf"{re.escape(at.topic)}{plus}{at.partition}{plus}(\d+){plus}(\d+)(\..*)?")
        matches = (pattern.fullmatch(name) for name in store.walk(self._join(self._topics, at.topic)))
        return max((int(match[2]) + 1 for match in matches if match), default=None)

    def _join(self, *parts: str) -> str:
        return "/".join(part for part in parts if part)
