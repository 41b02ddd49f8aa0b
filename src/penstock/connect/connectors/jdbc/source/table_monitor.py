"""Watches for new and dropped tables."""

from __future__ import annotations

import logging
import threading
from collections.abc import Callable

from penstock.connect.connectors.jdbc.source.tables import TableFilter
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.errors import ConfigError, ConnectError, RetriableError

log = logging.getLogger("penstock.connect")

_STOP_SECONDS = 2.0


class TableMonitor:
    """Asks for the tables again and again, from a thread.

    Args:
        tables: Finds them.
        interval_seconds: How long to wait in between.
        changed: Called when there are others than before.
        failed: Called when they cannot be found, and it will not get better.
    """

    def __init__(
        self,
        tables: TableFilter,
        interval_seconds: float,
        changed: Callable[[], None],
        failed: Callable[[Exception], None],
    ) -> None:
        self._tables = tables
        self._interval = interval_seconds
        self._changed = changed
        self._failed = failed
        self._stopped = threading.Event()
        self._thread = threading.Thread(target=self._run, name="penstock-jdbc-tables", daemon=True)
        self.known: list[TableId] = []

    def start(self) -> None:
        """Find the tables, then watch them.

        Raises:
            ConnectError: They cannot be found.
        """
        try:
            self.known = self._tables.find(patiently=True)
        except BaseException:
            self._tables.close()
            raise
        if not self.known:
            log.warning("No tables match the settings yet; they are looked for every %g s", self._interval)
        self._thread.start()

    def _run(self) -> None:
        try:
            self._watch()
        finally:
            self._tables.close()

    def _watch(self) -> None:
        while not self._stopped.wait(self._interval):
            try:
                found = self._tables.find()
            except RetriableError as error:
                log.warning("New tables cannot be looked for now: %s", error)
            except (ConnectError, ConfigError) as error:
                self._failed(error)
                return
            else:
                if found != self.known:
                    log.info("Tables are now: %s", ", ".join(map(str, found)))
                    self.known = found
                    self._changed()

    def stop(self) -> None:
        """End the thread; a question a database does not answer is not waited for long."""
        self._stopped.set()
        self._thread.join(_STOP_SECONDS)
