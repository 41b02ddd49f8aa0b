"""Segments: one Arrow file for the changes of a task in a batch, in the query's checkpoint folder.

A segment is written under a name of its own before the batch's output is committed, and gets its final name after. Its
metadata names the segment before it, so that a lost file is noticed and never skipped.
"""

from __future__ import annotations

import json
import time
import uuid
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.fs as pafs
from pyarrow import ipc

from penstock.errors import ConfigError, ProcessorStateError
from penstock.state.disk.layered import Changes

_SCHEMA = pa.schema([("store", pa.dictionary(pa.int32(), pa.utf8())), ("key", pa.binary()), ("value", pa.binary())])
_DIGITS = 16
NONE = -1  # "before the first segment"
_LOOKS, _LOOK_SECONDS = 4, 0.002


@dataclass(frozen=True, slots=True)
class Segment:
    """What is known of a segment without its rows."""

    sequence: int
    previous: int
    metadata: Mapping[str, int]
    rows: int
    bytes: int


class SegmentFolder:
    """The segments and snapshots of one task.

    Args:
        location: A folder, as a path or a URI that pyarrow knows (file, s3, hdfs, gs).
    """

    def __init__(self, location: str) -> None:
        self.location = location
        self._fs, self._root = filesystem(location)
        self._fs.create_dir(self._root, recursive=True)

    def _path(self, sequence: int, attempt: str = "") -> str:
        return f"{self._root}/{sequence:0{_DIGITS}d}{'-' + attempt if attempt else ''}.arrow"

    def snapshot_path(self, sequence: int) -> str:
        """Where the snapshot of the state after a segment is."""
        return f"{self._root}/{sequence:0{_DIGITS}d}.lmdb"

    def write(
        self, sequence: int, previous: int, stores: Mapping[str, Changes], metadata: Mapping[str, int]
    ) -> tuple[str, Segment]:
        """Write the changes under a new name; `publish` makes them the segment of their sequence number.

        Returns:
            The attempt's name, which the commit of the output carries, and the segment.
        """
        attempt = uuid.uuid4().hex
        table = _table(stores)
        info = {"sequence": sequence, "previous": previous, "metadata": dict(metadata)}
        schema = table.schema.with_metadata({"penstock": json.dumps(info)})
        options = ipc.IpcWriteOptions(compression="lz4")
        with self._fs.open_output_stream(self._path(sequence, attempt)) as sink:
            with ipc.new_file(sink, schema, options=options) as writer:
                writer.write_table(table.cast(schema))
            size = sink.tell()
        return attempt, Segment(sequence, previous, metadata, table.num_rows, size)

    def publish(self, sequence: int, attempt: str) -> None:
        """Give an attempt's file its final name. Done twice it does nothing."""
        source = self._path(sequence, attempt)
        if self._fs.get_file_info(source).type == pafs.FileType.NotFound:
            if self._fs.get_file_info(self._path(sequence)).type == pafs.FileType.NotFound:
                raise ProcessorStateError(
                    f"the state segment {sequence} of {self._root} was committed but its file is gone",
                    hint="Restore the checkpoint folder from a backup, or start again with a new application id.",
                )
            return
        self._fs.move(source, self._path(sequence))

    def sequences(self) -> tuple[list[int], list[int]]:
        """Numbers of all published segments and of all snapshots, ascending."""
        segments, snapshots = self.listing()
        return list(segments), snapshots

    def listing(self, *, certain: bool = False) -> tuple[dict[int, int], list[int]]:
        """Numbers of all published segments with the sizes of their files, and those of all snapshots, ascending.

        A listing takes time, and a snapshot may take the place of segments meanwhile: then neither may be in it. So two have
        to be the same.

        Args:
            certain: Look several times before saying that there is nothing, as a task would begin from nothing then.
        """
        found, looks = self._list(), 0
        while (again := self._list()) != found or (certain and not any(found) and looks < _LOOKS):
            if again == found:
                looks += 1
                time.sleep(_LOOK_SECONDS)
            found = again
        return found

    def _list(self) -> tuple[dict[int, int], list[int]]:
        segments, snapshots = {}, []
        for info in self._fs.get_file_info(pafs.FileSelector(self._root, allow_not_found=True)):
            stem, _, ending = info.base_name.partition(".")
            if stem.isdigit() and ending == "arrow":
                segments[int(stem)] = info.size or 0
            elif stem.isdigit() and ending == "lmdb":
                snapshots.append(int(stem))
        return dict(sorted(segments.items())), sorted(snapshots)

    def read(self, sequence: int) -> tuple[Segment, Iterator[tuple[str, list[bytes], list[bytes | None]]]]:
        """A segment and its changes, store by store."""
        try:
            with self._fs.open_input_file(self._path(sequence)) as source:
                table = ipc.open_file(source).read_all()
        except FileNotFoundError:
            raise
        except (OSError, pa.ArrowInvalid) as error:
            raise ProcessorStateError(
                f"the state segment {self._path(sequence)} cannot be read: {error}",
                hint="Restore the checkpoint folder from a backup, or start again with a new application id.",
            ) from error
        info = json.loads(table.schema.metadata[b"penstock"])
        segment = Segment(info["sequence"], info["previous"], info["metadata"], table.num_rows, table.nbytes)
        return segment, _by_store(table)

    def fetch_snapshot(self, sequence: int, target: str) -> int:
        """Copy a snapshot to a local file; its size."""
        local = pafs.LocalFileSystem()
        pafs.copy_files(self.snapshot_path(sequence), target, source_filesystem=self._fs, destination_filesystem=local)
        return int(local.get_file_info(target).size)

    def store_snapshot(self, sequence: int, source: str) -> None:
        """Copy a local file to the folder as a snapshot, visible only when it is whole."""
        # Under a name of its own: the process that had the task before may store the same one right now.
        part = f"{self._root}/{sequence:0{_DIGITS}d}-{uuid.uuid4().hex}.part"
        local = pafs.LocalFileSystem()
        pafs.copy_files(source, part, source_filesystem=local, destination_filesystem=self._fs)
        self._fs.move(part, self.snapshot_path(sequence))

    def remove_before(self, snapshot: int) -> None:
        """Remove what a snapshot made needless: older snapshots, the segments in it, and leftovers of dead attempts."""
        for info in self._fs.get_file_info(pafs.FileSelector(self._root, allow_not_found=True)):
            stem, _, ending = info.base_name.partition(".")
            number = int(stem.partition("-")[0]) if stem[:_DIGITS].isdigit() else None
            if number is None:
                continue
            if number < snapshot or (number == snapshot and ending == "arrow"):
                with suppress(FileNotFoundError):  # somebody else has removed it, who had the task for a while
                    self._fs.delete_file(info.path)

    def clear(self) -> None:
        """Remove everything."""
        self._fs.delete_dir_contents(self._root, missing_dir_ok=True)


def filesystem(location: str) -> tuple[Any, str]:
    """The file system and path of a location.

    Raises:
        ConfigError: There is no such file system, or not here.
    """
    if "://" in location:
        try:
            fs, path = pafs.FileSystem.from_uri(location)
        except (pa.ArrowInvalid, pa.ArrowNotImplementedError) as error:
            raise ConfigError(
                f"the folder {location} cannot be opened: {error}", hint="Give a path, or a URI that pyarrow opens."
            ) from error
        return fs, path
    location = location.removeprefix("file:")
    return pafs.LocalFileSystem(), location


def _table(stores: Mapping[str, Changes]) -> pa.Table:
    names = [name for name, changes in stores.items() if changes]
    if not names:
        return _SCHEMA.empty_table()
    indexes: list[Any] = []
    keys: list[Any] = []
    values: list[Any] = []
    for i, name in enumerate(names):
        changes = stores[name]
        indexes.append(pa.repeat(pa.scalar(i, pa.int32()), len(changes)))
        keys.append(pa.array(list(changes), pa.binary()))
        values.append(pa.array(list(changes.values()), pa.binary()))
    store = pa.DictionaryArray.from_arrays(pa.concat_arrays(indexes), pa.array(names, pa.utf8()))
    return pa.table([store, pa.concat_arrays(keys), pa.concat_arrays(values)], schema=_SCHEMA)


def _by_store(table: pa.Table) -> Iterator[tuple[str, list[bytes], list[bytes | None]]]:
    """Rows stand in the order of their stores: one slice for each run."""
    for batch in table.to_batches():
        codes: Any = batch.column(0)
        runs: Any = pc.call_function("run_end_encode", [codes.indices])
        start = 0
        for end, code in zip(runs.run_ends.to_pylist(), runs.values.to_pylist(), strict=True):
            part: Any = batch.slice(start, end - start)
            yield codes.dictionary[code].as_py(), part.column(1).to_pylist(), part.column(2).to_pylist()
            start = end
