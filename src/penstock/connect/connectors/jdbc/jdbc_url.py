"""connection.url: JDBC's forms of it as URLs of SQLAlchemy."""

from __future__ import annotations

import logging
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, quote, unquote

from sqlalchemy.engine import URL, make_url
from sqlalchemy.exc import ArgumentError

from penstock.connect.connectors.jdbc.connection_keys import CONNECTION_URL
from penstock.connect.errors import ConfigError

log = logging.getLogger("penstock.connect")

POSTGRESQL, MYSQL, SQLITE = "postgresql", "mysql", "sqlite"
_DRIVERS = {POSTGRESQL: "postgresql+psycopg", MYSQL: "mysql+pymysql", "mariadb": "mysql+pymysql"}
_PORTS = {POSTGRESQL: 5432, MYSQL: 3306}
_CONNECT_SECONDS = 10
_HINT = (
    "Give jdbc:postgresql://host:port/db, jdbc:mysql://host:port/db, jdbc:mariadb://host:port/db, jdbc:sqlite:/path, "
    "or a URL of SQLAlchemy (dialect+driver://host:port/db)."
)


def engine_url(text: str) -> tuple[URL, dict[str, Any]]:
    """What SQLAlchemy connects to, and arguments for the driver.

    >>> engine_url("jdbc:postgresql://db.example:5433/shop?user=me")[0].render_as_string()
    'postgresql+psycopg://me@db.example:5433/shop'

    Raises:
        ConfigError: The URL is none, or of a database without a driver here. Its text is not shown: it may hold a password.
    """
    if text.startswith("jdbc:"):
        return _jdbc(text.removeprefix("jdbc:"))
    try:
        url = make_url(text)
    except (ArgumentError, ValueError):
        raise ConfigError(f"The setting {CONNECTION_URL} is not a URL", key=CONNECTION_URL, hint=_HINT) from None
    if url.get_backend_name() == SQLITE:
        return _sqlite(url.database or "")
    url = url.set(drivername=_DRIVERS.get(url.drivername, url.drivername))
    return url, _default_arguments(url.get_backend_name())


def _jdbc(text: str) -> tuple[URL, dict[str, Any]]:
    backend, _, rest = text.partition(":")
    if backend == SQLITE:
        return _sqlite(rest.partition("?")[0])
    if backend not in _DRIVERS or not rest.startswith("//"):
        raise ConfigError(f"No driver for jdbc:{backend} in {CONNECTION_URL}", key=CONNECTION_URL, hint=_HINT)
    kind = POSTGRESQL if backend == POSTGRESQL else MYSQL
    rest, _, query = rest.removeprefix("//").partition("?")
    hosts, _, database = rest.partition("/")
    properties = dict(parse_qsl(query, keep_blank_values=True))
    user, password = properties.pop("user", None), properties.pop("password", None)
    names, ports = _hosts(hosts, _PORTS[kind])
    arguments = {**_default_arguments(kind), **_arguments(kind, properties)}
    url = URL.create(_DRIVERS[backend], user, password, database=unquote(database) or None)
    if len(names) == 1:
        return url.set(host=names[0], port=int(ports[0])), arguments
    if kind is not POSTGRESQL:
        raise ConfigError(f"Several hosts in {CONNECTION_URL} are possible for PostgreSQL only", key=CONNECTION_URL)
    return url, {**arguments, "host": ",".join(names), "port": ",".join(ports)}


def _hosts(text: str, port: int) -> tuple[list[str], list[str]]:
    names, ports = [], []
    for one in text.split(","):
        if one.startswith("["):  # an IPv6 address
            name, _, rest = one[1:].partition("]")
            given = rest.removeprefix(":")
        else:
            name, _, given = one.partition(":")
        if given and not given.isdigit():
            raise ConfigError(f"The port in {CONNECTION_URL} is not a number", key=CONNECTION_URL, hint=_HINT)
        names.append(name or "localhost")
        ports.append(given or str(port))
    return names, ports


def _sqlite(path: str) -> tuple[URL, dict[str, Any]]:
    path = path.removeprefix("file:")
    if path in {"", ":memory:"}:
        raise ConfigError(
            f"{CONNECTION_URL} names a SQLite database in memory, which other processes cannot see",
            key=CONNECTION_URL,
            hint="Give the path of a file: jdbc:sqlite:/path.",
        )
    return URL.create(SQLITE, database=path), {"timeout": 10}


def existing_file(url: URL) -> URL:
    """The URL for a file of SQLite that must be there: SQLite itself makes an empty one, wherever a path was mistyped."""
    path = quote(str(Path(url.database or "").absolute()))
    return url.set(database=f"file://{path}", query={"mode": "rw", "uri": "true"})


def _default_arguments(kind: str) -> dict[str, Any]:
    """A server that is cut off is noticed: connecting ends after a while, and so does waiting for one that is gone."""
    if kind == POSTGRESQL:
        alive = {"keepalives_idle": 30, "keepalives_interval": 10, "keepalives_count": 3, "tcp_user_timeout": 60_000}
        return {"connect_timeout": _CONNECT_SECONDS, "application_name": "penstock", **alive}
    if kind in {MYSQL, "mariadb"}:
        return {"connect_timeout": _CONNECT_SECONDS, "charset": "utf8mb4"}
    return {}


def _seconds_of_millis(text: str) -> int | None:
    return max(1, int(text) // 1000) if int(text) else None


def _ssl_mode(text: str) -> dict[str, Any]:
    mode = text.lower().replace("-", "_")
    if mode in {"disable", "disabled", "false", "preferred"}:
        return {}
    if mode in {"verify_ca", "verify_identity", "verify_full"}:
        return {"ssl_verify_cert": True, "ssl_verify_identity": mode != "verify_ca"}
    return {"ssl": {}, "ssl_verify_cert": False, "ssl_verify_identity": False}


_Property = Callable[[str], Mapping[str, Any]]
_POSTGRESQL: dict[str, _Property] = {
    "currentSchema": lambda text: {"options": f"-csearch_path={text}"},
    "ApplicationName": lambda text: {"application_name": text},
    "connectTimeout": lambda text: {"connect_timeout": int(text)},
    "socketTimeout": lambda text: {"tcp_user_timeout": int(text) * 1000},
    "ssl": lambda text: {"sslmode": "require"} if text.lower() in {"", "true"} else {},
    **{name: (lambda text, name=name: {name: text}) for name in ("sslmode", "sslrootcert", "sslcert", "sslkey", "options")},  # type: ignore[misc]
}  # fmt: skip
_MYSQL: dict[str, _Property] = {
    "connectTimeout": lambda text: {"connect_timeout": _seconds_of_millis(text) or _CONNECT_SECONDS},
    "socketTimeout": lambda text: {"read_timeout": _seconds_of_millis(text), "write_timeout": _seconds_of_millis(text)},
    "sslMode": _ssl_mode,
    "useSSL": _ssl_mode,
    "useSsl": _ssl_mode,
    "sslCa": lambda text: {"ssl_ca": text},
    "serverSslCert": lambda text: {"ssl_ca": text},
}


def _arguments(kind: str, properties: Mapping[str, str]) -> dict[str, Any]:
    """The driver's arguments for properties of a JDBC URL."""
    known = _POSTGRESQL if kind == POSTGRESQL else _MYSQL
    found: dict[str, Any] = {}
    for name, text in properties.items():
        if name not in known:
            # Most are about Java: prefetching, character sets, time zones of the virtual machine.
            log.warning("The property %r of %s has no effect here", name, CONNECTION_URL)
            continue
        try:
            found.update(known[name](text))
        except ValueError:
            raise ConfigError(f"The property {name} of {CONNECTION_URL} is not a number", key=CONNECTION_URL) from None
    return found
