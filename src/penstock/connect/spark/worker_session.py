"""The Spark session of a worker: started when a connector needs it, and anew when its JVM has died."""

from __future__ import annotations

import logging
import threading
from collections.abc import Mapping
from typing import TYPE_CHECKING

from penstock.connect.errors import RetriableError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.spark.lost_jvm import SessionJvm

log = logging.getLogger("penstock.connect")

# Connectors mostly wait for other systems: more of them may do so than there are cores.
_SPARK = {"spark.master": "local[32,4]", "spark.app.name": "penstock-connect", "spark.scheduler.mode": "FAIR"}


class SessionLost(RetriableError):
    """The JVM of the session died under a connector. Nothing is lost with it: another session goes on."""

    def __init__(self) -> None:
        super().__init__(
            "Spark's JVM died; the connector goes on in a new one",
            hint="If this comes again and again, look for OutOfMemoryError in the log and raise spark.driver.memory.",
        )


class WorkerSession:
    """Gives connectors a session that lives.

    Args:
        worker: The worker's settings; those that start with `spark.` are for Spark.
        given: A session of somebody else, which is neither replaced nor stopped.
    """

    def __init__(self, worker: Mapping[str, str], given: SparkSession | None = None) -> None:
        self._settings = {**_SPARK, **{key: value for key, value in worker.items() if key.startswith("spark.")}}
        self._given = given
        self._lock = threading.Lock()
        self._spark: SparkSession | None = None
        self._jvm: SessionJvm | None = None
        self._closing = False

    def get(self) -> SparkSession:
        """The session; waits until there is one.

        Raises:
            JavaError: No JVM can be started.
        """
        if self._given is not None:
            return self._given
        with self._lock:
            if self._jvm is not None and self._jvm.has_ended:
                self._jvm.forget()
                self._spark = self._jvm = None
            if self._spark is None:
                self._spark, self._jvm = self._start()
            return self._spark

    def _start(self) -> tuple[SparkSession, SessionJvm]:
        from penstock.spark.lost_jvm import SessionJvm
        from penstock.spark.session import build_session

        self._closing = False
        spark = build_session(self._settings)
        jvm = SessionJvm(spark)
        threading.Thread(target=self._watch, args=(jvm,), name="penstock-spark-jvm", daemon=True).start()
        return spark, jvm

    def _watch(self, jvm: SessionJvm) -> None:
        how = jvm.wait()
        if not self._closing:
            log.error("Spark's JVM %s. Connectors go on in a new one, as soon as they have something to do.", how)

    def is_lost(self, spark: SparkSession, error: BaseException) -> bool:
        """Whether something failed because the JVM of its session is gone."""
        jvm = self._jvm
        if spark is not self._spark or jvm is None:
            return self._given is None
        return jvm.ended_by(error)

    def close(self) -> None:
        """End the session, unless it is somebody else's."""
        self._closing = True
        with self._lock:
            spark, jvm, self._spark, self._jvm = self._spark, self._jvm, None, None
        if spark is None or jvm is None:
            return
        if jvm.has_ended:
            jvm.forget()
        else:
            spark.stop()
