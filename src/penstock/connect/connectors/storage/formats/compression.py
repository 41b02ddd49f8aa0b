"""Compression around formats that have none of their own."""

from __future__ import annotations

import gzip
from collections.abc import Mapping
from typing import Any, BinaryIO, cast


def compression_extension(settings: Mapping[str, Any]) -> str:
    """What compression adds to a file's name."""
    return ".gz" if settings["compression.type"] == "gzip" else ""


class Stream:
    """Writes to a file, compressed if the settings say so. Closing it ends the compression, not the file."""

    def __init__(self, file: BinaryIO, settings: Mapping[str, Any]) -> None:
        self._zip: gzip.GzipFile | None = None
        if settings["compression.type"] == "gzip":
            level = settings["compression.level"]
            # Without a time in it: the same records make the same file.
            self._zip = gzip.GzipFile("", "wb", 9 if level < 0 else level, file, mtime=0)
        self._file = cast("BinaryIO", self._zip) if self._zip is not None else file

    def write(self, data: bytes) -> None:
        """Write bytes."""
        self._file.write(data)

    def close(self) -> None:
        """End the compression."""
        if self._zip is not None:
            self._zip.close()

    def abandon(self) -> None:
        """Forget the file."""
        if self._zip is not None:
            self._zip.fileobj = None  # type: ignore[assignment]  # how GzipFile itself marks that it is closed
