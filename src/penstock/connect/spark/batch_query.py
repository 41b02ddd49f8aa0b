"""The streaming query of a connector: a batch is a list of plans, one Spark task runs each of them.

The query's source is Spark's own in-memory stream. Where a connector stands is kept elsewhere, with its target or in Kafka, so
nothing is lost with it; and a query that has nothing to do costs no process and next to no processor time, which is what
most of the connectors of a worker do most of the time (measured: 50 idle queries take 6 % of a core and 50 MB together;
with a Python data source each would have a process of its own).
"""

from __future__ import annotations

import logging
import queue
import shutil
import tempfile
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import orjson
import pyarrow as pa
from pyspark.sql import DataFrame
from pyspark.sql.streaming.query import StreamingQuery

from penstock.connect.errors import ConnectError
from penstock.connect.spark.reports import Plan, Report
from penstock.connect.spark.task_client import run_in_task
from penstock.connect.spark.worker_session import SessionLost, WorkerSession
from penstock.spark.resident import set_aside_once

log = logging.getLogger("penstock.connect")

INTERVAL = "20 milliseconds"
_LOOK_SECONDS = 1.0
_RowFunction = Callable[[Iterator[pa.RecordBatch]], Iterator[pa.RecordBatch]]


class BatchQuery:
    """Runs batches of one connector, in one session: when its JVM dies, another query in another session goes on.

    Args:
        session: Gives the session.
        name: The connector's name, which Spark shows.
        run: This start of the connector.
        encoded: What tasks need to know.
    """

    def __init__(self, session: WorkerSession, name: str, run: str, encoded: str) -> None:
        self._session = session
        self._spark = session.get()
        self._name = name
        # With the run in it: the query of the last start may still be ending.
        self._title = f"{name} {run[:8]}"
        self._tasks = _rows_of(run, encoded)
        self._outcomes: queue.SimpleQueue[list[Report] | Exception] = queue.SimpleQueue()
        self._slots = 1
        self._checkpoint: Path | None = None
        self._stream: Any = None
        self._query: StreamingQuery | None = None

    def run(self, plans: list[Plan]) -> list[Report]:
        """Run a batch and wait for it.

        Raises:
            SessionLost: The JVM died.
            ConnectError: Spark could not run it, or the query was stopped.
        """
        try:
            query = self._started(len(plans))
            self._add(plans)
            outcome = self._outcome(query)
        except ConnectError:
            raise
        except Exception as error:
            self._require_session(error)
            raise ConnectError(f"Spark could not start the query of {self._name}: {_first_line(error)}") from error
        if isinstance(outcome, Exception):
            self._require_session(outcome)
            raise ConnectError(f"Spark could not run a batch: {_first_line(outcome)}") from outcome
        return outcome

    def _add(self, plans: list[Plan]) -> None:
        lines = [f"{slot}\t{orjson.dumps(plan).decode()}" for slot, plan in enumerate(plans)]
        jvm: Any = self._spark.sparkContext._jvm  # noqa: SLF001 - PySpark's own door to the JVM
        self._stream.addData(jvm.PythonUtils.toSeq(lines))

    def _outcome(self, query: StreamingQuery) -> list[Report] | Exception:
        while True:
            try:
                return self._outcomes.get(timeout=_LOOK_SECONDS)
            except queue.Empty:
                if not query.isActive:
                    raise self._ended(query) from None

    def _require_session(self, error: Exception) -> None:
        """A failure is not Spark's if its JVM is gone."""
        if self._session.is_lost(self._spark, error):
            raise SessionLost from error

    def _started(self, slots: int) -> StreamingQuery:
        self._slots = slots
        if self._query is not None and self._query.isActive:
            return self._query
        self.stop()
        self._outcomes = queue.SimpleQueue()
        self._checkpoint = Path(tempfile.mkdtemp(prefix="penstock-connect-"))
        jvm: Any = self._spark.sparkContext._jvm  # noqa: SLF001 - there is no Python door to this source
        source = jvm.org.apache.spark.sql.execution.streaming.runtime.MemoryStream
        self._stream = source.apply(self._spark._jsparkSession, jvm.org.apache.spark.sql.Encoders.STRING())  # noqa: SLF001
        rows = DataFrame(self._stream.toDF(), self._spark)
        self._query = (
            rows.writeStream.queryName(self._title)
            .foreachBatch(self._run_batch)
            .option("checkpointLocation", self._checkpoint.as_uri())
            .trigger(processingTime=INTERVAL)
            .start()
        )
        return self._query

    def _run_batch(self, rows: DataFrame, batch_id: int) -> None:
        """Called by Spark. What goes wrong is the connector's to handle: the query itself goes on."""
        try:
            found = self._spread(rows).mapInArrow(self._tasks, "report binary").collect()
            self._outcomes.put([orjson.loads(row[0]) for row in found])
        except Exception as error:  # noqa: BLE001 - told to the one who waits
            self._outcomes.put(error)

    def _spread(self, rows: DataFrame) -> DataFrame:
        """One plan in each partition. Each step of a plan costs Spark some milliseconds, so one plan takes the short way."""
        if self._slots == 1:
            return rows.coalesce(1)
        plans = rows.selectExpr("value", "cast(substring_index(value, '\t', 1) as int) as slot")
        return plans.repartitionById(self._slots, "slot")

    def _ended(self, query: StreamingQuery) -> ConnectError:
        failure = query.exception()
        return ConnectError(f"The query of {self._name} ended: {_first_line(failure) if failure else 'it was stopped'}")

    def stop(self) -> None:
        """End the query; a batch that runs is interrupted."""
        query, self._query = self._query, None
        if query is not None:
            try:
                query.stop()
            except Exception as error:  # noqa: BLE001 - it ended with an error, or Spark is gone
                log.debug("The query of %s did not end well: %s", self._name, error)
        if self._checkpoint is not None:
            shutil.rmtree(self._checkpoint, ignore_errors=True)
            self._checkpoint = None


def _rows_of(run: str, encoded: str) -> _RowFunction:
    def run_plans(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        set_aside_once()
        for batch in batches:
            lines: Any = batch.column(0).to_pylist()
            for line in lines:
                report = run_in_task(run, encoded, orjson.loads(line.partition("\t")[2]))
                yield pa.RecordBatch.from_pydict({"report": [orjson.dumps(report)]})

    return run_plans


def _first_line(error: BaseException) -> str:
    lines = [line.strip() for line in str(error).splitlines() if "Error: " in line]
    return lines[-1] if lines else str(error).strip().partition("\n")[0]
