"""A file that is appended to, and beside it how far it is complete and which offsets that stands for."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType
from typing import Any

import orjson
from typing_extensions import Self

from penstock.connect.api import TopicPartition
from penstock.connect.errors import ConnectError


class OffsetFile:
    """Appends to a file so that it holds everything up to some offsets, and nothing of what comes behind them.

    Beside `lines.txt` lies `.lines.txt.<owner>.offsets`: `{"length": bytes, "offsets": {topic: {partition: offset}}}`, with
    `"open": true` while bytes are appended. Only what an owner left open is cut off: what others appended stays.

    Args:
        path: The file.
        owner: Whose offsets these are: the name of the connector.

    Raises:
        ConnectError: The file cannot be opened.
    """

    def __init__(self, path: str, owner: str) -> None:
        self._path = Path(path)
        self._notes = self._path.with_name(f".{self._path.name}.{owner.replace('/', '_')}.offsets")
        self._is_open = False
        self._lock: int | None = None
        try:
            self._lock = os.open(self._notes.with_suffix(".lock"), os.O_RDWR | os.O_CREAT, 0o600)
            # Waits for a task of a killed worker that is still writing.
            fcntl.flock(self._lock, fcntl.LOCK_EX)
            self._file = self._path.open("ab", buffering=0)
        except OSError as error:
            self._unlock()
            raise ConnectError(
                f"Couldn't find or create file '{path}' for FileStreamSinkTask: {error.strerror}",
                hint="The folder must exist on the machine of the task, and be writable.",
            ) from error
        self.offsets: dict[TopicPartition, int] = self._recover()

    def _recover(self) -> dict[TopicPartition, int]:
        notes = self._read()
        if notes is None or os.fstat(self._file.fileno()).st_size < notes["length"]:
            return {}  # a new file, or somebody emptied it
        if notes.get("open"):
            self._file.truncate(notes["length"])
        return {
            TopicPartition(topic, int(partition)): offset
            for topic, partitions in notes["offsets"].items()
            for partition, offset in partitions.items()
        }

    def _read(self) -> Any:
        try:
            return orjson.loads(self._notes.read_bytes())
        except (FileNotFoundError, orjson.JSONDecodeError):
            return None

    def append(self, data: bytes) -> None:
        """Write bytes that count once `commit` says so."""
        if not self._is_open:
            self._write_notes(is_open=True)
            self._is_open = True
        view = memoryview(data)
        while view:
            view = view[self._file.write(view) :]

    def commit(self, offsets: Mapping[TopicPartition, int]) -> None:
        """The file holds everything below these offsets."""
        changed = {at: offset for at, offset in offsets.items() if self.offsets.get(at, -1) < offset}
        if not changed and not self._is_open:
            return
        os.fsync(self._file.fileno())
        self.offsets.update(changed)
        self._write_notes(is_open=False)
        self._is_open = False

    def alter(self, offsets: Mapping[Any, int | None]) -> None:
        """Forget or change what is known of some partitions: records behind a new offset are written, also again."""
        for (topic, partition), offset in offsets.items():
            at = TopicPartition(topic, partition)
            if offset is None:
                self.offsets.pop(at, None)
            elif at in self.offsets:
                self.offsets[at] = min(offset, self.offsets[at])
        self._write_notes(is_open=False)

    def _write_notes(self, *, is_open: bool) -> None:
        nested: dict[str, dict[str, int]] = {}
        for (topic, partition), offset in self.offsets.items():
            nested.setdefault(topic, {})[str(partition)] = offset
        length = os.fstat(self._file.fileno()).st_size
        notes: dict[str, Any] = {"length": length, "offsets": nested, "open": is_open}
        part = self._notes.with_suffix(".part")
        part.write_bytes(orjson.dumps(notes))
        part.replace(self._notes)

    def close(self) -> None:
        """Let go; what was appended and not committed is cut off by the next owner."""
        self._file.close()
        self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self.close()
