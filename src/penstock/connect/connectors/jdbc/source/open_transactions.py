"""Waiting for transactions that may still commit rows among those already seen.

A row gets its number or time when it is written, and can be seen when its transaction commits. With two writers the row with the
larger number may be there first: who remembers that number and reads on never sees the other row. So the end of what is
read is noted first, then which transactions are open, and rows are read when those have ended.
"""

from __future__ import annotations

import logging
import time

from sqlalchemy import Connection

from penstock.connect.connectors.jdbc.source.dialects import SourceDialect

log = logging.getLogger("penstock.connect")


class Fence:
    """A moment after which transactions that were open then are waited for.

    Attributes:
        begun: The moment, by the monotonic clock.
        transactions: Those that are waited for; None before anybody asked.
    """

    __slots__ = ("begun", "transactions")

    def __init__(self) -> None:
        self.begun = time.monotonic()
        self.transactions: frozenset[str] | None = None


class OpenTransactions:
    """Knows which transactions are open, and which of them are waited for no more.

    Args:
        dialect: The kind of database.
        wait_ms: How long to wait for any of them.
    """

    def __init__(self, dialect: SourceDialect, wait_ms: int) -> None:
        self._dialect = dialect
        self._wait_seconds = wait_ms / 1000
        self._asked = 0.0
        self._open: frozenset[str] = frozenset()
        self._given_up: frozenset[str] = frozenset()

    def has_passed(self, connection: Connection, fence: Fence, name: str) -> bool:
        """Whether all transactions of the fence have ended, or were waited for long enough."""
        if not self._wait_seconds:
            return True
        now = time.monotonic()
        if now - self._asked >= self._dialect.TRANSACTIONS_SECONDS:
            self._asked = now
            self._open = self._dialect.open_transactions(connection) or frozenset()
            self._given_up &= self._open
        if fence.transactions is None:
            if self._asked < fence.begun:
                return False  # what is known is from before; soon
            fence.transactions = self._open - self._given_up
        left = fence.transactions & self._open
        if not left:
            return True
        if now - fence.begun < self._wait_seconds:
            return False
        log.warning(
            "%s: %d transactions are open for more than %g s and are waited for no longer; rows they commit may be missed",
            name, len(left), self._wait_seconds,
        )  # fmt: skip
        self._given_up |= left
        return True
