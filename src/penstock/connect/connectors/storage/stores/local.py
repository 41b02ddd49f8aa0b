"""A local folder, or one that is mounted."""

from __future__ import annotations

import errno
import os
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import BinaryIO

from penstock.connect.connectors.storage.stores.store import part_problem
from penstock.connect.errors import ConnectError

_BUFFER_BYTES = 1 << 20
_PATH_BYTES, _PART_BYTES = 4095, 255
_HINTS = {
    errno.ENOSPC: "Make room on the disk; the task goes on from the last complete file when it is started again.",
    errno.EDQUOT: "The quota is used up; the task goes on from the last complete file when it is started again.",
    errno.EACCES: "The user of the worker must be allowed to write there.",
    errno.EPERM: "The user of the worker must be allowed to write there.",
    errno.EROFS: "The file system is mounted read-only.",
    errno.EFBIG: "Files may not be that large: see ulimit -f, or lower flush.size.",
}


class LocalStore:
    """Files below a folder.

    Args:
        root: The folder; made if it is missing.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def check(self) -> None:
        try:
            self._root.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise self._failure(error, self._root) from error

    def name_problem(self, path: str) -> str | None:
        size = len(str(self._root / path).encode("utf-8", "surrogatepass"))
        if size > _PATH_BYTES:
            return f"its path has {size} bytes, and {_PATH_BYTES} are the most"
        return part_problem(path, _PART_BYTES)

    def create(self, path: str) -> BinaryIO:
        target = self._root / path
        try:
            target.parent.mkdir(parents=True, exist_ok=True)
            return target.open("w+b", buffering=_BUFFER_BYTES)
        except OSError as error:
            raise self._failure(error, target) from error

    def complete(self, file: BinaryIO, path: str, tags: Mapping[str, str] | None = None) -> None:
        try:
            if not file.closed:
                file.flush()
                os.fsync(file.fileno())
                file.close()
        except OSError as error:
            raise self._failure(error, self._root / path) from error

    def write_failure(self, error: OSError) -> Exception:
        return self._failure(error, self._root)

    def read(self, path: str) -> bytes | None:
        try:
            return (self._root / path).read_bytes()
        except FileNotFoundError:
            return None
        except OSError as error:
            raise self._failure(error, self._root / path) from error

    def exists(self, path: str) -> bool:
        return (self._root / path).exists()

    def names(self, folder: str) -> list[str]:
        try:
            return os.listdir(self._root / folder)  # noqa: PTH208 - names are wanted
        except FileNotFoundError:
            return []
        except OSError as error:
            raise self._failure(error, self._root / folder) from error

    def walk(self, folder: str) -> Iterator[str]:
        for _, _, names in os.walk(self._root / folder):
            yield from names

    def move(self, source: str, target: str) -> bool:
        old, new = self._root / source, self._root / target
        try:
            new.parent.mkdir(parents=True, exist_ok=True)
            old.replace(new)
            _sync_folder(new.parent)
        except FileNotFoundError:
            return False
        except OSError as error:
            raise self._failure(error, new) from error
        return True

    def move_new(self, source: str, target: str) -> bool:
        old, new = self._root / source, self._root / target
        try:
            new.parent.mkdir(parents=True, exist_ok=True)
            # A link fails if there is such a name; rename would replace it.
            os.link(old, new)
            _sync_folder(new.parent)
            old.unlink()
        except FileExistsError:
            return False
        except OSError as error:
            raise self._failure(error, new) from error
        return True

    def delete(self, path: str) -> None:
        try:
            (self._root / path).unlink(missing_ok=True)
        except OSError as error:
            raise self._failure(error, self._root / path) from error

    def close(self) -> None:
        """There is nothing to let go of."""

    def _failure(self, error: OSError, path: Path) -> ConnectError:
        where = error.filename or path
        return ConnectError(
            f"Cannot write to {where}: {error.strerror or error}", hint=_HINTS.get(error.errno or 0, "")
        )


def _sync_folder(folder: Path) -> None:
    """Make names in a folder outlive a power failure."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
