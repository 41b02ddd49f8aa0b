"""LMDB environments of this process: each folder is opened once and kept.

LMDB is a cache here. It is never synced: a killed process loses nothing (the pages belong to the operating system), and
after a crash of the machine the boot id differs and the cache is thrown away.
"""

from __future__ import annotations

import os
import shutil
from pathlib import Path
from typing import Any

import lmdb

MAX_STORES = 1000
MAP_BYTES = 1 << 36  # address space, not disk: the file grows with its content
META = b"penstock"
_BOOT_ID = Path("/proc/sys/kernel/random/boot_id")
_open: dict[str, lmdb.Environment] = {}
_owner = os.getpid()


def boot_id() -> bytes:
    """What tells one start of the machine from the next; empty where that cannot be known."""
    try:
        return _BOOT_ID.read_bytes().strip()
    except OSError:
        return b""


def environment(path: Path) -> lmdb.Environment:
    """The environment of a folder; a damaged or outlived one is made anew."""
    _forget_parents()
    key = str(path)
    env = _open.get(key)
    if env is None or not (path / "data.mdb").exists():
        if env is not None:
            env.close()
        env = _open[key] = _fresh_or_kept(path)
    return env


def adopt(path: Path) -> lmdb.Environment:
    """The environment of a folder that was filled a moment ago: what is in it counts, whatever start of whatever machine it is of."""
    _forget_parents()
    env = _open[str(path)] = _open_folder(path)
    write(env, lambda txn: txn.put(b"boot", boot_id(), db=env.open_db(META, txn=txn)))
    return env


def _forget_parents() -> None:
    """A process that was forked cannot use what its parent has open."""
    global _owner
    if _owner != os.getpid():
        _open.clear()
        _owner = os.getpid()


def _fresh_or_kept(path: Path) -> lmdb.Environment:
    try:
        env = _open_folder(path)
        with env.begin(db=env.open_db(META)) as txn:
            kept = txn.get(b"boot")
        if kept in (None, boot_id()):
            return env
        env.close()
    except lmdb.Error:
        pass
    shutil.rmtree(path, ignore_errors=True)
    return _open_folder(path)


def _open_folder(path: Path) -> lmdb.Environment:
    path.mkdir(parents=True, exist_ok=True)
    return lmdb.open(
        str(path), map_size=MAP_BYTES, max_dbs=MAX_STORES, sync=False, metasync=False, readahead=False, max_readers=512
    )


def discard(path: Path) -> None:
    """Close and delete the environment of a folder."""
    env = _open.pop(str(path), None)
    if env is not None:
        env.close()
    shutil.rmtree(path, ignore_errors=True)


def write(env: lmdb.Environment, work: Any) -> None:
    """Run `work(txn)` in a write transaction, with more address space if it runs out of it."""
    while True:
        try:
            with env.begin(write=True) as txn:
                work(txn)
            return
        except lmdb.MapFullError:
            env.set_mapsize(env.info()["map_size"] * 2)
