"""The record cache of session stores."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterator
from operator import itemgetter
from typing import Any, TypeVar

from penstock.durations import MAX_LONG
from penstock.records import Window, Windowed
from penstock.state.caching import Caching
from penstock.state.cells import END, HEADERS, KEY, MAX_CLEAN, RAW_KEY, SEQUENCE, START, VALUE, Cell
from penstock.state.ordered_bytes import escape, pack_long, unpack_long
from penstock.state.session import Sessions, SessionStore

K = TypeVar("K")
V = TypeVar("V")
_end_start = itemgetter(END, START)


class CachingSessionStore(Caching[K, V], SessionStore[K, V]):
    """A session store that collects updates until `flush`.

    The sessions of a key are few and looked for by every record of the key: they are kept together, ordered by end
    and start, once the key was asked for.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        SessionStore.__init__(self, *args, **options)
        self._sessions: dict[Any, list[Cell]] = {}  # visible sessions of the keys that were asked for
        self._changed: dict[tuple[Any, int, int], Cell] = {}
        self._late: dict[tuple[Any, int, int], Cell] = {}  # updates of sessions that were already gone
        self._unscanned: dict[int, Cell] = {}
        # True while every session is in memory, so that an unknown key needs no look at the bytes store
        self._complete = self._segments.is_empty
        self._init_cache()

    # One key

    def _of(self, key: K) -> list[Cell]:
        """The sessions of a key that are visible now."""
        cell_key = key if self.key_identity else self.raw_key(key)
        cells = self._sessions.get(cell_key)
        if cells is None:
            cells = self._sessions[cell_key] = [] if self._complete else self._load(key)
        visible = self._segments.first_visible
        if cells and cells[0][END] < visible:
            del cells[: bisect_left(cells, visible, key=itemgetter(END))]
        return cells

    def _load(self, key: K) -> list[Cell]:
        raw_key = self.raw_key(key)
        cells = []
        for row_key, row in self._segments.of_key(escape(raw_key), 0, MAX_LONG):
            end, start = unpack_long(row_key, len(row_key) - 16)[0], unpack_long(row_key, len(row_key) - 8)[0]
            raw_value, _, headers = self._unpack(row)
            value = self._read_slot(raw_value)
            cells.append([value, end, 0, row, headers, key, raw_key, start, end])
        return cells

    def find(self, key: K, earliest_end: int, latest_start: int, *, reverse: bool = False) -> list[tuple[int, int, V]]:
        slot_value = self._from_slot
        found = [
            (cell[START], cell[END], self._give(slot_value(cell[VALUE]), cell[END], cell[HEADERS]))
            for cell in self._of(key)
            if cell[END] >= earliest_end and cell[START] <= latest_start
        ]
        if reverse:
            found.reverse()
        return found

    def write(self, key: K, start: int, end: int, aggregate: Any) -> None:
        if not self._accept(end):
            self._write_late(key, start, end, aggregate)
            return
        cells = self._of(key)
        place = bisect_left(cells, (end, start), key=_end_start)
        known = place < len(cells) and cells[place][START] == start and cells[place][END] == end
        cell_key: Any = key if self.key_identity else self.raw_key(key)
        if known:
            cell = cells[place]
        else:
            # A session that is not listed has no row, unless it was removed since the last flush.
            removed = self._changed.get((cell_key, start, end))
            cell = removed or [None, end, 0, None, None, key, self.raw_key(key), start, end]
        self._change(cell, aggregate, end)
        self._changed[cell_key, start, end] = cell
        self._unscanned[id(cell)] = cell
        if aggregate is None and known:
            del cells[place]
        elif aggregate is not None and not known:
            cells.insert(place, cell)

    def _write_late(self, key: K, start: int, end: int, aggregate: Any) -> None:
        """A session that is too old is forwarded and not kept."""
        self._segments.refuse(end)
        cell: Cell = [None, end, 0, None, None, key, None, start, end]
        self._change(cell, aggregate, end)
        self._late[key if self.key_identity else self.raw_key(key), start, end] = cell

    def fetch_session(self, key: K, start: Any, end: Any) -> V | None:
        self._write_changes()
        return SessionStore.fetch_session(self, key, start, end)

    def fetch_forwarded(self, key: K, start: int, end: int) -> V | None:
        """The session that the operators below know of: as the last flush left it."""
        cell = self._changed.get((key if self.key_identity else self.raw_key(key), start, end))
        return self.fetch_session(key, start, end) if cell is None else self._old_of(cell)

    # Scans over several keys read the bytes store, so what changed goes there first; the flush forwards it.

    def _of_keys(self, from_key: K | None, to_key: K | None, *, reverse: bool = False) -> Sessions[K, V]:
        self._write_changes()
        return SessionStore._of_keys(self, from_key, to_key, reverse=reverse)  # noqa: SLF001

    def find_closed(self, earliest_end: int, latest_end: int) -> Iterator[tuple[Windowed[K], V]]:
        self._write_changes()
        return SessionStore.find_closed(self, earliest_end, latest_end)

    def _write_changes(self) -> None:
        self._write_cells(list(self._unscanned.values()))
        self._unscanned.clear()

    # Flush

    def flush(self) -> None:
        Caching.flush(self)
        SessionStore.flush(self)

    @property
    def held(self) -> int:
        return len(self._changed) + len(self._late)

    def _take_cells(self) -> list[Cell]:
        cells = [*self._changed.values(), *self._late.values()]
        self._changed.clear()
        self._late.clear()
        self._unscanned.clear()
        return cells

    def _keep_cells(self, cells: list[Cell]) -> None:
        for cell in cells:
            cell[SEQUENCE] = 0
        if len(self._sessions) > MAX_CLEAN:
            self._sessions.clear()
            self._complete = False

    def _lasting(self, cells: list[Cell]) -> list[Cell]:
        visible = self._segments.first_visible
        return [cell for cell in cells if cell[RAW_KEY] is not None and cell[END] >= visible]

    def _write_rows(self, cells: list[Cell], raw_values: list[bytes | None]) -> list[bytes | None]:
        rows = []
        for cell, raw_value in zip(cells, raw_values, strict=True):
            row = None if raw_value is None else self._pack(raw_value, cell[END], cell[HEADERS])
            rows.append(row)
            self._write_row(cell[RAW_KEY], cell[START], cell[END], row)
        return rows

    def _log_key(self, cell: Cell) -> bytes:
        raw_key: bytes = cell[RAW_KEY]
        return raw_key + pack_long(cell[END]) + pack_long(cell[START])

    def _forward_keys(self, cells: list[Cell]) -> list[Windowed[Any]]:
        return [Windowed(cell[KEY], Window(cell[START], cell[END])) for cell in cells]
