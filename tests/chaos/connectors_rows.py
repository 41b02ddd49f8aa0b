"""Somebody who inserts and updates rows while the connectors run."""

from __future__ import annotations

import random
import threading
from contextlib import closing

import psycopg
from typing_extensions import Self

from tests.servers.fixtures import OwnDatabase

TABLE = "orders"
COLUMNS = "id, version, price, note, paid, weight, changed"
_CHUNK = 500
_UPDATED = 20
_INSERT = f"""INSERT INTO {TABLE} (price, note, paid, weight)
SELECT n %% 100000 / 100.0, CASE WHEN n %% 7 > 0 THEN 'it''s n° ' || n END, n %% 2 = 0, n / 3.0 FROM generate_series(%s::int, %s::int) n"""
_UPDATE = f"""UPDATE {TABLE} SET version = version + 1, price = price + 1, note = note || '+', paid = NOT paid, changed = clock_timestamp()
WHERE id = ANY(%s)"""


class RowWriter:
    """A thread that inserts as many rows as it may, and updates some all the time, for the length of a `with` block.

    Args:
        database: Where the table is.
        rows: How many to insert in all.
        seed: Decides which are updated.
    """

    def __init__(self, database: OwnDatabase, rows: int, seed: float) -> None:
        self._database = database
        self._rows = rows
        self._chance = random.Random(seed)
        self._allowed = self._inserted = 0
        self._asked = threading.Event()
        self._failure: psycopg.Error | None = None
        self._thread = threading.Thread(target=self._run, name="writer", daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._asked.set()
        self._allowed = self._rows
        self._thread.join()

    def allow(self, rows: int) -> None:
        """Insert until there are so many rows."""
        self._check()
        self._allowed = rows

    def finish(self) -> bool:
        """End as soon as all rows are inserted; whether that is so."""
        self._asked.set()
        self._thread.join(0.1)
        self._check()
        return not self._thread.is_alive()

    def _check(self) -> None:
        if self._failure is not None:
            raise self._failure

    def _run(self) -> None:
        try:
            with closing(self._database.connect()) as connection:
                while not (self._asked.is_set() and self._inserted >= self._rows):
                    until = min(self._inserted + _CHUNK, self._allowed)
                    if until > self._inserted:
                        connection.execute(_INSERT, (self._inserted + 1, until))
                        self._inserted = until
                    if self._inserted:
                        ids = [self._chance.randint(1, self._inserted) for _ in range(_UPDATED)]
                        connection.execute(_UPDATE, (ids,))
                    self._asked.wait(0.05)
        except psycopg.Error as error:
            self._failure = error
