"""Files in HDFS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import BinaryIO

from penstock.connect.connectors.storage.stores.spool import spool_failure, spool_file
from penstock.connect.connectors.storage.stores.store import part_problem
from penstock.connect.connectors.storage.stores.webhdfs import RemoteError, WebHdfs, failure

# What a namenode takes unless dfs.namenode.fs-limits says otherwise.
_PATH_CHARACTERS, _PART_BYTES = 8000, 255


class HdfsStore:
    """Files below a folder of HDFS. They are gathered locally and sent when they are complete.

    Args:
        client: Asks the namenode.
        root: The folder: `/` or `/data/lake`.
    """

    def __init__(self, client: WebHdfs, root: str) -> None:
        self._client = client
        self._root = root.rstrip("/")

    def _at(self, path: str) -> str:
        return f"{self._root}/{path}".rstrip("/")

    def check(self) -> None:
        root = self._root or "/"
        try:
            self._client.ask("PUT", root, "MKDIRS")
        except RemoteError as error:
            raise failure(error, root) from error

    def name_problem(self, path: str) -> str | None:
        if "//" in path:
            return "a part of its path is empty"
        if len(self._at(path)) > _PATH_CHARACTERS:
            return f"its path has {len(self._at(path))} characters, and {_PATH_CHARACTERS} are the most"
        return part_problem(path, _PART_BYTES)

    def create(self, path: str) -> BinaryIO:
        return spool_file()

    def complete(self, file: BinaryIO, path: str, tags: Mapping[str, str] | None = None) -> None:
        try:
            file.flush()
            file.seek(0)
        except OSError as error:
            raise spool_failure(error) from error
        try:
            self._client.send(self._at(path), file)
        except RemoteError as error:
            raise failure(error, self._at(path)) from error

    def write_failure(self, error: OSError) -> Exception:
        return spool_failure(error)

    def read(self, path: str) -> bytes | None:
        try:
            return self._client.content(self._at(path))
        except RemoteError as error:
            if error.name == "FileNotFoundException":
                return None
            raise failure(error, self._at(path)) from error

    def exists(self, path: str) -> bool:
        return self._status(path) is not None

    def _status(self, path: str) -> str | None:
        """FILE, DIRECTORY, or None."""
        try:
            kind: str = self._client.ask("GET", self._at(path), "GETFILESTATUS")["FileStatus"]["type"]
        except RemoteError as error:
            if error.name == "FileNotFoundException":
                return None
            raise failure(error, self._at(path)) from error
        return kind

    def _list(self, folder: str) -> list[tuple[str, str]]:
        try:
            found = self._client.ask("GET", self._at(folder), "LISTSTATUS")["FileStatuses"]["FileStatus"]
        except RemoteError as error:
            if error.name == "FileNotFoundException":
                return []
            raise failure(error, self._at(folder)) from error
        return [(entry["pathSuffix"], entry["type"]) for entry in found]

    def names(self, folder: str) -> list[str]:
        return [name for name, _ in self._list(folder)]

    def walk(self, folder: str) -> Iterator[str]:
        for name, kind in self._list(folder):
            if kind == "DIRECTORY":
                yield from self.walk(f"{folder}/{name}")
            else:
                yield name

    def move(self, source: str, target: str) -> bool:
        try:
            self._make_folder_of(target)
            self._client.ask("PUT", self._at(source), "RENAME", destination=self._at(target), renameoptions="OVERWRITE")
        except RemoteError as error:
            if error.name == "FileNotFoundException":
                return False
            raise failure(error, self._at(target)) from error
        return True

    def move_new(self, source: str, target: str) -> bool:
        try:
            self._make_folder_of(target)
            # Without the option the namenode refuses to replace a file, in the step that would rename it.
            answer = self._client.ask("PUT", self._at(source), "RENAME", destination=self._at(target))
        except RemoteError as error:
            raise failure(error, self._at(target)) from error
        return bool(answer["boolean"])

    def _make_folder_of(self, path: str) -> None:
        self._client.ask("PUT", self._at(path).rpartition("/")[0] or "/", "MKDIRS")

    def delete(self, path: str) -> None:
        try:
            self._client.ask("DELETE", self._at(path), "DELETE")
        except RemoteError as error:
            raise failure(error, self._at(path)) from error

    def close(self) -> None:
        self._client.close()
