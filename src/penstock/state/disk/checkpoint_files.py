"""Small JSON files in a checkpoint: written whole or not at all."""

from __future__ import annotations

import json
from typing import Any

import pyarrow.fs as pafs

from penstock.state.disk.segments import filesystem

START_FILE = "start.json"  # where partitions start, if somebody decided that: {topic: {partition: offset}}


def read_json(checkpoint: str, name: str) -> Any:
    """What a file says; None if it is not there."""
    fs, root = filesystem(checkpoint)
    if fs.get_file_info(f"{root}/{name}").type == pafs.FileType.NotFound:
        return None
    with fs.open_input_stream(f"{root}/{name}") as file:
        return json.loads(file.readall())


def write_json(checkpoint: str, name: str, content: Any) -> None:
    """Write a file under another name first, so that nobody ever sees a part of it."""
    fs, root = filesystem(checkpoint)
    fs.create_dir(root, recursive=True)
    with fs.open_output_stream(f"{root}/{name}.part") as file:
        file.write(json.dumps(content, indent=2, sort_keys=True).encode())
    fs.move(f"{root}/{name}.part", f"{root}/{name}")
