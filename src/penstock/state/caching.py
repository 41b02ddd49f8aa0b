"""The record cache, for any kind of store: between two flushes only the last update of a key counts."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Sequence
from functools import partial
from itertools import count
from typing import Any, TypeVar

from penstock.isolation import own_copy
from penstock.serde.shared import encode_shared
from penstock.state.cells import HEADERS, OLD, SEQUENCE, TIMESTAMP, VALUE, Cell, by_sequence
from penstock.state.members import Members
from penstock.state.store import FlushListener
from penstock.state.typed_store import TypedStore

K = TypeVar("K")
V = TypeVar("V")
Forward = Callable[[], None]
# Changelog keys, serialised values, timestamps, headers.
LogColumns = tuple["list[bytes]", "list[bytes | None]", "list[int]", "list[Any]"]
# Takes the updates of a flush as they are in the store, by columns: serialised keys and values, timestamps, headers.
RawListener = Callable[[Sequence["bytes | None"], Sequence["bytes | None"], Sequence[int], Sequence[Any]], None]
# Takes what a flush changed, for the changelog: keys, values, timestamps.
OnChanges = Callable[[Sequence["bytes | None"], Sequence["bytes | None"], Sequence[int]], None]
# Takes the updates of a flush all at once: keys, values, timestamps, headers.
Drain = Callable[[list[Any], list[Any], list[int], list[Any]], None]
# From how many updates on it is worth it; the test driver flushes after each record.
_WORTH_A_DRAIN = 8


def _same(value: Any) -> Any:
    return value


class Caching(TypedStore[K, V]):
    """A store that collects updates in cells until `flush`.

    A flush writes each changed row once and forwards it once, in the order of the last changes, with the value
    before the first change as the old one. A row that was not there before and is not there now gives nothing.

    Attributes:
        key_identity: A key object stands for its bytes.
        tick: Gives the next sequence number.
        on_changes: Gets by columns what `on_change` would get one by one.
    """

    cached = True

    def _init_cache(self) -> None:
        self.key_identity = self.key_serde.key_identity
        self.tick: Callable[[], int] = count(1).__next__
        self.on_changes: OnChanges | None = None
        self._listener: FlushListener | None = None
        self._raw_listener: RawListener | None = None
        self._drain: Drain | None = None
        self._send_old = False
        self._listener_copies = False
        self._live = not self.value_serde.mutable  # cells hold decoded values; else serialised ones
        self._members: Members | None = None  # cells hold the members of decoded values
        self._set_slots()

    def _set_slots(self) -> None:
        """How values go into cells and out again without an object being shared with anybody."""
        mutable, members = self.value_serde.mutable, self._members
        self._to_slot: Callable[[Any], Any] = _same if not mutable else self._copy if self._live else self._encode
        self._from_slot: Callable[[Any], Any] = _same if not mutable else self._copy if self._live else self._decode
        self._read_slot: Callable[[bytes], Any] = self._decode if self._live else _same
        # Value by value costs 0.5 us more than a column for JSON.
        self._column_bytes: Callable[[list[Any]], list[bytes | None]] = self._encode_shared if self._live else _same
        if members is not None:
            split, join, join_all, encode = members.split, members.join, members.join_all, self._encode_column
            self._to_slot = lambda value: split(self._copy(value))
            self._from_slot = lambda held: self._copy(join(held))
            self._read_slot = lambda raw_value: split(self._decode(raw_value))
            self._column_bytes = lambda column: encode(join_all(column))

    def _encode_shared(self, values: list[Any]) -> list[bytes | None]:
        return encode_shared(self._encode_column, values)

    def _copy(self, value: Any) -> Any:
        raw_value = self._encode(value)
        return None if raw_value is None else self._decode(raw_value)

    def set_flush_listener(
        self,
        listener: FlushListener,
        send_old: bool,  # noqa: FBT001 - the contract
        *,
        copies: bool = False,
    ) -> None:
        """Who gets the updates of a flush, whether old values are wanted, and whether the listener makes its own copies."""
        self._listener = listener
        self._send_old = send_old
        self._listener_copies = copies

    def set_raw_listener(self, listener: RawListener) -> None:
        """Who gets the updates of a flush instead, in the bytes that the store has of them."""
        self._raw_listener = listener

    def set_drain(self, drain: Drain) -> None:
        """Who does for many updates what the listener does for each; it does not use old values."""
        self._drain = drain

    def _change(self, cell: Cell, value: Any, timestamp: int) -> None:
        cell[VALUE] = None if value is None else self._to_slot(value)
        cell[TIMESTAMP] = timestamp
        cell[SEQUENCE] = self.tick()
        cell[HEADERS] = self._context.headers

    def _old_of(self, cell: Cell) -> V | None:
        """The row of a cell before its first change since the last flush."""
        row: bytes | None = cell[OLD]
        return None if row is None else self._read(row)

    # What a kind of store adds

    @property
    @abstractmethod
    def held(self) -> int:
        """How many cells wait for a flush."""

    @abstractmethod
    def _take_cells(self) -> list[Cell]:
        """All cells that may have changed; the cache forgets them."""

    @abstractmethod
    def _keep_cells(self, cells: list[Cell]) -> None:
        """Keep flushed cells for later; they hold no object that anybody else has."""

    @abstractmethod
    def _write_rows(self, cells: list[Cell], raw_values: list[bytes | None]) -> list[bytes | None]:
        """Bring the rows of cells with these serialised values to the bytes store; gives the rows, None for deleted."""

    @abstractmethod
    def _log_key(self, cell: Cell) -> bytes:
        """Key of the changelog record of a row that is kept."""

    @abstractmethod
    def _forward_keys(self, cells: list[Cell]) -> list[Any]:
        """Keys of the forwarded updates."""

    # Flush

    def flush(self) -> None:
        while cells := self._take_cells():  # what is forwarded may come back and change this store again
            changed = [cell for cell in cells if cell[SEQUENCE]]
            changed.sort(key=by_sequence)
            forward = self._write_all(changed)
            self._keep_cells(cells)
            forward()

    def _lasting(self, cells: list[Cell]) -> list[Cell]:
        """Those whose rows are kept: a window that has gone before the flush is forwarded only."""
        return cells

    def _write_cells(self, cells: list[Cell]) -> tuple[list[Cell], list[bytes | None], list[bytes | None]]:
        """Bring rows to the bytes store; gives the cells that were kept, their serialised values and their rows."""
        kept = self._lasting(cells)
        raw_values = self._column_bytes([cell[VALUE] for cell in kept])
        return kept, raw_values, self._write_rows(kept, raw_values)

    def _write_all(self, changed: list[Cell]) -> Forward:
        """Write all changed rows before any is forwarded: whoever reads then sees the state after the flush."""
        kept, raw_values, rows = self._write_cells(changed)
        # By columns without a tuple for each change, which they share: an update costs 0.5 us less.
        by_columns = self.on_changes is not None or self._raw_listener is not None
        columns = self._columns_of(kept, raw_values) if by_columns else None
        if self.on_changes is not None:
            if columns is not None:
                self.on_changes(*columns[:3])
        elif (on_change := self.on_change) is not None:
            for cell, raw_value in zip(kept, raw_values, strict=True):
                if raw_value is not None or cell[OLD] is not None:
                    on_change(self._log_key(cell), raw_value, cell[TIMESTAMP])
        if self._raw_listener is None:
            forward = self._forward(changed)
        else:
            forward = _nothing if columns is None else partial(self._raw_listener, *columns)
        for cell, row in zip(kept, rows, strict=True):
            cell[OLD] = row
        return forward

    def _columns_of(self, kept: list[Cell], raw_values: list[bytes | None]) -> LogColumns | None:
        """Changelog keys, values, timestamps and headers of what changed; None if nothing did."""
        if None in raw_values:  # what was not there before and is not there now is no change
            shown = [(c, v) for c, v in zip(kept, raw_values, strict=True) if v is not None or c[OLD] is not None]
            kept, raw_values = [cell for cell, _ in shown], [raw_value for _, raw_value in shown]
        return (list(map(self._log_key, kept)), raw_values, *circumstances(kept)) if kept else None

    def _forward(self, changed: list[Cell]) -> Forward:
        listener, drain = self._listener, self._drain
        if listener is None:
            return _nothing
        # What was not there before and is not there now gives nothing.
        shown = [cell for cell in changed if cell[VALUE] is not None or cell[OLD] is not None]
        values = [cell[VALUE] for cell in shown]
        if not self._live:
            values = [None if value is None else self._decode(value) for value in values]
        if self._members is not None:
            values = self._members.join_all(values)
        if self._live and self.value_serde.mutable and not self._listener_copies:
            # A live object stays in its cell: what goes downstream is a copy, which costs less than reading it again.
            values = [None if value is None else own_copy(value) for value in values]
        updates = (self._forward_keys(shown), values, *circumstances(shown))
        if drain is not None and len(shown) >= _WORTH_A_DRAIN:
            return partial(drain, *updates)
        old_rows = [cell[OLD] if self._send_old else None for cell in shown]
        return partial(self._forward_each, listener, old_rows, *updates)

    def _forward_each(self, listener: FlushListener, old_rows: list[bytes | None], *updates: list[Any]) -> None:
        for old_row, key, value, timestamp, headers in zip(old_rows, *updates, strict=True):
            old = None if old_row is None else self._decode(self._unpack(old_row)[0])
            listener(key, value, old, timestamp, headers)


def circumstances(cells: list[Cell]) -> tuple[list[int], list[Any]]:
    """Timestamps and headers."""
    return [cell[TIMESTAMP] for cell in cells], [cell[HEADERS] for cell in cells]


def _nothing() -> None:
    pass
