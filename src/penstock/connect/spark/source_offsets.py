"""Where a source's offsets are kept: in a file of the worker, or with somebody else who is asked at each start."""

from __future__ import annotations

import json
import uuid
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from penstock.connect.spark.reports import Plan
from penstock.connect.spark.source_planner import Entry, partition_key

Publish = Callable[[Sequence[Entry]], None]
FILE = "source.json"


class OffsetsFile:
    """Offsets, and the batch that was planned last, in a file that is replaced as a whole.

    A batch is written down before it runs. If the worker dies, the next start runs exactly that batch again, under the same
    number: tasks that committed it in a transaction recognise it.

    Args:
        folder: The connector's folder.
        publish: Told of new offsets after each batch.
    """

    def __init__(self, folder: Path, publish: Publish | None = None) -> None:
        self._path = folder / FILE
        self._publish = publish
        try:
            self._state: dict[str, Any] = json.loads(self._path.read_bytes())
        except FileNotFoundError:
            self._state = _new_state([])

    @property
    def incarnation(self) -> str:
        """Names the count of batches."""
        return str(self._state["incarnation"])

    @property
    def batch(self) -> int:
        """The last batch that is done; -1 if there is none."""
        return int(self._state["batch"])

    def entries(self) -> list[Entry]:
        """All offsets."""
        return list(self._state["offsets"])

    def planned(self) -> list[Plan] | None:
        """The batch that was begun and is not known to be done."""
        plans: list[Plan] | None = self._state["planned"]
        return plans

    def plan(self, batch: int, plans: Sequence[Plan]) -> None:
        """A batch begins."""
        self._write({**self._state, "planned": list(plans)})

    def done(self, batch: int, entries: Sequence[Entry]) -> None:
        """A batch is done."""
        known = {partition_key(e["partition"]): e for e in (*self._state["offsets"], *entries)}
        self._write({**self._state, "batch": batch, "offsets": list(known.values()), "planned": None})
        if self._publish is not None:
            self._publish(entries)

    def replace(self, entries: Sequence[Entry]) -> None:
        """Other offsets from now on: batches are counted anew, under another name."""
        self._write(_new_state(entries))

    def _write(self, state: dict[str, Any]) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        part = self._path.with_suffix(".part")
        part.write_text(json.dumps(state))
        part.replace(self._path)
        self._state = state


class SharedOffsets:
    """Offsets that belong to several workers: asked for at each start, told after each batch.

    Args:
        stored: Asked for the offsets to begin with, when they are wanted and not before: until an earlier start is
            fenced, its tasks may still commit others.
        publish: Told of new offsets after each batch; None if tasks write them with their records.
    """

    def __init__(self, stored: Callable[[], Sequence[Entry]], publish: Publish | None) -> None:
        self.incarnation = uuid.uuid4().hex
        self.batch = -1
        self._stored = stored
        self._publish = publish

    def entries(self) -> list[Entry]:
        """All offsets."""
        return list(self._stored())

    def planned(self) -> list[Plan] | None:
        """Nothing: a batch that was not told is read again from the offsets before it."""
        return None

    def plan(self, batch: int, plans: Sequence[Plan]) -> None:
        """A batch begins."""

    def done(self, batch: int, entries: Sequence[Entry]) -> None:
        """A batch is done."""
        self.batch = batch
        if self._publish is not None:
            self._publish(entries)


def _new_state(entries: Sequence[Entry]) -> dict[str, Any]:
    return {"incarnation": uuid.uuid4().hex, "batch": -1, "offsets": list(entries), "planned": None}
