"""The record cache of window stores."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator
from heapq import heappop, heappush
from operator import itemgetter
from typing import Any, TypeVar

from penstock.durations import MAX_LONG, Instant
from penstock.records import NO_HEADERS, KeyValue, ValueAndTimestamp, Window, Windowed
from penstock.state.caching import Caching, circumstances
from penstock.state.cells import HEADERS, KEY, MAX_CLEAN, RAW_KEY, SEQUENCE, START, TIMESTAMP, VALUE, Cell
from penstock.state.iterators import StoreIterator
from penstock.state.ordered_bytes import escape, pack_long, unpack_long
from penstock.state.window import FIRST_SEQUENCE, TimestampedWindowStore, WindowStore

K = TypeVar("K")
V = TypeVar("V")
Cells = dict[Any, Cell]
_MAX_NAMES = 1_000


class CachingWindowStore(Caching[K, V], WindowStore[K, V]):
    """A window store that collects updates until `flush`.

    Cells stand in one dict for each window, because most records hit the window of the record before them: an
    operator keeps that dict at hand and finds a key by one look-up (measured: a third faster than one dict with
    (key, start) tuples).

        window = windows.get(start)
        if window is None:
            window = open_window(start)
        cell = window.get(key)
        if cell is None:
            cell = load(key, start)

    A dict stays valid until another window is asked for: `flush` and expiry empty it, they do not replace it.

    Attributes:
        windows: Changed rows by window start, then key; see `penstock.state.cells`.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        WindowStore.__init__(self, *args, **options)
        self.windows: dict[int, Cells] = {}
        self._clean: dict[int, Cells] = {}
        self._kept = 0
        self._in_windows = 0  # cells in `windows`: with sliding windows it has too many dicts to ask each
        self._starts: list[int] = []  # a heap of the windows that have cells
        self._late: dict[tuple[int, Any], Cell] = {}  # updates of windows that were already gone
        self._gone: list[Cell] = []  # updates of windows that went before they were flushed
        self._names: dict[int, Window] = {}
        self._unscanned: dict[tuple[int, Any], Cell] | None = None  # changes since the last scan; None: nobody scans
        self._lists: dict[Any, list[Cell]] | None = (
            None  # rows of a key by start, for keys asked for; None: nobody asks
        )
        self._complete = False  # True while all keys that have rows are in _lists
        self._inline = False
        self._last_key: tuple[Any, bytes] = (_NOTHING, b"")
        observed = self._segments.observed_time
        self._newest_row = observed if observed >= 0 or self._segments.is_empty else MAX_LONG  # no row starts later
        self._init_cache()

    def use_cells(self) -> dict[int, Cells]:
        """`windows`, from now on with decoded values that the caller alone may change in place."""
        self.flush()
        self._live = self._inline = True
        self._set_slots()
        self._clean.clear()
        self._lists = None
        return self.windows

    # One window

    def open_window(self, start: int) -> Cells:
        """The cells of a window; an empty dict that stays empty for a window that is gone."""
        if start < self._segments.first_visible:
            return {}
        window = self.windows.get(start)
        if window is None:
            window = self.windows[start] = {}
            heappush(self._starts, start)
        return window

    def load(self, key: K, start: int) -> Cell:
        """The row of a window as a cell among the changed ones; moves store time."""
        last_key, raw_key = self._last_key
        if key is not last_key:
            raw_key = self.raw_key(key)
            if self.key_identity:  # nobody can change it: the next windows of the same record have it, too
                self._last_key = (key, raw_key)
        cell_key = key if self.key_identity else raw_key
        segments = self._segments
        if start > segments.observed_time:
            self._advance(start)
        window = self.windows.get(start)
        if window is None:
            if start < segments.first_visible:
                return self._load_late(key, cell_key, start)  # windows that are gone are not among `windows`
            window = self.open_window(start)
        cell = window.get(cell_key)
        if cell is not None:
            return cell
        # Most windows are new, and later than any that has a row: a look at the bytes store would cost 1 us.
        if start > self._newest_row:
            cell = [None, -1, 0, None, NO_HEADERS, key, raw_key, start]
        else:
            cell = self._load_row(key, cell_key, raw_key, start)
        window[cell_key] = cell
        self._in_windows += 1
        return cell

    def _load_row(self, key: K, cell_key: Any, raw_key: bytes, start: int) -> Cell:
        """A row that is kept decoded, or is in the bytes store, or does not exist."""
        clean = self._clean.get(start)
        cell = None if clean is None else clean.pop(cell_key, None)
        if cell is not None:
            self._kept -= 1
            return cell
        row = self._row(raw_key, start)
        if row is None:
            return [None, -1, 0, None, NO_HEADERS, key, raw_key, start]
        return self._cell(key, raw_key, start, row)

    def _cell(self, key: K, raw_key: bytes, start: int, row: bytes) -> Cell:
        raw_value, timestamp, headers = self._unpack(row)
        return [self._read_slot(raw_value), timestamp, 0, row, headers, key, raw_key, start]

    def _advance(self, start: int) -> None:
        """Move store time; the cells of windows that are gone now wait for the flush only."""
        self._segments.advance(start)
        visible, starts = self._segments.first_visible, self._starts
        while starts and starts[0] < visible:
            old = heappop(starts)
            cells = self.windows.pop(old, _NONE)
            if cells:
                self._gone.extend(cells.values())
                self._in_windows -= len(cells)
                cells.clear()  # whoever holds this dict finds nothing any more
            self._kept -= len(self._clean.pop(old, _NONE))

    def _load_late(self, key: K, cell_key: Any, start: int) -> Cell:
        """A window that is gone looks as if it had no row; the update is forwarded and not kept."""
        self._segments.refuse(start)
        cell = self._late[start, cell_key] = [None, -1, 0, None, NO_HEADERS, key, None, start]
        return cell

    def fetch_window(self, key: K, start: int) -> V | None:
        if start < self._segments.first_visible:
            return None
        cell_key: Any = key if self.key_identity else self.raw_key(key)
        cell = self.windows.get(start, _NONE).get(cell_key) or self._clean.get(start, _NONE).get(cell_key)
        if cell is None:
            row = self._row(self.raw_key(key), start)
            return None if row is None else self._read(row)
        value = cell[VALUE]
        return None if value is None else self._give(self._from_slot(value), cell[TIMESTAMP], cell[HEADERS])

    def fetch_forwarded(self, key: K, start: int) -> V | None:
        """The row that the operators below know of: as the last flush left it."""
        cell_key: Any = key if self.key_identity else self.raw_key(key)
        cell = self.windows.get(start, _NONE).get(cell_key)
        return self.fetch_window(key, start) if cell is None or not cell[SEQUENCE] else self._old_of(cell)

    def write(self, key: K, start: int, value: Any, timestamp: int) -> None:
        cell_key: Any = key if self.key_identity else self.raw_key(key)
        cell = self.windows.get(start, _NONE).get(cell_key) or self.load(key, start)
        if self._lists is not None and cell[RAW_KEY] is not None:
            self._list(cell_key, cell, listed=cell[VALUE] is not None, wanted=value is not None)
        self._change(cell, value, timestamp)
        if self._unscanned is not None:
            self._unscanned[start, cell_key] = cell

    # The windows of one key: sliding windows look for them with every record, so they are kept together.

    def find(self, key: K, from_: int, to: int, *, reverse: bool = False) -> list[tuple[int, V]]:
        if self._inline:  # cells may change without our knowing
            self._write_changes()
            return WindowStore.find(self, key, from_, to, reverse=reverse)
        cells, slot_value, give = self._list_of(key), self._from_slot, self._give
        first = bisect_left(cells, from_, key=_start)
        last = bisect_right(cells, to, key=_start)
        found = [
            (cell[START], give(slot_value(cell[VALUE]), cell[TIMESTAMP], cell[HEADERS])) for cell in cells[first:last]
        ]
        if reverse:
            found.reverse()
        return found

    def _list_of(self, key: K) -> list[Cell]:
        """The rows of a key that are visible now, by start."""
        if self._lists is None:
            self._lists = {}
            self._complete = self._segments.is_empty and not self.windows and not self._clean
        cell_key = key if self.key_identity else self.raw_key(key)
        cells = self._lists.get(cell_key)
        if cells is None:
            cells = self._lists[cell_key] = [] if self._complete else self._collect(key, cell_key)
        visible = self._segments.first_visible
        if cells and cells[0][START] < visible:
            del cells[: bisect_left(cells, visible, key=_start)]
        return cells

    def _collect(self, key: K, cell_key: Any) -> list[Cell]:
        self._write_changes()
        raw_key = self.raw_key(key)
        cells = []
        for row_key, row in self._segments.of_key(escape(raw_key), 0, MAX_LONG):
            start = unpack_long(row_key, len(row_key) - 8)[0]
            cell = self.windows.get(start, _NONE).get(cell_key) or self._clean.get(start, _NONE).get(cell_key)
            if cell is None:
                cell = self._cell(key, raw_key, start, row)
                self.open_window(start)  # so that its expiry is noticed
                self._clean.setdefault(start, {})[cell_key] = cell
                self._kept += 1
            cells.append(cell)
        return cells

    def _list(self, cell_key: Any, cell: Cell, *, listed: bool, wanted: bool) -> None:
        """Add or remove a row that appears or goes."""
        assert self._lists is not None
        cells = self._lists.get(cell_key)
        if cells is None and self._complete:
            cells = self._lists[cell_key] = []
        if cells is None or listed == wanted:
            return
        place = bisect_left(cells, cell[START], key=_start)
        if wanted:
            cells.insert(place, cell)
        else:
            del cells[place]

    # Other scans read the bytes store: what changed since the last scan goes there first; the flush forwards it.

    def _scan(
        self, from_key: K | None, to_key: K | None, from_: Instant, to: Instant, *, reverse: bool = False
    ) -> StoreIterator[KeyValue[Windowed[K], V]]:
        self._write_changes()
        return WindowStore._scan(self, from_key, to_key, from_, to, reverse=reverse)  # noqa: SLF001

    def find_closed(self, from_: int, to: int) -> Iterator[tuple[Windowed[K], V]]:
        self._write_changes()
        self._write_cells([cell for cell in self._gone if cell[SEQUENCE]])
        return WindowStore.find_closed(self, from_, to)

    def _write_changes(self) -> None:
        if self._inline or self._unscanned is None:  # code that changes cells in place tells nobody which ones
            changed = [cell for window in self.windows.values() for cell in window.values()]
        else:
            changed = list(self._unscanned.values())
        self._write_cells([cell for cell in changed if cell[SEQUENCE]])
        self._unscanned = {}

    # Flush

    def flush(self) -> None:
        Caching.flush(self)
        WindowStore.flush(self)
        if len(self._names) > _MAX_NAMES:
            self._names.clear()

    @property
    def held(self) -> int:
        return len(self._gone) + len(self._late) + self._in_windows

    def _take_cells(self) -> list[Cell]:
        cells = self._gone
        self._gone = []
        for window in self.windows.values():
            cells += window.values()
            window.clear()
        self._in_windows = 0
        if len(self.windows) > 64:  # sliding windows: as many as there are timestamps
            self.windows.clear()
        cells += self._late.values()
        self._late.clear()
        self._unscanned = None if self._unscanned is None else {}
        return cells

    def _keep_cells(self, cells: list[Cell]) -> None:
        if self._kept + len(cells) > MAX_CLEAN or len(self._lists or ()) > MAX_CLEAN:
            self._clean.clear()
            self._kept = 0
            self._complete = False
            self._lists = None if self._lists is None else {}
        slot, visible, clean = KEY if self.key_identity else RAW_KEY, self._segments.first_visible, self._clean
        for cell in cells[-MAX_CLEAN:]:
            if cell[VALUE] is not None and cell[START] >= visible:
                cell[SEQUENCE] = 0
                self._kept += 1
                clean.setdefault(cell[START], {})[cell[slot]] = cell

    def _lasting(self, cells: list[Cell]) -> list[Cell]:
        # What nobody can see need not be written, unless it is still to be emitted as a closed window.
        visible, awaited = self._segments.first_visible, self._segments.is_awaited
        return [
            cell for cell in cells if cell[RAW_KEY] is not None and (cell[START] >= visible or awaited(cell[START]))
        ]

    def _write_rows(self, cells: list[Cell], raw_values: list[bytes | None]) -> list[bytes | None]:
        row_key, rows = self._row_key, self._pack_all(raw_values, *circumstances(cells))
        if self._on_close:
            for cell, row in zip(cells, rows, strict=True):
                self._write_row(cell[RAW_KEY], cell[START], row)
        else:
            self._rows.put_all([row_key(cell[RAW_KEY], cell[START]) for cell in cells], rows)
        self._newest_row = self._segments.observed_time
        return rows

    def _log_key(self, cell: Cell) -> bytes:
        raw_key: bytes = cell[RAW_KEY]
        return raw_key + pack_long(cell[START]) + FIRST_SEQUENCE

    def _forward_keys(self, cells: list[Cell]) -> list[Windowed[Any]]:
        names, keys = self._names, []
        for cell in cells:
            start = cell[START]
            window = names.get(start)
            if window is None:
                window = names[start] = self.window_at(start)
            windowed: Windowed[Any] = _new(Windowed)
            _set_key(windowed, cell[KEY])
            _set_window(windowed, window)
            keys.append(windowed)
        return keys


_NONE: Cells = {}
_NOTHING = object()
# A frozen dataclass without the detour through its own __init__: half the time.
_new = object.__new__
_slots: Any = Windowed
_set_key, _set_window = _slots.key.__set__, _slots.window.__set__
_start = itemgetter(START)


class CachingTimestampedWindowStore(CachingWindowStore[K, ValueAndTimestamp[V]], TimestampedWindowStore[K, V]):
    """The store of a cached windowed aggregation."""

    kind = TimestampedWindowStore.kind
