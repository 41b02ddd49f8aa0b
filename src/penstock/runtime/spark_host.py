"""Spark as the host of an application: the session, the query over the topics as they are, and what it reports."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from penstock.errors import PenstockError, TopologyError
from penstock.runtime.host import Progress
from penstock.runtime.settings import Settings
from penstock.runtime.topology_target import is_loading
from penstock.topology.topology import Topology

if TYPE_CHECKING:
    from penstock.kafka.admin import Admin
    from penstock.spark.running import RunningQuery

log = logging.getLogger("penstock.application")


class SparkHost:
    """Runs one application's query in a Spark session.

    Args:
        topology: What to run.
        settings: The application's settings.
        checkpoint: Folder of positions and state.
        local: Folder of local state on each node.
        spark: A session to run in; None starts one.
    """

    def __init__(self, topology: Topology, settings: Settings, *, checkpoint: str, local: str, spark: Any) -> None:
        # Spark needs seconds to start: begin while the user's program is still getting ready.
        from penstock.spark.warm_up import start_warm_up

        self._topology = topology
        self._settings = settings
        self._checkpoint = checkpoint
        self._local = local
        self._session: Any = None
        self._admin: Admin | None = None
        self._partitions: dict[str, int] = {}
        self._lag: dict[tuple[str, int], int] = {}
        self._misfit = ""
        self._restore_listener: Any = None
        # Not for a module that is only looked through for its topology: its application will not start.
        self._warm_up = None if is_loading() else start_warm_up(settings, existing=spark)
        self._spark = spark
        from penstock.runtime.presence import Presence
        from penstock.spark.metrics import ProgressLog

        self._presence = Presence(checkpoint, settings.required("application.id"))
        self._log = ProgressLog()

    def tell_restores(self, listener: Any) -> None:
        """Tell a listener of state that is rebuilt."""
        self._restore_listener = listener

    def prepare(self, progress: Progress | None) -> None:
        """Wait for the session."""
        from penstock.runtime.launch import require_topics
        from penstock.spark.warm_up import start_warm_up

        self._presence.claim()
        self._warm_up = self._warm_up or start_warm_up(self._settings, existing=self._spark)
        require_topics(self._topology, self._settings)  # nobody should wait for Spark to hear that Kafka is not there
        self._session = self._warm_up.wait(progress)

    def start(self, *, paused: bool) -> RunningQuery:
        """Lay the topology out over the topics as they are now and start its query."""
        from penstock.kafka.admin import Admin
        from penstock.runtime.launch import make_job
        from penstock.spark.running import RunningQuery

        job = make_job(
            self._topology,
            self._settings,
            checkpoint=self._checkpoint,
            local=self._local,
            cores=self._session.sparkContext.defaultParallelism,
            restore_listener=self._restore_listener,
        )
        self._admin = Admin(job.kafka["admin"])
        self._partitions = dict(job.layout.partitions)
        interval = self._settings["commit.interval.ms"]
        return RunningQuery(self._session, job, interval_ms=interval, log=self._log, paused=paused)

    def topics_changed(self) -> bool:
        """Whether there are new partitions, or other topics that match a pattern, and they fit the topology."""
        from penstock.runtime.launch import new_layout
        from penstock.runtime.source_topics import grown_with_state

        assert self._admin is not None
        try:
            layout = new_layout(self._topology, self._admin, self._partitions)
        except TopologyError as error:
            if str(error) != self._misfit:
                log.warning("new partitions are not read yet: %s", error)
                self._misfit = str(error)
            return False
        except PenstockError as error:
            # Kafka is away, or a topic is gone: the query finds out itself, and says it better.
            log.debug("the topics could not be looked at: %s", error)
            return False
        self._misfit = ""
        if layout is None:
            return False
        for topic, stores in grown_with_state(self._topology, self._partitions, layout.partitions).items():
            log.warning(
                "the topic %s now has %s partitions instead of %s: records of a key may go to another partition than "
                "before, where %s has no state of it",
                topic, layout.partitions[topic], self._partitions[topic], " and ".join(stores),
            )  # fmt: skip
        return True

    def tend(self) -> None:
        """Look how far behind the application is."""
        batch, admin = self._log.last, self._admin
        if batch is None or admin is None:
            return
        at = {(t, int(p)): o for t, partitions in batch.offsets.items() for p, o in partitions.items()}
        try:
            ends = admin.end_offsets(at)
        except PenstockError as error:
            log.debug("the end of the topics could not be looked at: %s", error)
            return
        self._lag = {partition: max(0, ends[partition] - offset) for partition, offset in at.items()}

    def metrics(self) -> Mapping[str, Any]:
        """Figures of the last batch, and totals since the application was made."""
        last = self._log.last
        found: dict[str, Any] = {
            "batches-total": self._log.batches,
            "records-in-total": self._log.totals["records_in"],
            "records-out-total": self._log.totals["records_out"],
            "dropped-records-total": self._log.totals["dropped"],
            "lost-records-total": 0 if last is None else last.lost,
            "records-lag": sum(self._lag.values()),
            "lag": _nested(self._lag),
        }
        if last is not None:
            found |= {
                "batch": last.batch,
                "batch-started": last.started,
                "batch-duration-ms": last.duration_ms,
                "durations-ms": dict(last.durations_ms),
                "records-in": last.records_in,
                "records-out": last.records_out,
                "state-rows": last.state_rows,
                "state-bytes": last.state_bytes,
                "task-time-ms": last.task_time_ms,
                "tasks": last.tasks,
                "offsets": {topic: dict(partitions) for topic, partitions in last.offsets.items()},
            }
        return found

    def close(self) -> None:
        """Give the session back."""
        try:
            if self._warm_up is not None:
                self._warm_up.close()
        finally:
            self._presence.release()  # or the next start would find the application running


def _nested(lag: Mapping[tuple[str, int], int]) -> dict[str, dict[str, int]]:
    found: dict[str, dict[str, int]] = {}
    for (topic, partition), records in lag.items():
        found.setdefault(topic, {})[str(partition)] = records
    return found
