"""A JVM that dies under its session: how that is noticed, and how this process gets ready for another one.

PySpark keeps its one connection to a JVM in its classes and goes on using it when the JVM is gone. Nothing in it is bound to
the first JVM for good, though: with those fields empty it starts another one.
"""

from __future__ import annotations

import signal
import subprocess
import warnings
from contextlib import suppress
from typing import Any

from py4j.protocol import Py4JNetworkError
from pyspark import SparkContext
from pyspark.sql import SparkSession
from pyspark.sql.context import SQLContext

# Connections to a process break a moment before its end can be seen.
_END_SECONDS = 2.0


class SessionJvm:
    """The JVM of a session.

    Args:
        spark: The session; it has just been made, so that PySpark's connection is to its JVM.
    """

    def __init__(self, spark: SparkSession) -> None:
        self._spark = spark
        self._gateway: Any = SparkContext._gateway  # noqa: SLF001 - there is no public way to it
        # Not getattr: the gateway would ask the JVM for a class of that name.
        self._process: subprocess.Popen[bytes] | None = vars(self._gateway).get("proc")

    @property
    def has_ended(self) -> bool:
        """Whether the JVM is gone. One that spark-submit started cannot be watched: this process ends with it."""
        return self._process is not None and self._process.poll() is not None

    def ended_by(self, error: BaseException) -> bool:
        """Whether a call failed because the JVM is gone; waits a moment for its end to be seen if that is likely."""
        if self._process is not None and isinstance(error, (Py4JNetworkError, OSError)):
            with suppress(subprocess.TimeoutExpired):
                self._process.wait(_END_SECONDS)
        return self.has_ended

    def wait(self) -> str:
        """Wait for its end; returns how it ended."""
        if self._process is None:
            return "ended"
        code = self._process.wait()
        if code >= 0:
            return f"ended with exit code {code}"
        try:
            return f"was ended by {signal.Signals(-code).name}"
        except ValueError:
            return f"was ended by signal {-code}"

    def forget(self) -> None:
        """Let go of a JVM that is gone: the next session of this process starts another one."""
        is_pysparks = SparkContext._gateway is self._gateway  # noqa: SLF001
        if not is_pysparks:
            return  # PySpark is past it, and what it has now is another JVM's
        with warnings.catch_warnings(), suppress(Exception):
            warnings.simplefilter("ignore")  # it may have crashed, says PySpark
            self._spark.sparkContext.stop()
        with suppress(Exception):
            self._gateway.shutdown_callback_server()
        with SparkContext._lock:  # noqa: SLF001 - as stop() does for a JVM that lives
            SparkContext._active_spark_context = None  # noqa: SLF001
            SparkContext._gateway = SparkContext._jvm = None  # noqa: SLF001
        SparkSession._instantiatedSession = None  # noqa: SLF001
        SparkSession._activeSession = None  # noqa: SLF001
        SQLContext._instantiatedContext = None  # noqa: SLF001
