"""A file that grows by lines, is rotated and truncated, and is read by byte ranges that end behind a line."""

from __future__ import annotations

import logging
import os
import zlib
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from penstock.connect.errors import RetriableError

log = logging.getLogger("penstock.connect.file")

# A batch: large enough to keep a producer busy for a second, small enough for memory and a transaction.
RANGE_BYTES = 8 << 20
_CHUNK_BYTES = 256 << 10
_TAIL_BYTES = 64


@dataclass(frozen=True, slots=True)
class LinePosition:
    """How far a file was read.

    Attributes:
        position: Bytes before the next line.
        inode: The file, whatever it is called by now; None if only a position is known.
        tail: Checksum of the bytes before the position: tells a file that was truncated and has grown again.
    """

    position: int = 0
    inode: int | None = None
    tail: int | None = None

    @staticmethod
    def of(offset: Mapping[str, Any]) -> LinePosition:
        """From a source offset; Kafka's own has nothing but the position."""
        return LinePosition(int(offset.get("position") or 0), offset.get("inode"), offset.get("tail"))

    def offset(self) -> dict[str, int]:
        """As a source offset."""
        parts = {"position": self.position, "inode": self.inode, "tail": self.tail}
        return {name: value for name, value in parts.items() if value is not None}


class LineFile:
    """A file of lines, ended by a line feed, a carriage return, or both.

    Args:
        path: Its name. Whoever rotates it renames it within its folder and makes a new one.
    """

    def __init__(self, path: str) -> None:
        self._path = Path(path)
        self._missing = False

    def plan(self, known: LinePosition | None) -> tuple[LinePosition, LinePosition] | None:
        """The next range of whole lines; None if there is none.

        Args:
            known: Where the last range ended.
        """
        if known is not None and known.inode is not None and self._inode(self._path) != known.inode:
            rest = self._rest_of_rotated(known)
            if rest is not None:
                return rest
        file = self._open(self._path)
        if file is None:
            return None
        with file:
            start = self._start(file, known)
            end = _last_line_end(file, start.position, os.fstat(file.fileno()).st_size)
            return None if end is None else (start, _position_at(file, end))

    def _start(self, file: BinaryIO, known: LinePosition | None) -> LinePosition:
        inode = os.fstat(file.fileno()).st_ino
        if known is None:
            return LinePosition(0, inode)
        if _holds(file, known):
            return LinePosition(known.position, inode, known.tail)
        log.warning(
            "%s is another file than the one read to byte %d: it is read from its start", self._path, known.position
        )
        return LinePosition(0, inode)

    def _rest_of_rotated(self, known: LinePosition) -> tuple[LinePosition, LinePosition] | None:
        """What was not read of a file that has another name by now; its last line counts as whole."""
        path = self._find(known.inode)
        if path is None:
            return None
        with path.open("rb") as file:
            size = os.fstat(file.fileno()).st_size
            if size <= known.position or not _holds(file, known):
                return None
            end = _last_line_end(file, known.position, size)
            if end is None:
                end = size if self._path.exists() else None  # nobody adds to it any more
            return None if end is None else (known, _position_at(file, end))

    def read(self, start: LinePosition, end: LinePosition) -> Iterator[list[str]]:
        """The lines of a range, some at a time.

        A file that was truncated or replaced after the range was planned has not got them any more, and never will: what is
        lost is told, and the next plan begins with the file that is there now.

        Raises:
            RetriableError: There is no file at the moment, or it is being truncated.
        """
        file = self._open_planned(end)
        if file is None:
            lost = end.position - start.position
            log.warning("%s: bytes %d to %d were truncated or removed before they were read: %d bytes are lost",
                        self._path, start.position, end.position, lost)  # fmt: skip
            return
        with file:
            file.seek(start.position)
            left, begun = end.position - start.position, b""
            while left:
                data = file.read(min(left, _CHUNK_BYTES))
                if not data:
                    # What was given of it is rolled back; at the next attempt it is known from the start.
                    raise RetriableError(f"{self._path} was truncated while it was read")
                left -= len(data)
                text = begun + data
                cut = len(text) if not left else max(text.rfind(b"\n"), text.rfind(b"\r", 0, len(text) - 1)) + 1
                begun = text[cut:]
                if cut:
                    yield _lines(text[:cut])

    def _open_planned(self, end: LinePosition) -> BinaryIO | None:
        """The file a range was planned in, whatever it is called, or a copy of it; None if neither has the range."""
        rotated = None if end.inode is None else self._find(end.inode)
        try:
            for path in dict.fromkeys((rotated or self._path, self._path)):
                file = path.open("rb")
                if _holds(file, end):
                    return file
                file.close()
        except FileNotFoundError:
            raise RetriableError(f"Couldn't find file {self._path}, waiting for it to be created") from None
        return None

    def _find(self, inode: int | None) -> Path | None:
        """The file of that inode, under its own name or another one in the same folder."""
        if self._inode(self._path) == inode:
            return self._path
        try:
            with os.scandir(self._path.parent) as entries:
                return next((Path(e.path) for e in entries if e.inode() == inode and e.is_file()), None)
        except FileNotFoundError:
            return None

    @staticmethod
    def _inode(path: Path) -> int | None:
        try:
            return path.stat().st_ino
        except FileNotFoundError:
            return None

    def _open(self, path: Path) -> BinaryIO | None:
        try:
            file = path.open("rb")
        except FileNotFoundError:
            if not self._missing:
                log.warning("Couldn't find file %s, waiting for it to be created", path)
            self._missing = True
            return None
        self._missing = False
        return file


def _holds(file: BinaryIO, known: LinePosition) -> bool:
    """Whether a file begins with what was read: it is long enough, and the last bytes before the position are the same."""
    if os.fstat(file.fileno()).st_size < known.position:
        return False
    return known.tail is None or _tail(file, known.position) == known.tail


def _position_at(file: BinaryIO, end: int) -> LinePosition:
    return LinePosition(end, os.fstat(file.fileno()).st_ino, _tail(file, end))


def _tail(file: BinaryIO, position: int) -> int:
    begin = max(0, position - _TAIL_BYTES)
    file.seek(begin)
    return zlib.crc32(file.read(position - begin))


def _last_line_end(file: BinaryIO, start: int, size: int) -> int | None:
    """The end of the last whole line of the next range; a line longer than a range makes the range longer."""
    limit = start + RANGE_BYTES
    while True:
        end = _line_end_before(file, start, min(size, limit), is_last=limit >= size)
        if end is not None or limit >= size:
            return end
        limit += RANGE_BYTES


def _line_end_before(file: BinaryIO, start: int, end: int, *, is_last: bool) -> int | None:
    """Where the last line ends that is whole before `end`; looks from the back."""
    upper, after = end, b""
    while upper > start:
        lower = max(start, upper - _CHUNK_BYTES)
        file.seek(lower)
        block = file.read(upper - lower)
        # A carriage return at the very end may be the first half of a line end: wait for what comes.
        returns = block.rfind(b"\r", 0, len(block) - (not after))
        found = max(block.rfind(b"\n"), returns)
        if found >= 0:
            following = (block + after)[found + 1 : found + 2]
            return lower + found + 1 + (block[found : found + 1] == b"\r" and following == b"\n")
        upper, after = lower, block[:1]
    return None


def _lines(text: bytes) -> list[str]:
    r"""The lines of some text that ends with one; a last line without an end counts too.

    >>> _lines(b"a\r\n\nb\rc\n")
    ['a', '', 'b', 'c']
    """
    decoded = text.decode("utf-8", "replace")
    if "\r" in decoded:
        decoded = decoded.replace("\r\n", "\n").replace("\r", "\n")
    lines = decoded.split("\n")
    if not lines[-1]:
        lines.pop()
    return lines
