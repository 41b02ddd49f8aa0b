"""A store's bytes during a batch: this batch's changes in memory over LMDB as it was when the batch began."""

from __future__ import annotations

import heapq
from collections.abc import Iterator, Sequence
from itertools import chain, islice
from operator import itemgetter
from typing import Any

from penstock.state.bytes_store import BytesStore, Item
from penstock.state.disk.lmdb_keys import EMPTY_KEY, MAX_KEY, split_long, stored_key
from penstock.state.sorted_keys import SortedKeys

Changes = dict[bytes, "bytes | None"]  # None deletes


class LayeredBytesStore(BytesStore):
    """Reads fall through to LMDB; writes stay in `changes` until the host commits them.

    Attributes:
        name: Name of the store.
        changes: What this pass of the batch changed.
        earlier: What earlier passes of the same batch changed; only foreign-key joins have any.
    """

    __slots__ = ("_db", "_new", "_order", "_txn", "changes", "earlier", "name")

    def __init__(self, name: str) -> None:
        self.name = name
        self.changes: Changes = {}
        self.earlier: Changes = {}
        # The changed keys in order, once somebody scanned: joins scan for every record, so they are kept in order
        # instead of being sorted each time.
        self._order: SortedKeys | None = None
        self._new: list[bytes] = []
        self._txn: Any = None
        self._db: Any = None

    def begin(self) -> None:
        """A batch begins: nothing has changed yet."""
        self.changes, self.earlier = {}, {}
        self._order, self._new = None, []

    def attach(self, txn: Any, db: Any) -> None:
        """Read from a transaction from here on; db None is an empty store."""
        self._txn, self._db = txn, db

    def get(self, key: bytes) -> bytes | None:
        changes = self.changes
        if key in changes:
            return changes[key]
        if self.earlier and key in self.earlier:
            return self.earlier[key]
        if self._db is None:
            return None
        if len(key) > MAX_KEY:
            stored = self._txn.get(stored_key(key), db=self._db)
            return None if stored is None else split_long(stored)[1]
        value: bytes | None = self._txn.get(key or EMPTY_KEY, db=self._db)
        return value

    def put(self, key: bytes, value: bytes) -> None:
        changes = self.changes
        if self._order is not None and key not in changes:
            self._new.append(key)
        changes[key] = value

    def delete(self, key: bytes) -> None:
        changes = self.changes
        if self._order is not None and key not in changes:
            self._new.append(key)
        changes[key] = None

    def put_all(self, keys: Sequence[bytes], values: Sequence[bytes | None]) -> None:
        if self._order is not None:
            BytesStore.put_all(self, keys, values)
        else:
            self.changes.update(zip(keys, values, strict=True))

    def _changed_keys(self) -> SortedKeys:
        order, changes = self._order, self.changes
        if order is None or 4 * len(self._new) > len(changes):
            order = self._order = SortedKeys(changes)
        else:
            for key in self._new:
                order.add(key)
        self._new.clear()
        return order

    def range(
        self, lower: bytes | None = None, upper: bytes | None = None, *, reverse: bool = False, limit: int | None = None
    ) -> Iterator[Item]:
        changes, earlier = self.changes, self.earlier
        snapshot = [(key, changes[key]) for key in self._changed_keys().between(lower, upper, reverse=reverse)]
        if earlier:
            snapshot += [
                (k, v)
                for k, v in earlier.items()
                if k not in changes and (lower is None or k >= lower) and (upper is None or k < upper)
            ]
            snapshot.sort(key=itemgetter(0), reverse=reverse)
        below = ((k, v) for k, v in self._below(lower, upper, reverse=reverse) if k not in changes and k not in earlier)
        merged: Any = heapq.merge(snapshot, below, key=lambda item: item[0], reverse=reverse) if snapshot else below
        found = ((key, value) for key, value in merged if value is not None)
        # Collected at once when something is in flight, because the caller may change the store while it reads.
        return iter(list(islice(found, limit)))

    def _below(self, lower: bytes | None, upper: bytes | None, *, reverse: bool) -> Iterator[Item]:
        """Items of LMDB in key order; keys that LMDB does not take are put in their right places."""
        if self._db is None:
            return iter(())
        found = _scan(self._txn.cursor(db=self._db), lower, upper, reverse=reverse)
        empty = None if lower or upper == b"" else self._txn.get(EMPTY_KEY, db=self._db)
        if empty is None:
            return found
        return chain(found, [(b"", empty)]) if reverse else chain([(b"", empty)], found)

    def delete_range(self, lower: bytes | None, upper: bytes | None) -> None:
        for key, _ in self.range(lower, upper):
            self.delete(key)

    def __len__(self) -> int:
        stored = 0 if self._db is None else self._txn.stat(self._db)["entries"]
        changed = {**self.earlier, **self.changes}
        if not changed:
            return int(stored)
        return sum(1 for _ in self.range())


def _scan(cursor: Any, lower: bytes | None, upper: bytes | None, *, reverse: bool) -> Iterator[Item]:
    with cursor:
        if reverse:
            found = cursor.set_range(upper[:MAX_KEY]) if upper else upper is not None and cursor.first()
            # A long upper bound may have long keys of the same head below it: start behind all of them.
            if upper is not None and len(upper) > MAX_KEY:
                while found and cursor.key()[:MAX_KEY] == upper[:MAX_KEY]:
                    found = cursor.next()
            ok = cursor.prev() if found else cursor.last()
            items = cursor.iterprev() if ok else iter(())
        else:
            ok = cursor.set_range(lower[:MAX_KEY]) if lower else cursor.first()
            items = cursor.iternext() if ok else iter(())
        yield from _bounded(_ordered(items, reverse=reverse), lower, upper, reverse=reverse)


def _bounded(items: Iterator[Item], lower: bytes | None, upper: bytes | None, *, reverse: bool) -> Iterator[Item]:
    for key, value in items:
        if lower is not None and key < lower:
            if reverse:
                return
            continue
        if upper is not None and key >= upper:
            if not reverse:
                return
            continue
        yield key, value


def _ordered(items: Iterator[Item], *, reverse: bool) -> Iterator[Item]:
    """Long keys of one head stand together in LMDB, in the order of their hash: sort them by what they are."""
    group: list[Item] = []
    for key, value in items:
        if len(key) <= MAX_KEY:
            if group:
                yield from sorted(group, reverse=reverse)
                group = []
            yield key, value
            continue
        if key == EMPTY_KEY:
            continue
        full = split_long(value)
        if group and group[0][0][:MAX_KEY] != full[0][:MAX_KEY]:
            yield from sorted(group, reverse=reverse)
            group = []
        group.append(full)
    yield from sorted(group, reverse=reverse)
