"""PostgreSQL for tests."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from pathlib import Path
from typing import Any, ClassVar

from tests.servers.server import HOST, DatabaseServer, find_program

_WHERE = "/usr/lib/postgresql/*/bin/{name}"


class PostgresServer(DatabaseServer):
    """PostgreSQL with logical decoding and password authentication; nothing is synced to disk."""

    NAME: ClassVar[str] = "postgres"
    STOP: ClassVar[signal.Signals] = signal.SIGINT  # SIGTERM would wait for clients to leave

    def _init_commands(self) -> Sequence[Sequence[str]]:
        password: Path = self.folder / "password"
        password.write_text(self.password)
        password.chmod(0o644)
        initdb = find_program("initdb", _WHERE.format(name="initdb"))
        options = ["--no-sync", "--encoding=UTF8", "--locale=C", "--auth=scram-sha-256", f"--pwfile={password}"]
        return [[initdb, f"--pgdata={self.data}", f"--username={self.user}", *options]]

    def _command(self) -> Sequence[str]:
        settings = {
            "listen_addresses": HOST,
            "port": str(self.port),
            "unix_socket_directories": "",
            "wal_level": "logical",
            "max_wal_senders": "10",
            "max_replication_slots": "20",
            "max_connections": "100",
            "shared_buffers": "32MB",
            "fsync": "off",
            "synchronous_commit": "on",  # written, not synced: nothing is lost by a crash of the server alone
            "full_page_writes": "off",
            "timezone": "UTC",
        }
        postgres = find_program("postgres", _WHERE.format(name="postgres"))
        return [postgres, "-D", str(self.data), *(f"--{name}={value}" for name, value in settings.items())]

    def connect(self, database: str | None = None) -> Any:
        import psycopg

        return psycopg.connect(
            host=HOST,
            port=self.port,
            user=self.user,
            password=self.password,
            dbname=database or "postgres",
            autocommit=True,
            connect_timeout=5,
        )

    def jdbc_url(self, database: str) -> str:
        return f"jdbc:postgresql://{HOST}:{self.port}/{database}"

    def drop_database(self, name: str) -> None:
        self.execute(f"DROP DATABASE IF EXISTS {name} WITH (FORCE)")
