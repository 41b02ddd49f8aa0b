"""Making a task's state anew: rows into a scratch LMDB, part by part, then a snapshot in the checkpoint."""

from __future__ import annotations

import shutil
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import lmdb

from penstock.state.disk.environments import META, discard, environment, write
from penstock.state.disk.layered import LayeredBytesStore
from penstock.state.disk.segments import SegmentFolder
from penstock.state.disk.task_state import apply_changes


class Rebuild:
    """A task's state in the making. Nothing of it counts before `finish`.

    Args:
        scratch: A folder that nobody else uses.
        checkpoint: Folder of the task's segments (path or URI).
    """

    def __init__(self, scratch: Path, checkpoint: str) -> None:
        self._scratch = scratch
        discard(scratch)
        self._env = environment(scratch)
        self._folder = SegmentFolder(checkpoint)
        self._stores: dict[str, LayeredBytesStore] = {}
        self._txn: Any = self._env.begin()

    def store(self, name: str) -> LayeredBytesStore:
        """The bytes of a store."""
        if name not in self._stores:
            self._stores[name] = LayeredBytesStore(name)
            self._attach(self._stores[name])
        return self._stores[name]

    def absorb(self) -> None:
        """Move what changed so far from memory to disk."""
        changed = {name: store.changes for name, store in self._stores.items() if store.changes}
        self._txn.abort()

        def work(txn: Any) -> None:
            for name, changes in changed.items():
                apply_changes(txn, self._env.open_db(name.encode(), txn=txn), changes)

        write(self._env, work)
        self._txn = self._env.begin()
        for store in self._stores.values():
            store.begin()
            self._attach(store)

    def _attach(self, store: LayeredBytesStore) -> None:
        try:
            db = self._env.open_db(store.name.encode(), txn=self._txn, create=False)
        except lmdb.NotFoundError:
            db = None
        store.attach(self._txn, db)

    def finish(self, sequence: int, metadata: Mapping[str, int]) -> None:
        """Keep it as the snapshot of the state after a pass."""
        self.absorb()

        def stamp(txn: Any) -> None:
            meta = self._env.open_db(META, txn=txn)
            txn.put(b"version", str(sequence).encode(), db=meta)
            for name, value in metadata.items():
                txn.put(b"saved:" + name.encode()[:400], str(value).encode(), db=meta)

        write(self._env, stamp)
        self._txn.abort()
        copy = self._scratch.with_name(f"{self._scratch.name}.copy")
        shutil.rmtree(copy, ignore_errors=True)
        copy.mkdir(parents=True)
        try:
            self._env.copy(str(copy), compact=True)
            self._folder.store_snapshot(sequence, str(copy / "data.mdb"))
        finally:
            shutil.rmtree(copy, ignore_errors=True)
            self.close()

    def close(self) -> None:
        """Remove what is left of it."""
        for store in self._stores.values():
            store.attach(None, None)
        discard(self._scratch)
