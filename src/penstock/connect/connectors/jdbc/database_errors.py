"""What an error of a database means: it is gone, the statement may work later, or it never will."""

from __future__ import annotations

import re
from typing import Any

from sqlalchemy.exc import DBAPIError, SQLAlchemyError

from penstock.connect.connectors.jdbc.connection_keys import CONNECTION_PASSWORD, CONNECTION_URL, CONNECTION_USER
from penstock.connect.errors import ConfigError, ConnectError, RetriableError, shown


class DatabaseDown(RetriableError):
    """The database cannot be reached, or the connection was lost: it may be there again later."""


# SQLSTATE: 08 connection, 57P0x server ends or begins, 53300 too many connections.
_LOST_STATES = re.compile(r"08...|57P0[1235]|53300")
# Serialization failure, deadlock, lock not available, statement cancelled or timed out.
_TRANSIENT_STATES = re.compile(r"40001|40P01|55P03|57014|25P03")
# MySQL and MariaDB: client errors of the network, too many connections, shutdown, killed connection.
_LOST_CODES = {0, 1040, 1053, 1152, 1158, 1159, 1160, 1161, 1184, 1927, 2002, 2003, 2006, 2013, 2014, 2055, 4031}
# Lock wait timeout, deadlock, record changed, statement timeouts.
_TRANSIENT_CODES = {1020, 1205, 1213, 1969, 3024}
_REFUSED_CODES = {1044, 1045, 1049, 1130, 1251, 1698, 2054, 2059, 2061}
# libpq tells errors of connecting by text only.
_NOT_NOW = re.compile(
    r"starting up|shutting down|recovery mode|too many|connection slots|not yet accepting|conflict with"
)
_NO_FILE = "unable to open database file"  # SQLite's
_REFUSED = re.compile(
    r"authentication failed|no password supplied|pg_hba\.conf|does not exist|not permitted to log in|"
    r"permission denied|unsupported frontend protocol|certificate"
)


def _driver_error(error: BaseException) -> Any:
    return error.orig if isinstance(error, DBAPIError) else error


def _code(error: Any) -> int | None:
    """The number of an error of MySQL's protocol."""
    module = type(error).__module__.partition(".")[0]
    if module == "pymysql" and error.args and isinstance(error.args[0], int):
        return error.args[0]
    return None


def is_refused(error: BaseException) -> bool:
    """Whether the database is there and does not let us in: wrong password, no such database."""
    cause = _driver_error(error)
    code, text = _code(cause), str(cause)
    if code is not None:
        return code in _REFUSED_CODES
    if type(cause).__module__.startswith("psycopg"):
        return bool(_REFUSED.search(text)) and not _NOT_NOW.search(text)
    return _NO_FILE in text or "file is not a database" in text


def is_lost(error: BaseException) -> bool:
    """Whether the connection is gone, or could not be made, and may come back."""
    cause = _driver_error(error)
    if isinstance(error, DBAPIError) and error.connection_invalidated:
        return True
    if isinstance(cause, (ConnectionError, TimeoutError)):
        return True
    code = _code(cause)
    if code is not None:
        return code in _LOST_CODES
    state = getattr(cause, "sqlstate", None)
    if state is not None:
        return bool(_LOST_STATES.fullmatch(state))
    # Errors of psycopg without a state are about the connection itself.
    names = [cls.__name__ for cls in type(cause).__mro__]
    return type(cause).__module__.startswith("psycopg") and "OperationalError" in names


def is_transient(error: BaseException) -> bool:
    """Whether the same statement may work later: deadlocks, locks, timeouts."""
    cause = _driver_error(error)
    code = _code(cause)
    if code is not None:
        return code in _TRANSIENT_CODES
    state = getattr(cause, "sqlstate", None)
    if state is not None:
        return bool(_TRANSIENT_STATES.fullmatch(state))
    return type(cause).__module__ == "sqlite3" and "locked" in str(cause)


def is_missing_table(error: BaseException) -> bool:
    """Whether a statement failed because a table is not there."""
    cause = _driver_error(error)
    return (
        _code(cause) in {1051, 1146}
        or getattr(cause, "sqlstate", None) in {"42P01", "3F000"}
        or "no such table" in str(cause)
    )


def translated(error: SQLAlchemyError | Exception, doing: str, *, hidden: bool = False) -> ConnectError:
    """The error Connect understands: DatabaseDown or RetriableError if it may pass, else ConnectError.

    Args:
        error: Of SQLAlchemy or a driver.
        doing: What was done, for the message: `reading table public.orders`.
        hidden: Whether to leave out what the driver said: it may quote the statement.
    """
    text = f"{doing}: {_code_text(error) if hidden else message_of(error)}"
    hint = (
        "What the database said is left out, as it may quote the query: run that by hand to see it." if hidden else ""
    )
    if is_lost(error):
        return DatabaseDown(f"The connection to the database was lost while {text}", hint=hint)
    if is_transient(error):
        return RetriableError(f"The database did not allow {text}", hint=hint)
    return ConnectError(f"The database refused {text}", hint=hint)


def connect_failure(error: SQLAlchemyError | Exception, where: str) -> ConnectError | ConfigError:
    """The error for a connection that could not be made.

    Args:
        error: Of SQLAlchemy or a driver.
        where: The database, without its password.
    """
    text = f"{where} ({CONNECTION_URL}): {message_of(error)}"
    if isinstance(error, RuntimeError) and "cryptography" in str(error):
        hint = "Run: pip install 'penstock[jdbc]', or connect by TLS (sslMode=REQUIRED in the URL)."
        return ConfigError(f"A package is missing for the way users log in to {text}", key=CONNECTION_URL, hint=hint)
    if _NO_FILE in str(error):
        hint = f"Check the path in {CONNECTION_URL}: a source needs the file, a sink its folder."
        return ConfigError(f"The file is not there or may not be opened: {text}", key=CONNECTION_URL, hint=hint)
    if is_refused(error):
        hint = f"Check {CONNECTION_URL}, {CONNECTION_USER} and {CONNECTION_PASSWORD}."
        return ConfigError(f"The database does not let us in: {text}", key=CONNECTION_URL, hint=hint)
    if is_lost(error) or is_transient(error):
        return DatabaseDown(f"The database cannot be reached: {text}")
    return ConnectError(f"Connecting to the database failed: {text}")


def message_of(error: BaseException) -> str:
    """What the driver said, on one line: SQLAlchemy would add the statement with all its values."""
    cause = _driver_error(error)
    if _code(cause) is not None and len(cause.args) > 1:
        text = f"{cause.args[1]} (error {cause.args[0]})"
    else:
        text = str(cause)
    return shown(" ".join(text.split()) or type(cause).__name__)


def _code_text(error: BaseException) -> str:
    """Which error it was, in nobody's words."""
    cause = _driver_error(error)
    code, state = _code(cause), getattr(cause, "sqlstate", None) or getattr(cause, "sqlite_errorname", None)
    return f"{type(cause).__name__} ({code or state})" if code or state else type(cause).__name__
