"""OpenSearch for tests: the real server, one node, started from its jars."""

from __future__ import annotations

import shutil
import subprocess
import tempfile
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import httpx
from typing_extensions import Self

from penstock.broker import process
from penstock.broker.ports import free_port
from penstock.jars import fetch, require_java

VERSION = "2.19.6"
_HOST = "127.0.0.1"
_PATIENCE_SECONDS = 180
_MODULE = f"""
name=transport-netty4
description=HTTP and transport with Netty
version={VERSION}
opensearch.version={VERSION}
java.version=11
classname=org.opensearch.transport.Netty4Plugin
"""
_LOG = """
rootLogger.level = warn
appender.console.type = Console
appender.console.name = console
appender.console.layout.type = PatternLayout
appender.console.layout.pattern = %d %p %c %m%n
rootLogger.appenderRef.console.ref = console
"""
_JVM = (
    *("-Xms512m", "-Xmx512m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-Xshare:auto"),
    "-Djava.security.manager=allow",
    # Without JNA's own library the server cannot look who runs it, and refuse root: containers run tests as root.
    *("-Djna.nosys=true", "-Djna.nounpack=true", "-Djna.noclasspath=true"),
)


class OpenSearchServer:
    """A node with its data in a folder of its own, for the length of a `with` block. It can be stopped and started again.

    Args:
        settings: Settings of opensearch.yml beside the usual ones.
    """

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        self.port = free_port()
        self.url = f"http://{_HOST}:{self.port}"
        self.folder = Path(tempfile.mkdtemp(prefix="penstock-opensearch-"))
        self.log = self.folder / "opensearch.log"
        self._settings = settings or {}
        self._process: subprocess.Popen[bytes] | None = None
        self._classpath: list[str] = []
        self._lay_out()
        self.http = httpx.Client(base_url=self.url, timeout=60, trust_env=False)

    def _lay_out(self) -> None:
        config, module = self.folder / "config", self.folder / "modules" / "transport-netty4"
        for folder in (config, module, self.folder / "plugins"):
            folder.mkdir(parents=True)
        for jar in fetch("opensearch"):
            if jar.name.startswith(("netty-", "transport-netty4")):
                # The security manager allows files of this folder, and what is linked to from it does not count.
                shutil.copy(jar, module)
            else:
                self._classpath.append(str(jar))
        (module / "plugin-descriptor.properties").write_text(_MODULE)
        (module / "plugin-security.policy").write_text("grant { permission java.security.AllPermission; };")
        (config / "log4j2.properties").write_text(_LOG)
        settings = {
            "cluster.name": "test",
            "node.name": "test",
            "discovery.type": "single-node",
            "network.host": _HOST,
            "http.port": self.port,
            "transport.port": free_port(),
            "path.data": self.folder / "data",
            "path.logs": self.folder / "logs",
            "cluster.routing.allocation.disk.threshold_enabled": "false",
            "action.destructive_requires_name": "false",
            **self._settings,
        }
        (config / "opensearch.yml").write_text("".join(f"{name}: {value}\n" for name, value in settings.items()))

    def __enter__(self) -> Self:
        try:
            self.spawn()
            self.wait()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        self.http.close()
        if self._process is not None:
            self.kill()
        shutil.rmtree(self.folder, ignore_errors=True)

    def spawn(self) -> None:
        """Start the process; it answers some seconds later, see `wait`."""
        home = f"-Dopensearch.path.home={self.folder}"
        config = f"-Dopensearch.path.conf={self.folder / 'config'}"
        java = [str(require_java()), *_JVM, home, config, "-cp", ":".join(self._classpath)]
        command = [*java, "org.opensearch.bootstrap.OpenSearch"]
        self._process = process.spawn(command, log=self.log, folder=self.folder)
        self._watchdog = process.Watchdog(self._process.pid, delete=self.folder)

    def wait(self) -> None:
        """Until it answers."""
        assert self._process is not None
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while time.monotonic() < deadline:
            if self._process.poll() is not None:
                raise RuntimeError(f"OpenSearch ended with {self._process.returncode}: {process.log_tail(self.log)}")
            try:
                if self.http.get("/_cluster/health").json()["status"] in {"green", "yellow"}:
                    return
            except httpx.TransportError:
                pass
            time.sleep(0.1)
        raise TimeoutError(f"OpenSearch does not answer: {process.log_tail(self.log)}")

    def kill(self) -> None:
        """End it at once, as a power failure would; what it has acknowledged is on disk."""
        assert self._process is not None
        self._watchdog.dismiss()
        process.kill(self._process)
        self._process = None

    def call(self, method: str, path: str, body: Any = None) -> Any:
        """A request as a user makes it; it must succeed."""
        response = self.http.request(method, path, json=body)
        assert response.status_code in {200, 201}, response.text
        return response.json() if response.content else None

    def documents(self, index: str) -> dict[str, Any]:
        """The documents of an index or data stream by their ids."""
        self.call("POST", f"/{index}/_refresh")
        hits = self.call("GET", f"/{index}/_search?size=10000")["hits"]["hits"]
        return {hit["_id"]: hit["_source"] for hit in hits}

    def count(self, index: str) -> int:
        """How many documents an index has."""
        self.call("POST", f"/{index}/_refresh")
        return int(self.call("GET", f"/{index}/_count")["count"])
