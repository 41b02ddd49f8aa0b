"""What the sinks need of a place for files.

There are two kinds. An object store (S3) makes a whole file appear at once under its name, and that is all. A folder store
(a local disk, HDFS) can also rename, which a commit log makes use of.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO, Protocol

from penstock.connect.errors import shown


class ObjectStore(Protocol):
    """A place where whole files appear. Paths are relative, with `/` between their parts.

    Every method raises RetriableError if the store cannot be reached, and ConnectError if it refuses.
    """

    def check(self) -> None:
        """Whether files can be written at all, as far as that can be known."""
        ...

    def name_problem(self, path: str) -> str | None:
        """Why there can be no file of that path; None if there can. Asked before anything is written."""
        ...

    def create(self, path: str) -> BinaryIO:
        """A new local file whose content is meant for `path`."""
        ...

    def complete(self, file: BinaryIO, path: str, tags: Mapping[str, str] | None = None) -> None:
        """Make what was written to `file` durable at `path`, all of it or nothing. May be called again after a failure.

        Args:
            file: The file.
            path: Its path.
            tags: What is said of it besides, by a store that can.
        """
        ...

    def write_failure(self, error: OSError) -> Exception:
        """What a failure to write to a created file means."""
        ...

    def close(self) -> None:
        """Let go of connections."""
        ...


class FolderStore(ObjectStore, Protocol):
    """A place with folders, where files can be renamed."""

    def read(self, path: str) -> bytes | None:
        """The content of a small file; None if there is none."""
        ...

    def exists(self, path: str) -> bool:
        """Whether there is such a file."""
        ...

    def names(self, folder: str) -> list[str]:
        """What is in a folder; nothing if there is none."""
        ...

    def walk(self, folder: str) -> Iterator[str]:
        """The names of all files below a folder, without where they are."""
        ...

    def move(self, source: str, target: str) -> bool:
        """Rename, in place of what was there; False if there is nothing to rename."""
        ...

    def move_new(self, source: str, target: str) -> bool:
        """Rename if there is nothing of that name, in one step; False if there is."""
        ...

    def delete(self, path: str) -> None:
        """Remove a file, if there is one."""
        ...


def part_problem(path: str, most: int) -> str | None:
    """What is wrong with the parts of a path whose store takes only so many bytes for each; None if nothing is.

    >>> part_problem("lake/øøø", 5)
    'the part "øøø" of its path has 6 bytes, and 5 are the most'
    """
    for part in path.split("/"):
        if (size := len(part.encode("utf-8", "surrogatepass"))) > most:
            return f'the part "{shown(part)}" of its path has {size} bytes, and {most} are the most'
    return None
