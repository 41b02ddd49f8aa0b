"""A Kafka broker that lives as long as the program that uses it."""

from __future__ import annotations

import subprocess
import tempfile
from collections.abc import Mapping
from pathlib import Path
from types import TracebackType

from typing_extensions import Self

from penstock.broker import errors, ports, process
from penstock.broker.launch import Launch

_PORT_ATTEMPTS = 3


class LocalBroker:
    """A real single-node Kafka for development and tests.

    It ends with the `with` block, and with this process however that one dies.

    Args:
        port: TCP port to listen on; a free one by default.
        data: Folder for topics and logs, kept afterwards; by default a temporary one that is deleted.
        heap: Java's memory limit.
        config: Settings of Kafka's server.properties, on top of penstock's own.
        start_timeout: Seconds to wait until it answers.

    Example:
        >>> with LocalBroker() as broker:  # doctest: +SKIP
        ...     print(broker.bootstrap_servers)
        127.0.0.1:23456
    """

    def __init__(
        self,
        *,
        port: int | None = None,
        data: str | Path | None = None,
        heap: str = "512m",
        config: Mapping[str, str] | None = None,
        start_timeout: float = 120.0,
    ) -> None:
        self._wanted_port = port
        self._temporary = tempfile.TemporaryDirectory(prefix="penstock-broker-") if data is None else None
        folder = Path(self._temporary.name if self._temporary else data or "").absolute()
        self._launch = Launch(folder, port or ports.free_port(), heap, dict(config or {}))
        self._start_timeout = start_timeout
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: process.Watchdog | None = None

    @property
    def bootstrap_servers(self) -> str:
        """The address for clients; stays the same when the broker is restarted."""
        return self._launch.bootstrap_servers

    @property
    def port(self) -> int:
        return self._launch.port

    @property
    def log(self) -> Path:
        """Kafka's log file."""
        return self._launch.log

    @property
    def running(self) -> bool:
        return self._process is not None and self._process.poll() is None

    @property
    def pid(self) -> int | None:
        """Process id of the Java process, None if it does not run."""
        return self._process.pid if self._process is not None and self.running else None

    def start(self) -> Self:
        """Start the broker and return when it answers.

        Raises:
            BrokerError: It cannot be started; the message says why.
            JavaError: There is no Java 17.
            JarError: Kafka's jars cannot be had.
        """
        if self.running:
            raise errors.already_running(self.bootstrap_servers, self.pid or 0)
        for attempt in range(1, _PORT_ATTEMPTS + 1):
            try:
                self._start_once()
                break
            except errors.BrokerError:
                # Somebody took the port between choosing it and listening on it.
                if self._wanted_port or attempt == _PORT_ATTEMPTS or ports.is_free(self.port):
                    raise
                self._launch = Launch(self._launch.folder, ports.free_port(), self._launch.heap, self._launch.config)
        self._wanted_port = self.port
        return self

    def stop(self) -> None:
        """End the broker in an orderly way; data stays for a later start()."""
        self._end(process.stop)

    def kill(self) -> None:
        """End the broker by SIGKILL, as a crash would; data stays for a later start()."""
        self._end(process.kill)

    def restart(self) -> None:
        """Stop the broker if it runs, and start it again with the same address and data."""
        self.stop()
        self.start()

    def close(self) -> None:
        """Stop the broker and delete its folder if that is a temporary one."""
        self.stop()
        if self._temporary is not None:
            self._temporary.cleanup()

    def __enter__(self) -> Self:
        try:
            return self.start()
        except BaseException:
            self.close()
            raise

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def _start_once(self) -> None:
        self._process = self._launch.spawn()
        try:
            self._watchdog = process.Watchdog(
                self._process.pid, delete=self._launch.folder if self._temporary is not None else None
            )
            self._launch.wait(self._process, timeout=self._start_timeout)
        except BaseException:
            self.kill()
            raise

    def _end(self, how: process.Ending) -> None:
        if self._process is not None:
            how(self._process)
            self._process = None
        if self._watchdog is not None:
            self._watchdog.dismiss()
            self._watchdog = None
