"""Starting Spark while the user's program is still getting ready, and running one small query so that all is loaded.

The first query of a fresh JVM is slow: Spark loads its classes, and starts Python processes to look up the data source, to
plan, and to run tasks. The warm-up's query has the shape of an application's, so the first real query finds all that done
(measured on two busy cores: the first query takes 11 s to its end, the second one 2-3 s).
"""

from __future__ import annotations

import atexit
import logging
import queue
import shutil
import tempfile
import threading
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from penstock.errors import ConfigError

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

    from penstock.spark.lost_jvm import SessionJvm

log = logging.getLogger("penstock.spark")

_LOOK_SECONDS = 0.05
_sessions_lock = threading.Lock()
# The session that this module started last. A process has one at a time.
_shared: _Shared | None = None
# The Spark application whose first query has run.
_warm = ""


class _Shared:
    """A session that was started here; the last application that uses it stops it."""

    def __init__(self, session: SparkSession, jvm: SessionJvm) -> None:
        self._session = session
        self.jvm = jvm
        self.users = 0
        # For applications that nobody closes: a JVM that ends under its session shows tracebacks of PySpark.
        atexit.register(self._stop)

    def is_of(self, context: Any) -> bool:
        """Whether it is the session of a SparkContext."""
        return self._session.sparkContext is context

    def leave(self) -> None:
        """One application less."""
        self.users -= 1
        if self.users == 0 or self.jvm.has_ended:
            self._stop()

    def _stop(self) -> None:
        from py4j.protocol import Py4JError

        atexit.unregister(self._stop)
        if self.jvm.has_ended:
            self.jvm.forget()
            return
        try:
            self._session.stop()
        except (Py4JError, OSError) as error:  # a connection that breaks, or one that cannot be made
            if self.jvm.ended_by(error):
                self.jvm.forget()
            else:
                log.warning("Spark's session could not be stopped: %s", error)


class WarmUp:
    """A session on its way; made by `start_warm_up`."""

    def __init__(self, settings: Mapping[str, Any], existing: SparkSession | None) -> None:
        self._settings = settings
        self._existing = existing
        self._steps: queue.SimpleQueue[str | None] = queue.SimpleQueue()
        self._session: SparkSession | None = None
        self._failure: BaseException | None = None
        self._shared: _Shared | None = None
        self._closing = threading.Event()
        # Not a daemon: a program that ends while Spark starts would leave a half-started JVM and its files.
        self._thread = threading.Thread(target=self._run, name="penstock-warm-up", daemon=False)
        self._thread.start()

    def wait(self, progress: Callable[[str], None] | None = None) -> SparkSession:
        """The session, when it is ready.

        Args:
            progress: Called with a short text for each step.

        Raises:
            PenstockError: Whatever kept Spark from starting.
        """
        while (step := self._steps.get()) is not None:
            # A step that is over already is not worth a word.
            if progress is not None and self._steps.empty():
                progress(step)
        self._steps.put(None)  # for whoever else waits
        if self._failure is not None:
            raise self._failure
        assert self._session is not None
        return self._session

    def close(self) -> None:
        """Give the session back; one that was started here ends with its last user."""
        self._closing.set()
        self._thread.join()
        with _sessions_lock:
            shared, self._shared = self._shared, None
            if shared is not None:
                shared.leave()

    def _run(self) -> None:
        try:
            self._steps.put("starting Spark")
            self._session = self._build()
            if not self._closing.is_set():
                self._load(self._session)
        except BaseException as error:  # noqa: BLE001 - raised again in wait()
            self._failure = error
        self._steps.put(None)

    def _load(self, session: SparkSession) -> None:
        global _warm
        started = session.sparkContext.applicationId
        if _warm != started:
            self._steps.put("starting the first Python workers")
            run_small_query(session, self._closing)
            _warm = started

    def _build(self) -> SparkSession:
        global _shared
        from pyspark import SparkContext

        from penstock.spark.lost_jvm import SessionJvm
        from penstock.spark.session import build_session

        with _sessions_lock:
            if _shared is not None and _shared.jvm.has_ended:
                _shared.jvm.forget()
            running = SparkContext._active_spark_context  # noqa: SLF001 - there is no public way to ask
            session = build_session(self._settings, existing=self._existing)
            if self._existing is not None:
                return session
            if running is None:
                _shared = _Shared(session, SessionJvm(session))
            elif _shared is None or not _shared.is_of(running):
                return session  # one that somebody else started is somebody else's to stop
            _shared.users += 1
            self._shared = _shared
        return session


def start_warm_up(settings: Mapping[str, Any] | None = None, *, existing: SparkSession | None = None) -> WarmUp:
    """Begin to start Spark in the background.

    Args:
        settings: Settings of the application; see `build_session`.
        existing: A running session to use instead.
    """
    # Here and not in the thread: where two threads import PySpark at once, each waits for the other's half, and Python breaks
    # that by handing one of them half a module. The caller then fails with an ImportError of PySpark's own, now and then.
    import pyspark.sql  # noqa: F401

    return WarmUp(settings or {}, existing)


def run_small_query(session: SparkSession, cancelled: threading.Event | None = None) -> None:
    """Run a batch that does nothing in the way an application's does.

    Args:
        session: The session to load.
        cancelled: Ends it early when set.

    Raises:
        ConfigError: The workers lack what tasks need.
    """
    from pyspark.errors import PySparkException
    from pyspark.sql import functions as F  # noqa: N812 - as everybody writes it

    from penstock.spark.rows import METRIC_COLUMNS, SPARK_SCHEMA
    from penstock.spark.warm_up_source import NAME, WarmUpSource, pass_through

    session.dataSource.register(WarmUpSource)
    slots = session.sparkContext.defaultParallelism
    rows = session.readStream.format(NAME).option("slots", slots).load()
    rows = rows.repartitionById(slots, "slot").mapInArrow(pass_through, SPARK_SCHEMA)
    first, *others = (F.sum(name).alias(name) for name in METRIC_COLUMNS)
    rows = rows.observe(NAME, first, *others)
    checkpoint = Path(tempfile.mkdtemp(prefix="penstock-warm-up-"))
    try:
        query = rows.writeStream.format("noop").option("checkpointLocation", checkpoint.as_uri()).start()
        cancelled = cancelled or threading.Event()
        while query.isActive and query.lastProgress is None and not cancelled.wait(_LOOK_SECONDS):
            pass
        failure = query.exception()
        query.stop()
        if failure is not None:
            raise failure
    except PySparkException as error:
        raise _workers_failed(session, error) from error
    finally:
        shutil.rmtree(checkpoint, ignore_errors=True)


def _workers_failed(session: SparkSession, error: Exception) -> ConfigError:
    lines = [line.strip() for line in str(error).splitlines() if "Error: " in line]
    reason = lines[-1] if lines else str(error).strip().partition("\n")[0]
    return ConfigError(
        f"the Python workers of Spark at {session.sparkContext.master} cannot run penstock: {reason}",
        hint="Install what penstock depends on in the workers' Python, or send it with spark.archives; see docs/clusters.md",
    )
