"""MariaDB for tests; MySQL's protocol and dialect."""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import Any, ClassVar

from tests.servers.server import HOST, DatabaseServer, find_program


class MariaDBServer(DatabaseServer):
    """MariaDB with a binary log of rows; nothing is synced to disk."""

    NAME: ClassVar[str] = "mariadb"
    STOP: ClassVar[signal.Signals] = signal.SIGTERM

    def _init_commands(self) -> Sequence[Sequence[str]]:
        # Run at each start: the users' own way in, without a root that needs a socket.
        (self.folder / "init.sql").write_text(
            f"CREATE USER IF NOT EXISTS '{self.user}'@'%' IDENTIFIED BY '{self.password}';\n"
            f"GRANT ALL ON *.* TO '{self.user}'@'%' WITH GRANT OPTION;\n"
        )
        install = find_program("mariadb-install-db", "/usr/bin/mariadb-install-db")
        return [[install, "--no-defaults", f"--datadir={self.data}", "--skip-test-db"]]

    def _command(self) -> Sequence[str]:
        settings = {
            "datadir": str(self.data),
            "bind-address": HOST,
            "port": str(self.port),
            "socket": str(self.folder / "mariadb.sock"),
            "pid-file": str(self.folder / "mariadb.pid"),
            "init-file": str(self.folder / "init.sql"),
            "character-set-server": "utf8mb4",
            "default-time-zone": "+00:00",
            "innodb-buffer-pool-size": "64M",
            "innodb-log-file-size": "32M",
            "innodb-flush-log-at-trx-commit": "2",  # written, not synced
            "innodb-flush-method": "nosync",
            "sync-binlog": "0",
            "server-id": "1",
            "log-bin": "binlog",
            "binlog-format": "ROW",
            "binlog-row-image": "FULL",
            "binlog-row-metadata": "FULL",
        }
        mariadbd = find_program("mariadbd", "/usr/sbin/mariadbd")
        flags = ["--no-defaults", "--skip-name-resolve", "--skip-log-error"]
        return [mariadbd, *flags, *(f"--{name}={value}" for name, value in settings.items())]

    def connect(self, database: str | None = None) -> Any:
        import pymysql

        return pymysql.connect(
            host=HOST,
            port=self.port,
            user=self.user,
            password=self.password,
            database=database,
            autocommit=True,
            connect_timeout=5,
        )

    def jdbc_url(self, database: str) -> str:
        return f"jdbc:mariadb://{HOST}:{self.port}/{database}"
