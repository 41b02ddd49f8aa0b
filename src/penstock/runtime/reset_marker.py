"""A reset that has begun: a file in the checkpoint from its first step to its last.

A reset takes many steps, and may be killed between any two. What is left then looks like a checkpoint and is none: batches
would count from 0 again while Kafka has commits of them, or state would go with other positions. So nothing starts on it.
The file also keeps what the removed ones said, for the reset that goes on with it.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass
from typing import Any

import pyarrow.fs as pafs

from penstock.errors import StreamsError
from penstock.runtime.checkpoint import FILE as APPLICATION_FILE
from penstock.runtime.checkpoint import Remembered
from penstock.spark.offsets import PartitionId, unpack
from penstock.state.disk.checkpoint_files import read_json, write_json
from penstock.state.disk.segments import filesystem

FOLDERS = ("query", "state")  # what a start adds to the checkpoint after it wrote what it remembers
_FILE = "reset.json"


@dataclass(frozen=True, slots=True)
class BegunReset:
    """What was known when a reset began.

    Attributes:
        remembered: What the checkpoint knew of its application; None if nothing.
        positions: Where the application was.
    """

    remembered: Remembered | None
    positions: dict[PartitionId, int]


def begin(checkpoint: str, known: BegunReset) -> None:
    """Note that a reset begins. One that goes on with another keeps its file: less is known by now."""
    if begun(checkpoint) is not None:
        return
    topics: dict[str, dict[str, int]] = {}
    for (topic, partition), offset in known.positions.items():
        topics.setdefault(topic, {})[str(partition)] = offset
    remembered = None if known.remembered is None else asdict(known.remembered)
    write_json(checkpoint, _FILE, {"remembered": remembered, "topics": topics})


def begun(checkpoint: str) -> BegunReset | None:
    """The reset that did not get to its end; None if there is none."""
    kept: Any = read_json(checkpoint, _FILE)
    if kept is None:
        return None
    remembered = kept["remembered"]
    return BegunReset(None if remembered is None else Remembered(**remembered), unpack({"topics": kept["topics"]}))


def finish(checkpoint: str) -> None:
    """Note that the reset is done."""
    fs, root = filesystem(checkpoint)
    fs.delete_file(f"{root}/{_FILE}")


def refuse_unfinished_reset(checkpoint: str, application_id: str) -> None:
    """Refuse a checkpoint of which only a part is there. To be called before a start writes anything to it.

    Raises:
        StreamsError: A reset did not get to its end, or what the checkpoint remembers of its application is gone.
    """
    fs, root = filesystem(checkpoint)
    names = (_FILE, APPLICATION_FILE, *FOLDERS)
    found = fs.get_file_info([f"{root}/{name}" for name in names])
    there = {name for name, info in zip(names, found, strict=True) if info.type != pafs.FileType.NotFound}
    again = f"`penstock reset --application-id {application_id} --execute`"
    if _FILE in there:
        raise StreamsError(
            f"a reset of {application_id} did not get to its end: the checkpoint {checkpoint} is removed in part",
            hint=f"Run {again} again, with the same options.",
        )
    left = [name for name in FOLDERS if name in there]
    if left and APPLICATION_FILE not in there:
        # A first start writes that file before anything else, so this is none.
        raise StreamsError(
            f"the checkpoint {checkpoint} of {application_id} has {' and '.join(left)}, but no {APPLICATION_FILE}: "
            "a part of it was removed",
            hint=f"If that was a reset, run {again} again, with the same options. If not, restore the folder from a backup.",
        )
