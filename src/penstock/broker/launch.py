"""One start of Kafka in a folder: write its files, format its storage, spawn it, wait until it answers."""

from __future__ import annotations

import subprocess
import time
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from penstock.broker import errors, ports, probe, process, settings
from penstock.jars import fetch, require_java


@dataclass(frozen=True, slots=True)
class Launch:
    """How to start a broker."""

    folder: Path
    """Holds data/, server.properties and kafka.log."""
    port: int
    heap: str = "512m"
    config: Mapping[str, str] = field(default_factory=dict)
    """Settings of server.properties on top of penstock's own."""

    @property
    def bootstrap_servers(self) -> str:
        return f"{settings.HOST}:{self.port}"

    @property
    def log(self) -> Path:
        return self.folder / "kafka.log"

    def spawn(self) -> subprocess.Popen[bytes]:
        """Start the process without waiting for it.

        Raises:
            BrokerError: The port is in use, or the data folder cannot be formatted.
            JavaError: There is no Java 17.
            JarError: Kafka's jars cannot be had.
        """
        if not ports.is_free(self.port):
            raise errors.port_in_use(self.port)
        java = [str(require_java()), "-cp", ":".join(str(jar) for jar in fetch("broker"))]
        self._write_files()
        self._format(java)
        logging = f"-Dlog4j2.configurationFile={self.folder / 'log4j2.properties'}"
        command = [*java, f"-Xmx{self.heap}", *settings.BROKER_JVM_OPTIONS, logging, "kafka.Kafka", self._properties]
        return process.spawn(command, log=self.log, folder=self.folder)

    def wait(self, broker: subprocess.Popen[bytes], *, timeout: float) -> None:
        """Return when the broker answers a request.

        Raises:
            BrokerError: It died, or did not answer in time.
        """
        deadline = time.monotonic() + timeout
        while time.monotonic() < deadline:
            if broker.poll() is not None:
                raise errors.died_at_start(broker.returncode, self.log, process.log_tail(self.log))
            # A listening port is cheap to see; asking earlier only makes librdkafka back off.
            # And an answer that comes late must still be heard: a new broker on a busy machine takes its time.
            patience = max(1.0, min(10.0, deadline - time.monotonic()))
            if ports.is_open(self.port) and probe.answers(self.bootstrap_servers, timeout=patience):
                return
            time.sleep(0.05)
        raise errors.not_ready(timeout, self.log, process.log_tail(self.log))

    @property
    def _properties(self) -> str:
        return str(self.folder / "server.properties")

    def _write_files(self) -> None:
        data = self.folder / "data"
        try:
            data.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise errors.unusable_folder(self.folder, error.strerror or str(error)) from error
        text = settings.server_properties(
            port=self.port, controller_port=ports.free_port(), data=str(data), overrides=self.config
        )
        Path(self._properties).write_text(text)
        (self.folder / "log4j2.properties").write_text(settings.LOG4J2)
        self.log.write_bytes(b"")

    def _format(self, java: list[str]) -> None:
        if (self.folder / "data" / "meta.properties").exists():
            return
        tool = ["kafka.tools.StorageTool", "format", "-t", settings.CLUSTER_ID, "-c", self._properties]
        done = subprocess.run(
            [*java, *settings.FORMAT_JVM_OPTIONS, *tool],
            cwd=self.folder,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            check=False,
        )
        if done.returncode != 0:
            self.log.write_bytes(done.stdout)
            raise errors.cannot_format(self.log, process.log_tail(self.log))
