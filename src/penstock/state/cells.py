"""Rows of a record cache, as small lists that operators may change in place.

A cache finds a row by one look-up and keeps its value decoded, so an aggregation does no work but its own for a key
it has seen since the last flush:

    cells, load, tick = store.use_cells(), store.load, store.tick
    ...
    cell = cells.get(key)            # cells.get(store.raw_key(key)) unless store.key_identity
    if cell is None:
        cell = load(key)             # reads the store; also marks the row as to be flushed
    cell[VALUE] = cell[VALUE] + 1    # None: there is no row
    cell[TIMESTAMP] = timestamp
    cell[SEQUENCE] = tick()          # the order of the last changes is the order of the flush
    cell[HEADERS] = context.headers

A cell whose SEQUENCE is 0 was loaded and not changed: it is not flushed.
"""

from __future__ import annotations

from operator import itemgetter
from typing import Any

VALUE = 0  # decoded, as a list of members, or serialised where nobody asked for `use_cells` and values are mutable; None: no row
TIMESTAMP = 1  # -1: no row
SEQUENCE = 2
OLD = 3  # the row as it is in the bytes store, before the first change; None: none
HEADERS = 4  # of the last change; a new cell has none, so code that knows there are none need not set them
KEY = 5
RAW_KEY = 6
START = 7  # of the window; cells of window and session stores only
END = 8  # of the session; cells of session stores only

Cell = list[Any]
by_sequence = itemgetter(SEQUENCE)

# Unchanged rows kept decoded between flushes, for each store. With 50k small rows about 20 MB.
MAX_CLEAN = 50_000
