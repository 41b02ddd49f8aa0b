"""When a process that stays from batch to batch looks for reference cycles.

A slot keeps hundreds of thousands of decoded rows, and makes as many objects with every batch. Python's collector, with
its defaults, walks through all of them again and again: a quarter of the time of a count by key. Objects without cycles,
which records are, go away without it. So what a batch leaves behind is set aside, and looked through only now and then,
for the cycles that a user's functions may have made.
"""

from __future__ import annotations

import gc
import time

# New containers between two looks at them. Most of a batch's are gone when it ends, so that is the time to look: with
# 100,000 an application of hopping windows spent 15% of its time looking at what it was about to drop anyway.
_YOUNG = 1_000_000
_NEVER = 1_000_000
_SECONDS = 300.0


class Garbage:
    """The collector of this process, at a pace that suits batches."""

    def __init__(self) -> None:
        gc.freeze()  # modules, and whatever a forked process was given
        gc.set_threshold(_YOUNG, 20, _NEVER)
        self._looked = time.monotonic()

    def set_aside(self) -> None:
        """A batch is done: what is left of it stays."""
        if time.monotonic() - self._looked > _SECONDS:
            gc.unfreeze()
            gc.collect()
            self._looked = time.monotonic()
        else:
            gc.collect(0)
        gc.freeze()
