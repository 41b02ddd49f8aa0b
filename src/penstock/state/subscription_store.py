"""Subscriptions of a foreign-key join: which rows of the left table want to hear of a row of the right one."""

from __future__ import annotations

from typing import ClassVar

from penstock.records import ValueAndTimestamp
from penstock.state.ordered_bytes import INT, pack_long, prefix_end, unpack_long
from penstock.state.store import StateStore, StoreEnvironment


class SubscriptionStore(StateStore):
    """A map of (foreign key, primary key) to a subscription, all as bytes.

    The length of the foreign key stands in front of it, so that one foreign key that is the start of another does
    not get the other's subscribers. The subscribers of one foreign key are ordered by primary key bytes.
    """

    kind: ClassVar[str] = "subscription"

    def __init__(self, name: str, environment: StoreEnvironment) -> None:
        StateStore.__init__(self, name)
        self._rows = environment.bytes_store(name)

    @staticmethod
    def _prefix(foreign_key: bytes) -> bytes:
        return INT.pack(len(foreign_key)) + foreign_key

    def get(self, foreign_key: bytes, primary_key: bytes) -> ValueAndTimestamp[bytes] | None:
        """A subscription, or None."""
        row = self._rows.get(self._prefix(foreign_key) + primary_key)
        return None if row is None else ValueAndTimestamp(row[8:], unpack_long(row)[0])

    def put(self, foreign_key: bytes, primary_key: bytes, subscription: bytes | None, timestamp: int) -> None:
        """Store a subscription; None removes it."""
        key = self._prefix(foreign_key) + primary_key
        if subscription is None:
            self._rows.delete(key)
        else:
            self._rows.put(key, pack_long(timestamp) + subscription)
        if self.on_change is not None:
            self.on_change(key, subscription, timestamp)

    def subscribers(self, foreign_key: bytes) -> list[tuple[bytes, ValueAndTimestamp[bytes]]]:
        """(primary key, subscription) of all subscribers of a foreign key, in the order of the primary keys."""
        prefix = self._prefix(foreign_key)
        size = len(prefix)
        return [
            (key[size:], ValueAndTimestamp(row[8:], unpack_long(row)[0]))
            for key, row in self._rows.range(prefix, prefix_end(prefix))
        ]
