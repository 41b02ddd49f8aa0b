"""A single-node HDFS for tests: a real namenode and a real datanode in one JVM, from Hadoop's own minicluster."""

from __future__ import annotations

import importlib.util
import itertools
import os
import shutil
import signal
import subprocess
import tempfile
import time
from pathlib import Path

import requests
from typing_extensions import Self

from penstock.broker.ports import free_port
from penstock.broker.process import Watchdog, log_tail
from penstock.connect.connectors.storage.stores.hdfs import HdfsStore
from penstock.connect.connectors.storage.stores.webhdfs import WebHdfs
from penstock.jars import fetch, require_java

USER = "ingest"
_MANAGER = "org.apache.hadoop.test.MiniDFSClusterManager"
# What the minicluster leaves to others, and PySpark has.
_CLIENT_JARS = ("hadoop-client-", "log4j-", "slf4j-", "jcl-over-slf4j", "commons-logging")
_PATIENCE_SECONDS = 180
_folders = itertools.count(1)


class HdfsServer:
    """HDFS for the length of a `with` block."""

    def __init__(self) -> None:
        self.port = free_port()
        self.url = f"http://127.0.0.1:{self.port}"
        self._process: subprocess.Popen[bytes] | None = None
        self._watchdog: Watchdog | None = None

    def __enter__(self) -> Self:
        self.folder = Path(tempfile.mkdtemp(prefix="penstock-hdfs-"))
        try:
            self._start()
        except BaseException:
            self.__exit__()
            raise
        return self

    def __exit__(self, *_: object) -> None:
        process, self._process = self._process, None
        watchdog, self._watchdog = self._watchdog, None
        if process is not None:
            process.kill()
            process.wait()
        if watchdog is not None:
            watchdog.dismiss()
        shutil.rmtree(self.folder, ignore_errors=True)

    def _start(self) -> None:
        spec = importlib.util.find_spec("pyspark")
        assert spec is not None
        assert spec.origin is not None
        jars = Path(spec.origin).parent / "jars"
        client = [jar for name in _CLIENT_JARS for jar in sorted(jars.glob(f"{name}*.jar"))]
        path = os.pathsep.join(map(str, [*fetch("hdfs"), *client]))
        with (self.folder / "server.log").open("ab") as log:
            self._process = subprocess.Popen(
                [
                    str(require_java()), "-Xmx512m", "-XX:TieredStopAtLevel=1", "-XX:+UseSerialGC",
                    f"-Dtest.build.data={self.folder}/data", f"-Dhadoop.log.dir={self.folder}",
                    "-cp", path, _MANAGER, "-format", "-datanodes", "1", "-httpport", str(self.port),
                    "-D", "dfs.namenode.fs-limits.min-block-size=0", "-D", "dfs.permissions.enabled=true",
                    "-D", "fs.permissions.umask-mode=022",
                ],
                cwd=self.folder, stdin=subprocess.DEVNULL, stdout=log, stderr=log, start_new_session=True,
                env={**os.environ, "HADOOP_USER_NAME": USER},
            )  # fmt: skip
        self._watchdog = Watchdog(self._process.pid, delete=self.folder)
        deadline = time.monotonic() + _PATIENCE_SECONDS
        while not self._is_ready():
            if self._process.poll() is not None or time.monotonic() > deadline:
                raise RuntimeError(f"HDFS does not start: {log_tail(self.folder / 'server.log', lines=20)}")
            time.sleep(0.1)

    def _is_ready(self) -> bool:
        """Whether a file can be written: the namenode answers before it knows its datanode."""
        try:
            WebHdfs([self.url], USER).send("/ready", b"yes")
        except Exception as error:
            if "Retriable" in type(error).__name__ or type(error).__name__ in {"RemoteError", "KeyError"}:
                return False
            raise
        return True

    def pause(self) -> None:
        """It accepts connections and answers nothing."""
        assert self._process is not None
        self._process.send_signal(signal.SIGSTOP)

    def resume(self) -> None:
        assert self._process is not None
        self._process.send_signal(signal.SIGCONT)

    def new_folder(self) -> str:
        """A folder nobody else uses."""
        return f"/lake-{next(_folders)}"

    def config(self, folder: str) -> dict[str, str]:
        """The settings with which a connector reaches a folder."""
        return {"hdfs.url": f"webhdfs://127.0.0.1:{self.port}{folder}", "hdfs.user": USER}

    def files(self, folder: str) -> dict[str, bytes]:
        """The files that count below a folder."""
        store = HdfsStore(WebHdfs([self.url], USER), folder)
        return {path: store.read(path) or b"" for path in self._walk("topics", folder) if "/+tmp/" not in path}

    def _walk(self, at: str, root: str) -> list[str]:
        answer = requests.get(f"{self.url}/webhdfs/v1{root}/{at}", params={"op": "LISTSTATUS"}, timeout=30).json()
        found = []
        for entry in answer.get("FileStatuses", {}).get("FileStatus", []):
            path = f"{at}/{entry['pathSuffix']}"
            found += self._walk(path, root) if entry["type"] == "DIRECTORY" else [path]
        return found
