"""Connections to the server, and what its errors mean for the connector."""

from __future__ import annotations

from collections.abc import Mapping
from contextlib import AbstractContextManager, contextmanager
from typing import TYPE_CHECKING, Any

from penstock.connect.errors import ConfigError, ConnectError, RetriableError

if TYPE_CHECKING:
    from collections.abc import Iterator

    import psycopg

# Texts of values depend on these; the parsers rely on them.
_OPTIONS = (
    "datestyle=ISO,YMD",
    "intervalstyle=iso_8601",
    "timezone=UTC",
    "bytea_output=hex",
    "extra_float_digits=3",
    "lc_monetary=C",
    "statement_timeout=0",
    "idle_in_transaction_session_timeout=0",
)
_SSL = {"sslmode": "sslmode", "sslrootcert": "sslrootcert", "sslcert": "sslcert", "sslkey": "sslkey"}
# Classes and codes of errors that another attempt may not meet: lost connections, a server that starts or stops,
# too many connections or slots, locks, a slot somebody else uses for the moment.
_PASSING_CLASSES = ("08", "53", "57P", "40", "55P03", "55006")


class Database:
    """Where the tables are.

    Args:
        settings: Parsed settings.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        self._settings = settings
        self.name: str = settings["database.dbname"]
        self.address = f"{settings['database.hostname']}:{settings['database.port']}"

    def sql(self) -> psycopg.Connection[tuple[Any, ...]]:
        """A connection for statements; each is a transaction of its own.

        Raises:
            RetriableError: The server does not answer.
            ConnectError: It does not let the connector in.
        """
        return self._connect()

    def replication(self) -> psycopg.Connection[tuple[Any, ...]]:
        """A connection that understands the commands of replication.

        Raises:
            RetriableError: The server does not answer.
            ConnectError: It does not let the connector in.
        """
        return self._connect(replication="database")

    def _connect(self, **more: str) -> psycopg.Connection[tuple[Any, ...]]:
        try:
            import psycopg
        except ImportError as error:
            raise ConnectError(
                "The PostgreSQL source needs psycopg, which is not installed", hint="pip install 'penstock[jdbc]'"
            ) from error
        settings = self._settings
        passwords = {
            "password": settings["database.password"],
            "sslpassword": settings["database.sslpassword"],
        }
        given: dict[str, Any] = {
            **{name: settings[f"database.{key}"] for name, key in _SSL.items() if settings[f"database.{key}"]},
            **{name: secret.value for name, secret in passwords.items() if secret is not None},
            **more,
        }
        with self.errors():
            return psycopg.connect(
                host=settings["database.hostname"],
                port=settings["database.port"],
                user=settings["database.user"],
                dbname=self.name,
                autocommit=True,
                client_encoding="utf8",
                connect_timeout=10,
                tcp_user_timeout=30_000,
                keepalives_idle=30,
                application_name=f"penstock {settings['topic.prefix']}",
                options=" ".join(f"-c {option}" for option in _OPTIONS),
                **given,
            )

    def errors(self, doing: str = "") -> AbstractContextManager[None]:
        """Gives errors of the server the meaning they have for the connector."""
        return _translated(self, doing)

    def translated(self, error: psycopg.Error, doing: str) -> ConnectError:
        """The error for one of the driver's."""
        import psycopg

        code = error.sqlstate
        text = str(error)
        if code is None and ("authentication failed" in text or "no pg_hba.conf entry" in text):
            code = "28P01"
        elif code is None and 'database "' in text and "does not exist" in text:
            code = "3D000"
        elif code is None and "must be superuser or replication role" in text:
            code = "42501"
        elif code is None and not isinstance(error, psycopg.OperationalError):
            code = "XX000"
        return self.refused(text, code, doing)

    def refused(self, message: str, code: str | None, doing: str = "") -> ConnectError:
        """The error for what the server said.

        Args:
            message: Its words.
            code: Its code; None if the connection was lost.
            doing: What was tried.
        """
        first = message.strip().partition("\n")[0]
        where = f"PostgreSQL at {self.address}{f', {doing}' if doing else ''}"
        if code is None or code.startswith(_PASSING_CLASSES):
            return RetriableError(f"{where}: {first or 'the connection was lost'}")
        return ConnectError(f"{where}: {first}", hint=_hint(code, first))


@contextmanager
def _translated(database: Database, doing: str) -> Iterator[None]:
    import psycopg

    try:
        yield
    except psycopg.Error as error:
        raise database.translated(error, doing) from error


def _hint(code: str, message: str) -> str:
    if code.startswith("28"):
        return "Check database.user, database.password and the server's pg_hba.conf."
    if code == "3D000":
        return "Check database.dbname."
    if code == "42501":
        return "Give the role what it needs: REPLICATION, SELECT on the tables, and CREATE on the database to publish."
    if code == "42704" and "publication" in message:
        return (
            "Create the publication before the slot: decoding looks it up as of the time of the changes. Drop the slot"
            " and create both, then reset the connector's offsets."
        )
    return ""


def require_version(connection: psycopg.Connection[Any]) -> None:
    """Refuses servers that lack what the connector is made of.

    Raises:
        ConfigError: The server is too old, or its log has not what logical decoding needs.
    """
    version = connection.info.server_version
    if version < 140_000:
        raise ConfigError(
            f"The server is PostgreSQL {version // 10_000}, and the change source needs 14 or newer",
            key="database.hostname",
        )
    row = connection.execute("SHOW wal_level").fetchone()
    assert row is not None
    if row[0] != "logical":
        raise ConfigError(
            f"The server's wal_level is {row[0]}, and its log lacks what logical decoding needs",
            key="database.hostname",
            hint="Set wal_level = logical in postgresql.conf and restart the server.",
        )
