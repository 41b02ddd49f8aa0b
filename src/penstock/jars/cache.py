"""The user's cache folder, shared by all processes of the machine."""

from __future__ import annotations

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path


def cache_folder() -> Path:
    """Where fetched files are kept: $PENSTOCK_CACHE, else $XDG_CACHE_HOME/penstock, else ~/.cache/penstock."""
    given = os.environ.get("PENSTOCK_CACHE")
    if given:
        return Path(given).expanduser().absolute()
    home = os.environ.get("XDG_CACHE_HOME")
    return (Path(home) if home else Path.home() / ".cache") / "penstock"


@contextmanager
def exclusive(lock: Path) -> Iterator[None]:
    """Hold a lock between processes; the system frees it when its holder dies."""
    lock.parent.mkdir(parents=True, exist_ok=True)
    with lock.open("w") as handle:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
