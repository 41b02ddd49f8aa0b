"""Reference cycles that a batch leaves behind."""

from __future__ import annotations

import subprocess
import sys

PROGRAM = """
import weakref
from penstock.spark.tasks.garbage import Garbage


class Cycle:
    def __init__(self):
        self.me = self


garbage = Garbage()
seen = weakref.ref(Cycle())
assert seen() is not None
garbage.set_aside()
assert seen() is None
"""


def test_cycles_of_a_batch_are_gone_when_it_is_set_aside() -> None:
    subprocess.run([sys.executable, "-c", PROGRAM], check=True)
