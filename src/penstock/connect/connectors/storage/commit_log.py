"""The log of one partition: which files count, and up to which offset.

Entries are small numbered files. Only one task can write an entry of a number, so a task that was replaced, and does not know
it, finds its number taken and stops. A task begins by writing an entry of its own: that is how it replaces the one before.
"""

from __future__ import annotations

import uuid
from collections.abc import Sequence
from dataclasses import dataclass, field

import orjson

from penstock.connect.connectors.storage.replay import Mark
from penstock.connect.connectors.storage.stores.store import FolderStore
from penstock.connect.errors import ConnectError, RetriableError

Moves = Sequence[Sequence[str]]
_SUFFIX = ".json"


@dataclass(frozen=True, slots=True)
class LogEntry:
    """An entry.

    Attributes:
        end: Offset behind the records that count; None if nobody knows yet.
        moves: Files that count: under which name they were written, and where they belong.
        marks: Of the first and the last record that count.
        token: Tells this entry from another one of the same number.
    """

    end: int | None
    moves: Moves = ()
    marks: Sequence[Mark] = ()
    token: str = field(default_factory=lambda: uuid.uuid4().hex)

    def encode(self) -> bytes:
        """As JSON."""
        moves, marks = ([list(part) for part in parts] for parts in (self.moves, self.marks))
        return orjson.dumps({"end": self.end, "moves": moves, "marks": marks, "token": self.token})

    @staticmethod
    def decode(data: bytes, path: str) -> LogEntry:
        """From JSON.

        Raises:
            ConnectError: It is none.
        """
        try:
            found = orjson.loads(data)
            marks = [Mark(*mark) for mark in found.get("marks", ())]
            return LogEntry(found["end"], found["moves"], marks, found["token"])
        except (ValueError, KeyError, TypeError) as error:
            raise ConnectError(
                f"{path} cannot be read as an entry of a commit log: {error}",
                hint="Remove it; then the names of the files tell where to go on.",
            ) from error


class CommitLog:
    """The log of a partition.

    Args:
        store: Where it is.
        folder: Its folder.
    """

    def __init__(self, store: FolderStore, folder: str) -> None:
        self._store = store
        self._folder = folder
        self._number = 0

    def claim(self) -> LogEntry:
        """Become the one who writes; finish what the one before had begun.

        Returns:
            The entry to go on from.
        """
        while True:
            numbers = self._numbers()
            last = self._read(numbers[-1]) if numbers else None
            entry = LogEntry(None) if last is None else LogEntry(last.end, last.moves, last.marks)
            if entry.moves and not self._finish(entry.moves):
                entry = LogEntry(None)  # somebody took the files away, perhaps to have them written again
            self._number = numbers[-1] if numbers else 0
            if self._append(entry):
                self._forget(numbers)
                return entry

    def commit(self, entry: LogEntry) -> None:
        """Say that files count. After a RetriableError it is called again with the same entry.

        Raises:
            ConnectError: Another task has taken over.
        """
        before = self._number
        if not self._append(entry):
            raise ConnectError(
                f"Another task writes to {self._folder} since this one began, so this one stops",
                hint="If two workers run the same connector with different groups, end one of them.",
            )
        self._forget([before])

    def set_end(self, end: int) -> None:
        """Go on at another offset from now on, whatever files there are."""
        while True:
            numbers = self._numbers()
            self._number = numbers[-1] if numbers else 0
            if self._append(LogEntry(end)):
                self._forget(numbers)
                return

    def _numbers(self) -> list[int]:
        found = (name.removesuffix(_SUFFIX) for name in self._store.names(self._folder) if name.endswith(_SUFFIX))
        return sorted(int(name) for name in found if name.isdigit())

    def _path(self, number: int) -> str:
        return f"{self._folder}/{number:010d}{_SUFFIX}"

    def _read(self, number: int) -> LogEntry | None:
        path = self._path(number)
        data = self._store.read(path)
        return None if data is None else LogEntry.decode(data, path)

    def _finish(self, moves: Moves) -> bool:
        """Rename what is not renamed; whether any of the files is there."""
        found = [self._store.move(temporary, path) or self._store.exists(path) for temporary, path in moves]
        return any(found)

    def _append(self, entry: LogEntry) -> bool:
        part = f"{self._folder}/{entry.token}.part"
        target = self._path(self._number + 1)
        try:
            with self._store.create(part) as file:
                file.write(entry.encode())
                self._store.complete(file, part)
        except OSError as error:
            raise self._store.write_failure(error) from error
        if not self._store.move_new(part, target):
            # Taken; perhaps by this very entry, if the answer to an earlier request got lost.
            there = self._read(self._number + 1)
            if there is None or there.token != entry.token:
                self._store.delete(part)
                return False
        self._number += 1
        return True

    def _forget(self, numbers: Sequence[int]) -> None:
        try:
            for number in numbers:
                self._store.delete(self._path(number))
        except RetriableError:
            pass  # the next one to claim the log removes them
