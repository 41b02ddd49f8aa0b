"""What Spark's own log of the query says, read without Spark: which batches were planned and which were done."""

from __future__ import annotations

import json
from typing import Any

import pyarrow.fs as pafs

from penstock.spark.offsets import Offsets
from penstock.state.disk.segments import filesystem


def last_done(checkpoint: str) -> Offsets | None:
    """The end of the last batch that is done; None if there is none."""
    fs, root = filesystem(checkpoint)
    done = max(_numbers(fs, f"{root}/query/commits"), default=None)
    return None if done is None else _read(fs, f"{root}/query/offsets/{done}")


def last_planned(checkpoint: str) -> Offsets | None:
    """The end of the last batch that was planned: if it is not done, it is done again."""
    fs, root = filesystem(checkpoint)
    planned = max(_numbers(fs, f"{root}/query/offsets"), default=None)
    return None if planned is None else _read(fs, f"{root}/query/offsets/{planned}")


def is_cut_off(checkpoint: str) -> bool:
    """Whether the last planned batch is not done, so that it is done again."""
    done, planned = last_done(checkpoint), last_planned(checkpoint)
    return planned is not None and (done is None or planned["batch"] > done["batch"])


def _read(fs: Any, path: str) -> Offsets:
    """A file of the log: a version, a line about the batch, then a line for each source, of which there is one."""
    with fs.open_input_stream(path) as file:
        offsets: Offsets = json.loads(file.readall().decode().splitlines()[-1])
    return offsets


def _numbers(fs: Any, folder: str) -> list[int]:
    files = fs.get_file_info(pafs.FileSelector(folder, allow_not_found=True))
    return [int(file.base_name) for file in files if file.base_name.isdigit()]
