"""The record cache of key-value stores."""

from __future__ import annotations

from typing import Any, TypeVar

from penstock.records import NO_HEADERS, ValueAndTimestamp
from penstock.state.caching import Caching, circumstances
from penstock.state.cells import HEADERS, KEY, MAX_CLEAN, RAW_KEY, SEQUENCE, TIMESTAMP, VALUE, Cell
from penstock.state.iterators import StoreIterator
from penstock.state.key_value import KeyValueStore
from penstock.state.members import Members
from penstock.state.timestamped_key_value import TimestampedKeyValueStore

K = TypeVar("K")
V = TypeVar("V")


class CachingKeyValueStore(Caching[K, V], KeyValueStore[K, V]):
    """A key-value store that collects updates until `flush`.

    Attributes:
        cells: Changed rows by key (by serialised key unless `key_identity`); see `penstock.state.cells`.
    """

    def __init__(self, *args: Any, **options: Any) -> None:
        KeyValueStore.__init__(self, *args, **options)
        self.cells: dict[Any, Cell] = {}
        self._clean: dict[Any, Cell] = {}
        self._unscanned: dict[Any, Cell] | None = None  # changes since the last scan; None: nobody scans
        self._inline = False
        self._init_cache()

    def use_cells(self, members: tuple[str, ...] = ()) -> dict[Any, Cell]:
        """`cells`, from now on with decoded values that the caller alone may change in place.

        Args:
            members: Names of the members of dicts, if cells are to hold a list of these members instead of a dict.
        """
        self.flush()
        self._live = self._inline = True
        self._members = Members(members) if members else None
        self._set_slots()
        self._clean.clear()
        return self.cells

    # One key

    def load(self, key: K) -> Cell:
        """The row of a key as a cell among the changed ones."""
        raw_key = self.raw_key(key)
        cell_key = key if self.key_identity else raw_key
        cell = self._clean.pop(cell_key, None)
        if cell is None:
            row = self._rows.get(raw_key)
            if row is None:
                cell = [None, -1, 0, None, NO_HEADERS, key, raw_key]
            else:
                raw_value, timestamp, headers = self._unpack(row)
                cell = [self._read_slot(raw_value), timestamp, 0, row, headers, key, raw_key]
        self.cells[cell_key] = cell
        return cell

    def get(self, key: K) -> V | None:
        cell_key: Any = key if self.key_identity else self.raw_key(key)
        cell = self.cells.get(cell_key) or self._clean.get(cell_key)
        if cell is None:
            row = self._rows.get(self.raw_key(key))
            return None if row is None else self._read(row)
        value = cell[VALUE]
        return None if value is None else self._give(self._from_slot(value), cell[TIMESTAMP], cell[HEADERS])

    def get_forwarded(self, key: K) -> V | None:
        """The row that the operators below know of: as the last flush left it."""
        cell = self.cells.get(key if self.key_identity else self.raw_key(key))
        return self.get(key) if cell is None or not cell[SEQUENCE] else self._old_of(cell)

    def write(self, key: K, value: Any, timestamp: int) -> None:
        cell_key: Any = key if self.key_identity else self.raw_key(key)
        cell = self.cells.get(cell_key) or self.load(key)
        cell[VALUE] = None if value is None else self._to_slot(value)  # as _change, without the call
        cell[TIMESTAMP] = timestamp
        cell[SEQUENCE] = self.tick()
        cell[HEADERS] = self._context.headers
        if self._unscanned is not None:
            self._unscanned[cell_key] = cell

    # Scans read the bytes store, so what changed since the last scan goes there first; it is forwarded by the flush.

    def _scan(self, lower: bytes | None, upper: bytes | None, *, reverse: bool = False) -> StoreIterator[Any]:
        self._write_changes()
        return KeyValueStore._scan(self, lower, upper, reverse=reverse)  # noqa: SLF001

    @property
    def approximate_num_entries(self) -> int:
        self._write_changes()
        return len(self._rows)

    def _write_changes(self) -> None:
        # Code that changes cells in place tells nobody which ones.
        known = None if self._inline else self._unscanned
        self._write_cells([cell for cell in (self.cells if known is None else known).values() if cell[SEQUENCE]])
        self._unscanned = {}

    # Flush

    @property
    def held(self) -> int:
        return len(self.cells)

    def _take_cells(self) -> list[Cell]:
        cells = list(self.cells.values())
        self.cells.clear()
        self._unscanned = None if self._unscanned is None else {}
        return cells

    def _keep_cells(self, cells: list[Cell]) -> None:
        clean = self._clean
        if len(clean) + len(cells) > MAX_CLEAN:
            clean.clear()
        slot = KEY if self.key_identity else RAW_KEY
        for cell in cells[-MAX_CLEAN:]:
            if cell[VALUE] is not None:
                cell[SEQUENCE] = 0
                clean[cell[slot]] = cell

    def _write_rows(self, cells: list[Cell], raw_values: list[bytes | None]) -> list[bytes | None]:
        rows = self._pack_all(raw_values, *circumstances(cells))
        self._rows.put_all([cell[RAW_KEY] for cell in cells], rows)
        return rows

    def _log_key(self, cell: Cell) -> bytes:
        return cell[RAW_KEY]  # type: ignore[no-any-return]

    def _forward_keys(self, cells: list[Cell]) -> list[Any]:
        return [cell[KEY] for cell in cells]


class CachingTimestampedKeyValueStore(CachingKeyValueStore[K, ValueAndTimestamp[V]], TimestampedKeyValueStore[K, V]):
    """The store of a cached table."""

    kind = TimestampedKeyValueStore.kind

    def get(self, key: K) -> ValueAndTimestamp[V] | None:
        cell_key: Any = key if self.key_identity else self.raw_key(key)
        cell = self.cells.get(cell_key) or self._clean.get(cell_key)
        if cell is None:
            return TimestampedKeyValueStore.get(self, key)
        value = cell[VALUE]
        return None if value is None else _new(ValueAndTimestamp, (self._from_slot(value), cell[TIMESTAMP]))


_new = tuple.__new__  # a named tuple without the detour through its own __new__: half the time
