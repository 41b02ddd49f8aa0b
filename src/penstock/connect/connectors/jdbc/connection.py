"""A database connectors connect to: SQLAlchemy underneath, errors as Connect knows them."""

from __future__ import annotations

import logging
import socket
import threading
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from typing import Any
from zoneinfo import ZoneInfo

from penstock.connect.config import ConfigDef
from penstock.connect.connectors.jdbc.connection_keys import (
    CONNECTION_ATTEMPTS,
    CONNECTION_BACKOFF_MS,
    CONNECTION_KEYS,
    CONNECTION_PASSWORD,
    CONNECTION_URL,
    CONNECTION_USER,
    DB_TIMEZONE,
    DIALECT_NAME,
    DIALECTS,
    GENERIC_DIALECT,
    QUOTE_IDENTIFIERS,
)
from penstock.connect.errors import ConfigError, ConnectError

try:
    from sqlalchemy import Connection, Engine, create_engine, event
    from sqlalchemy.engine import URL
    from sqlalchemy.exc import NoSuchModuleError, SQLAlchemyError
    from sqlalchemy.pool import NullPool
except ImportError as missing:
    raise ConfigError(
        f"The package {missing.name} is missing, which the JDBC connectors need",
        hint="Run: pip install 'penstock[jdbc]'",
    ) from missing

from penstock.connect.connectors.jdbc.database_errors import DatabaseDown, connect_failure, translated
from penstock.connect.connectors.jdbc.jdbc_url import MYSQL, POSTGRESQL, SQLITE, engine_url, existing_file
from penstock.connect.connectors.jdbc.table_id import TableId

log = logging.getLogger("penstock.connect")


class Database:
    """A database, by the settings of a connector. Nothing is connected before `connect`.

    Connections are not pooled: a task keeps the one it has and closes it when it is told that it is gone.

    Attributes:
        engine: SQLAlchemy's engine.
        backend: SQLAlchemy's name of the kind of database: postgresql, mysql, sqlite, ...
        zone: The time zone of columns that carry none.
        where: What messages call it; without a password.

    Args:
        settings: The connector's settings, parsed or as texts.
        existing: Whether a file of SQLite must be there; else it is created.

    Raises:
        ConfigError: The settings do not name a database we have a driver for.
    """

    def __init__(self, settings: Mapping[str, Any], *, existing: bool = False) -> None:
        parsed = ConfigDef(*CONNECTION_KEYS).parse(settings)
        url, arguments = engine_url(parsed[CONNECTION_URL])
        if parsed[CONNECTION_USER]:
            url = url.set(username=parsed[CONNECTION_USER])
        if parsed[CONNECTION_PASSWORD] is not None:
            url = url.set(password=parsed[CONNECTION_PASSWORD].value)
        self._password = url.password
        self.backend = url.get_backend_name()
        self.zone = ZoneInfo(parsed[DB_TIMEZONE])
        self.where = _where(url, arguments)
        self.engine = _engine(existing_file(url) if existing and self.backend == SQLITE else url, arguments)
        self._quotes = parsed[QUOTE_IDENTIFIERS].lower() == "always"
        self._attempts: int = parsed[CONNECTION_ATTEMPTS]
        self._backoff_seconds: float = parsed[CONNECTION_BACKOFF_MS] / 1000
        _check_dialect(parsed[DIALECT_NAME], self.backend)

    @property
    def has_schemas(self) -> bool:
        """Whether tables are in schemas; in MySQL and MariaDB they are in catalogs."""
        return self.backend not in {MYSQL, "mariadb"}

    def quote(self, name: str) -> str:
        """A name for a statement, quoted unless the settings say never."""
        return self.engine.dialect.identifier_preparer.quote_identifier(name) if self._quotes else name

    def table_id(self, text: str) -> TableId:
        """The table a user means."""
        return TableId.parse(text, has_schemas=self.has_schemas)

    def table_sql(self, table: TableId) -> str:
        """A table for a statement."""
        return table.sql(self.quote)

    def connect(self) -> Connection:
        """A new connection; one attempt.

        Raises:
            DatabaseDown: It cannot be reached now.
            ConfigError: It does not let us in.
            ConnectError: Anything else.
        """
        try:
            return self.engine.connect()
        except (SQLAlchemyError, OSError, RuntimeError) as error:
            raise self._safe(connect_failure(error, self.where)) from None  # the cause may show the password

    def connect_patiently(self, stopped: threading.Event | None = None) -> Connection:
        """A new connection, tried `connection.attempts` times with `connection.backoff.ms` in between.

        For a connector that starts. Tasks use `connect`: the worker calls them again after DatabaseDown.

        Args:
            stopped: Ends the waiting when it is set.
        """
        stopped = stopped or threading.Event()
        attempt = 1
        while True:
            try:
                return self.connect()
            except DatabaseDown as error:
                if attempt >= self._attempts or stopped.is_set():
                    raise
                log.warning("Attempt %d of %d to connect: %s", attempt, self._attempts, error)
                stopped.wait(self._backoff_seconds)
                attempt += 1

    @contextmanager
    def errors(self, doing: str, *, hidden: bool = False) -> Iterator[None]:
        """Errors of the database inside become Connect's; see `translated`.

        Args:
            doing: What is done, for the message: `reading table public.orders`.
            hidden: Whether nobody may see the statement.
        """
        try:
            yield
        except Exception as error:
            if not isinstance(error, (SQLAlchemyError, self.engine.dialect.loaded_dbapi.Error)):
                raise
            # The cause shows the statement, and so do many messages of drivers.
            raise self._safe(translated(error, doing, hidden=hidden)) from (None if hidden else error)

    def close(self) -> None:
        """Forget the engine; connections that are open stay so."""
        self.engine.dispose()

    def _safe(self, error: ConnectError | ConfigError) -> ConnectError | ConfigError:
        """The error without the password, should a driver have put it into its message."""
        if self._password:
            error.message = error.message.replace(str(self._password), "[hidden]")
            error.args = (error.message,)
        return error

    def __repr__(self) -> str:
        return f"Database({self.where})"


def _engine(url: URL, arguments: dict[str, Any]) -> Engine:
    is_mysql = url.get_backend_name() == MYSQL
    read_timeout = arguments.get("read_timeout")
    if is_mysql:
        # PyMySQL's own connect_timeout ends when the port is open: a server that then says nothing would be waited for.
        arguments = {**arguments, "read_timeout": arguments["connect_timeout"]}
    try:
        engine = create_engine(url, connect_args=arguments, poolclass=NullPool)
    except ImportError as missing:
        raise ConfigError(
            f"The package {missing.name} is missing, which {url.drivername} in {CONNECTION_URL} needs",
            key=CONNECTION_URL,
            hint="Run: pip install 'penstock[jdbc]', or install the driver of your database.",
        ) from None
    except (NoSuchModuleError, ValueError) as error:
        raise ConfigError(f"SQLAlchemy cannot use {CONNECTION_URL}: {error}", key=CONNECTION_URL) from None
    if is_mysql:
        event.listen(engine, "connect", lambda connection, _: _keep_alive(connection, read_timeout))
    return engine


def _keep_alive(connection: Any, read_timeout: int | None) -> None:
    """PyMySQL has no setting for it: without, a task would wait for ever for a server that was cut off."""
    connection._read_timeout = read_timeout  # noqa: SLF001 - the one for connecting is over
    found = getattr(connection, "_sock", None)
    if isinstance(found, socket.socket) and found.family != socket.AF_UNIX:
        found.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
        for name, value in (("TCP_KEEPIDLE", 30), ("TCP_KEEPINTVL", 10), ("TCP_KEEPCNT", 3)):
            if hasattr(socket, name):
                found.setsockopt(socket.IPPROTO_TCP, getattr(socket, name), value)


def _where(url: URL, arguments: Mapping[str, Any]) -> str:
    if url.get_backend_name() == "sqlite":
        return f"SQLite {url.database}"
    kind = {POSTGRESQL: "PostgreSQL", MYSQL: "MySQL"}.get(url.get_backend_name(), url.get_backend_name())
    host = f"{url.host}:{url.port}" if url.port else url.host or arguments.get("host", "localhost")
    return f"{kind} {host}/{url.database or ''} as {url.username or 'nobody'}"


def _check_dialect(name: str, backend: str) -> None:
    if name and name != GENERIC_DIALECT and DIALECTS[name] != backend:
        raise ConfigError(
            f"{DIALECT_NAME} is {name}, but {CONNECTION_URL} is one of {backend}",
            key=DIALECT_NAME,
            hint=f"Leave {DIALECT_NAME} out.",
        )
