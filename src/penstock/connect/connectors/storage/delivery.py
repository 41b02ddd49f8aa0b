"""How complete files get to where they belong: each exactly once, whatever is killed in between."""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import BinaryIO, Protocol

from penstock.connect.api import TopicPartition
from penstock.connect.connectors.storage.commit_log import CommitLog, LogEntry
from penstock.connect.connectors.storage.file_names import FileNames
from penstock.connect.connectors.storage.replay import Mark, Reached
from penstock.connect.connectors.storage.stores.store import FolderStore, ObjectStore
from penstock.connect.errors import ConnectError


@dataclass(slots=True)
class NewFile:
    """A file that is written, and how far it got.

    Attributes:
        file: Where its content is now.
        temporary: Its path until it counts.
        path: Its path when it counts.
        tags: What a store may say of it.
    """

    file: BinaryIO
    temporary: str
    path: str = ""
    tags: dict[str, str] = field(default_factory=dict)
    is_complete: bool = False
    is_moved: bool = False


class Delivery(Protocol):
    """Brings files of one partition to the store."""

    def open(self) -> Reached:
        """What the store has of the partition, as far as it can be told."""
        ...

    def create(self, extension: str) -> NewFile:
        """A new file."""
        ...

    def deliver(self, files: list[NewFile], end: int, marks: Sequence[Mark]) -> None:
        """Make files count. After a RetriableError it is called again with the same.

        Args:
            files: The files.
            end: The offset behind the last record in them.
            marks: Of the first and the last record that count from now on.
        """
        ...

    def discard(self, files: list[NewFile]) -> None:
        """Forget files that were not delivered."""
        ...


class ObjectDelivery:
    """For object stores.

    Files are divided by what records say and nothing else, so a task that begins again where the last one committed makes
    the same files under the same names: those that were there already are replaced by themselves.

    Args:
        store: The store.
    """

    def __init__(self, store: ObjectStore) -> None:
        self._store = store

    def open(self) -> Reached:
        return Reached()

    def create(self, extension: str) -> NewFile:
        return NewFile(self._store.create(""), "")

    def deliver(self, files: list[NewFile], end: int, marks: Sequence[Mark]) -> None:
        for new in files:
            if not new.is_complete:
                self._store.complete(new.file, new.path, new.tags)
                new.is_complete = True
                new.file.close()

    def discard(self, files: list[NewFile]) -> None:
        for new in files:
            _close(new.file)


class LoggedDelivery:
    """For stores that rename.

    Files are written under other names. Then the log says which of them count from now on, in one step for all; then they are
    renamed. What a task that died had not renamed yet, the next one renames.

    Args:
        store: The store.
        names: Where files belong.
        at: The partition.
        connector: Name of the connector.
    """

    def __init__(self, store: FolderStore, names: FileNames, at: TopicPartition, connector: str) -> None:
        self._store = store
        self._names = names
        self._at = at
        self._folder = names.temporary_folder(connector, at)
        self._log = CommitLog(store, names.log_folder(connector, at))
        self._entry: LogEntry | None = None
        self._is_logged = False

    def open(self) -> Reached:
        known = self._log.claim()
        for name in self._store.names(self._folder):
            self._store.delete(f"{self._folder}/{name}")  # of a task that is gone
        if known.end is not None:
            return Reached(known.end, known.marks)
        return Reached(self._names.highest_end(self._store, self._at) or 0)

    def create(self, extension: str) -> NewFile:
        temporary = f"{self._folder}/{uuid.uuid4().hex}_tmp{extension}"
        return NewFile(self._store.create(temporary), temporary)

    def deliver(self, files: list[NewFile], end: int, marks: Sequence[Mark]) -> None:
        for new in files:
            if not new.is_complete:
                self._store.complete(new.file, new.temporary)
                new.is_complete = True
                new.file.close()
        if not self._is_logged:
            if self._entry is None:
                self._entry = LogEntry(end, [(new.temporary, new.path) for new in files], marks)
            self._log.commit(self._entry)
            self._is_logged = True
        for new in files:
            if not new.is_moved:
                if not self._store.move(new.temporary, new.path) and not self._store.exists(new.path):
                    raise ConnectError(
                        f"{new.temporary} is gone before it could be renamed to {new.path}",
                        hint="Something else removes files from the folder +tmp.",
                    )
                new.is_moved = True
        self._entry, self._is_logged = None, False

    def discard(self, files: list[NewFile]) -> None:
        for new in files:
            _close(new.file)
            if self._entry is None:  # what a log may speak of is left to the next one who reads it
                self._store.delete(new.temporary)


def _close(file: BinaryIO) -> None:
    try:
        file.close()
    except OSError:
        pass  # what is left in its buffer is not wanted
