"""Operators that take many records in one loop.

What keeps its results until a flush, and asks nothing of the record's context while it works, can have its statements in
the loop over a chunk's columns, instead of a function that is called for each record. A count and sum of 50,000 keys: 2.6 us a
record instead of 3.6 us.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any, TypeAlias

Loop: TypeAlias = Callable[[Iterable[Any], Iterable[Any], Iterable[int]], None]
"""Takes keys, values and timestamps."""

# A serde of a user's may give fewer values than it got: that must not end the loop as if there were no more records.
FOR_EACH = "for key, value, timestamp in zip(keys, values, timestamps, strict=True):"
