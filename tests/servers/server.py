"""Database servers for tests: real ones, with a private data folder, on a free port of the loopback interface."""

from __future__ import annotations

import itertools
import os
import pwd
import shutil
import signal
import subprocess
import tempfile
import time
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

import pytest
from typing_extensions import Self

from penstock.broker.ports import free_port
from penstock.broker.process import Watchdog, log_tail

HOST = "127.0.0.1"
USER = "penstock"
PASSWORD = "sw0rdf1sh"
# PostgreSQL waits a minute for a follower that does not listen before it ends.
_PATIENCE_SECONDS = 180
_databases = itertools.count(1)


class DatabaseServer(ABC):
    """A server for the length of a `with` block; the same port and data after `stop` and `start`.

    It runs as an unprivileged user if the tests are root's, and ends with the tests' process, in whatever way that ends.

    Attributes:
        port: Where it listens, on 127.0.0.1.
        user: A user who may do everything.
        password: That user's password.
    """

    NAME: ClassVar[str]
    STOP: ClassVar[signal.Signals]

    def __init__(self) -> None:
        self.port = free_port()
        self.user = USER
        self.password = PASSWORD
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: Watchdog | None = None

    @abstractmethod
    def _init_commands(self) -> Sequence[Sequence[str]]:
        """What makes the data folder."""

    @abstractmethod
    def _command(self) -> Sequence[str]:
        """What runs the server."""

    @abstractmethod
    def connect(self, database: str | None = None) -> Any:
        """A DB-API connection of the server's own driver; each statement commits."""

    @abstractmethod
    def jdbc_url(self, database: str) -> str:
        """What a connector has as connection.url; user and password are settings of their own."""

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix=f"penstock-{self.NAME}-"))
        self.data = self.folder / "data"
        try:
            if os.geteuid() == 0:
                account = pwd.getpwnam("nobody")
                os.chown(self.folder, account.pw_uid, account.pw_gid)
            for command in self._init_commands():
                with self._log().open("ab") as log:
                    done = subprocess.run(command, stdout=log, stderr=log, check=False, **self._account())
                if done.returncode:
                    raise RuntimeError(f"{command[0]} ended with {done.returncode}: {log_tail(self._log(), lines=20)}")
            self.start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def start(self) -> None:
        """Start it, on the same port as before, and wait until it answers."""
        assert self._process is None, "it runs"
        with self._log().open("ab") as log:
            self._process = subprocess.Popen(
                self._command(),
                cwd=self.folder,
                stdin=subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                start_new_session=True,
                **self._account(),
            )
        self._watchdog = Watchdog(self._process.pid, delete=self.folder)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._answers():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"{self.NAME} does not start: {log_tail(self._log(), lines=20)}")
            time.sleep(0.05)

    def stop(self) -> None:
        """Shut it down; connections are closed by the server."""
        self._end(self.STOP)

    def kill(self) -> None:
        """End it as a crash would."""
        self._end(signal.SIGKILL)

    def _end(self, how: signal.Signals) -> None:
        process, self._process = self._process, None
        watchdog, self._watchdog = self._watchdog, None
        try:
            if process is not None:
                process.send_signal(how)
                process.wait(_PATIENCE_SECONDS)
        finally:
            if process is not None:
                process.kill()
                process.wait()
            if watchdog is not None:
                watchdog.dismiss()

    def create_database(self) -> str:
        """A database nobody else uses; its name."""
        name = f"db_{os.getpid()}_{next(_databases)}"
        self.execute(f"CREATE DATABASE {name}")
        return name

    def drop_database(self, name: str) -> None:
        """Drop a database, whoever is connected to it."""
        self.execute(f"DROP DATABASE IF EXISTS {name}")

    def execute(self, *statements: str, database: str | None = None) -> None:
        """Run statements, each in a transaction of its own."""
        with closing(self.connect(database)) as connection, closing(connection.cursor()) as cursor:
            for statement in statements:
                cursor.execute(statement)

    def query(self, statement: str, *, database: str | None = None) -> list[tuple[Any, ...]]:
        """The rows of a query."""
        with closing(self.connect(database)) as connection, closing(connection.cursor()) as cursor:
            cursor.execute(statement)
            return list(cursor.fetchall())

    def _answers(self) -> bool:
        try:
            self.connect().close()
        except Exception as error:
            if type(error).__name__ != "OperationalError":
                raise
            return False
        return True

    def _log(self) -> Path:
        return self.folder / "server.log"

    def _account(self) -> dict[str, Any]:
        """Arguments for a process that is not root's: PostgreSQL and MariaDB refuse to be."""
        # MariaDB removes all temporary tables that it finds when it starts, also those of servers beside it.
        env = {**os.environ, "HOME": str(self.folder), "TMPDIR": str(self.folder)}
        if os.geteuid() != 0:
            return {"env": env}
        account = pwd.getpwnam("nobody")
        return {"user": account.pw_uid, "group": account.pw_gid, "extra_groups": [], "env": env}


def find_program(name: str, *patterns: str) -> str:
    """The path of a server's program: from PATH, or else the newest in the folders where Debian puts it.

    A test that needs it is skipped if it is missing; in CI it fails.
    """
    found = shutil.which(name)
    if found is not None:
        return found
    paths: list[Path] = [path for pattern in patterns for path in Path("/").glob(pattern.lstrip("/"))]
    version: Callable[[Path], list[int]] = lambda path: [int(part) for part in path.parts if part.isdigit()]  # noqa: E731
    if not paths:
        leave = pytest.fail if os.environ.get("CI") else pytest.skip
        leave(f"{name} is not installed. Run: make servers")
    return str(max(paths, key=version))
