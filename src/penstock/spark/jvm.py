"""Starting Spark's JVM so that a user's terminal shows what matters, and ending it so that nothing stays."""

from __future__ import annotations

import atexit
import contextlib
import os
import re
import subprocess
import sys
import threading
from collections import deque
from typing import Any

from py4j.clientserver import SHUTDOWN_FINALIZER_WORKER, FinalizerWorker
from pyspark import SparkConf
from pyspark.errors import PySparkRuntimeError
from pyspark.java_gateway import launch_gateway

from penstock.jars import JavaError
from penstock.spark.class_archive import ClassArchive

# Spark 4 adds the module itself, and Java has no option to keep quiet about it.
_NOISE = re.compile(r"^WARNING: Using incubator modules: |^NOTE: Picked up J|^Picked up J(DK|AVA)")
# It may be writing the archive of its classes, 2-3 s on an idle machine.
_END_TIMEOUT = 60.0
_LAST_CALL_SECONDS = 5.0


def launch_jvm(conf: SparkConf, archive: ClassArchive) -> Any:
    """Start the JVM of a session; returns PySpark's gateway to it.

    Args:
        conf: The session's settings.
        archive: Where a first JVM leaves its classes for the next one.

    Raises:
        JavaError: The JVM ended at once; the message has its last words.
    """
    relay = _Relay()
    try:
        gateway: Any = launch_gateway(conf, {"stderr": relay.write_end})  # type: ignore[no-untyped-call]
    except PySparkRuntimeError as error:
        relay.close_write_end()
        raise JavaError(
            f"Spark's JVM did not start: {relay.last_words()}",
            hint="Check spark.driver.memory, spark.driver.extraJavaOptions and JAVA_TOOL_OPTIONS",
        ) from error
    relay.close_write_end()
    relay.release()
    atexit.register(_end, gateway, relay, archive)
    return gateway


def _end(gateway: Any, relay: _Relay, archive: ClassArchive) -> None:
    """Wait for the JVM at the end of the program: it deletes its temporary files when its input closes."""
    process: subprocess.Popen[bytes] | None = gateway.proc
    if process is None or process.poll() is not None:
        return
    try:
        _stop_releasing(gateway._gateway_client)  # noqa: SLF001 - py4j has no public way
        if process.stdin is not None:
            with contextlib.suppress(OSError):
                process.stdin.close()
        process.wait(_END_TIMEOUT)
        archive.keep()
    except (subprocess.TimeoutExpired, KeyboardInterrupt):  # whoever presses Ctrl-C here wants the prompt back
        process.kill()
        process.wait()
    relay.join()


def _stop_releasing(client: Any) -> None:
    """Tell the JVM of no more objects that Python let go.

    A thread of py4j does that some time later. One that is under way when the JVM ends would show a traceback to a user
    whose program is over.
    """
    client.is_connected = False
    client.finalizer_deque.append(SHUTDOWN_FINALIZER_WORKER)
    for thread in threading.enumerate():
        if isinstance(thread, FinalizerWorker) and thread.deque is client.finalizer_deque:
            thread.join(_LAST_CALL_SECONDS)


class _Relay:
    """Passes the JVM's stderr on to Python's.

    The workers' prints come this way, too: through `sys.stderr` they reach a notebook as well as a terminal.
    Lines of the start are held back: if it fails they are the reason, which belongs into the error.
    """

    def __init__(self) -> None:
        self._read_end, self.write_end = os.pipe()
        self._held: deque[str] | None = deque(maxlen=50)
        self._lock = threading.Lock()
        self._thread = threading.Thread(target=self._run, name="penstock-spark-stderr", daemon=True)
        self._thread.start()

    def close_write_end(self) -> None:
        os.close(self.write_end)

    def release(self) -> None:
        """From now on lines are passed on at once."""
        with self._lock:
            held, self._held = self._held or (), None
        for line in held:
            _write(line)

    def join(self) -> None:
        """Wait for the last line; the JVM has ended."""
        self._thread.join(5)

    def last_words(self) -> str:
        self.join()
        said = [line.strip() for line in self._held or () if line.strip()]
        return " / ".join(said[-5:]) or "it said nothing"

    def _run(self) -> None:
        with os.fdopen(self._read_end, "rb") as lines:
            for line in lines:
                text = line.decode(errors="replace")
                if _NOISE.match(text):
                    continue
                with self._lock:
                    if self._held is not None:
                        self._held.append(text)
                        continue
                _write(text)


def _write(text: str) -> None:
    # At the end of the program the stream may be closed already.
    with contextlib.suppress(OSError, ValueError, AttributeError):
        sys.stderr.write(text)
        sys.stderr.flush()
