"""A worker in a group: everything is in Kafka topics, and the worker that leads runs the connectors."""

from __future__ import annotations

import logging
import threading
import time

from penstock.connect.errors import ConnectError
from penstock.connect.worker.backend import NoLeaderError
from penstock.connect.worker.compacted_log import CompactedLog
from penstock.connect.worker.internal_topics import ensure_internal_topics
from penstock.connect.worker.loggers import Loggers
from penstock.connect.worker.membership import Membership
from penstock.connect.worker.strands import Strands
from penstock.connect.worker.supervisor import Supervisor
from penstock.connect.worker.topic_config_store import Leader, TopicConfigStore
from penstock.connect.worker.topic_offset_store import TopicOffsetStore
from penstock.connect.worker.topic_status_store import TopicStatusStore
from penstock.connect.worker.worker_config import WorkerConfig
from penstock.errors import PenstockError
from penstock.kafka.admin import Admin

log = logging.getLogger("penstock.connect.worker")

_LEADERSHIP = "leadership"
_LEAVE_SECONDS = 30.0
_RETRY_SECONDS = 1.0
# Shorter than a request for the worker's health may take.
_LEADER_SECONDS = 8.0
_PROBE_SECONDS = 0.1


class DistributedBackend:
    """Topics of a group, and this worker's place in it.

    Args:
        config: The worker's settings.
        loggers: The loggers of this process.

    Raises:
        ConfigError: A topic is not as it has to be.
        BrokerUnreachable: Kafka does not answer.
    """

    def __init__(self, config: WorkerConfig, loggers: Loggers) -> None:
        self._config = config
        self._settings = config.internal_client()
        self._supervisor: Supervisor | None = None
        self._membership: Membership | None = None
        self._url = ""
        # Changes of leadership, one after the other; nobody waits for them while others may have to be told.
        self._changes = Strands()
        self._switching = threading.Lock()
        self._closed = threading.Event()
        self.configs = TopicConfigStore(self._on_change, lambda logger, level: _set_level(loggers, logger, level))
        self.statuses = TopicStatusStore()
        self.offsets = TopicOffsetStore()
        self._logs = self._open_logs(ensure_internal_topics(config, Admin(config.client("admin"))))

    def _open_logs(self, partitions: dict[str, int]) -> list[CompactedLog]:
        logs = []
        for kind, store in (("offset", self.offsets), ("status", self.statuses), ("config", self.configs)):
            topic = self._config.values[f"{kind}.storage.topic"]
            opened = CompactedLog(self._settings, topic, partitions[kind], store.read)
            store.attach(opened)
            logs.append(opened)
        try:
            for opened in logs:
                opened.start()
        except BaseException:
            for opened in logs:
                opened.close()
            raise
        return logs

    def join(self, supervisor: Supervisor, url: str) -> None:
        supervisor.leading = False
        self._supervisor = supervisor
        self._url = url
        values = self._config.values
        self._membership = Membership(
            self._settings,
            group=values["group.id"],
            topic=values["config.storage.topic"],
            session_ms=values["session.timeout.ms"],
            heartbeat_ms=values["heartbeat.interval.ms"],
            on_lead=self._lead_soon,
            on_follow=self._follow,
        )
        self._membership.start()

    def leader_url(self) -> str | None:
        supervisor, leader = self._supervisor, self.configs.leader
        if supervisor is not None and supervisor.leading and self._is_leader():
            return None
        if leader is None or leader.url == self._url:
            # Before this worker came, or before it has begun to lead.
            raise NoLeaderError
        return leader.url

    def catch_up(self) -> None:
        for opened in self._logs:
            opened.catch_up()

    def probe(self) -> None:
        deadline = time.monotonic() + _LEADER_SECONDS
        while True:
            try:
                self.leader_url()
                break
            except NoLeaderError:
                # One may have just gone, which the others notice.
                if time.monotonic() >= deadline or self._closed.wait(_PROBE_SECONDS):
                    raise ConnectError("No worker of the group leads") from None
        self.catch_up()

    def set_cluster_level(self, logger: str, level: str) -> None:
        self.configs.put_level(logger, level)

    def close(self) -> None:
        self._closed.set()
        if self._membership is not None:
            self._membership.close()
        self._changes.wait(_LEAVE_SECONDS)
        for opened in self._logs:
            opened.close()

    def _lead_soon(self) -> None:
        self._changes.submit(_LEADERSHIP, self._lead)

    def _lead(self) -> None:
        """Begins to lead: knows everything the others wrote, tells them, and starts the connectors."""
        supervisor = self._supervisor
        if supervisor is None or not self._is_leader():
            return
        try:
            self.catch_up()
            if not self._is_leader():
                return  # that took its time, and another worker was chosen meanwhile
            before = self.configs.leader
            generation = 1 if before is None else before.generation + 1
            self.configs.put_leader(Leader(self._url, generation))
        except PenstockError as error:
            log.warning("This worker should lead, but cannot: %s", error)
            if not self._closed.wait(_RETRY_SECONDS):
                self._lead_soon()
            return
        with self._switching:
            # A worker loses its place first and is told to follow then, so one of the two sees the other.
            leads = self._is_leader()
            if leads:
                supervisor.generation = generation
                supervisor.leading = True
        if not leads:
            self._follow()
            return
        log.info("%s leads, generation %s", self._url, generation)
        for name in self.configs.names():
            supervisor.reconcile(name)

    def _is_leader(self) -> bool:
        return self._membership is not None and self._membership.leads

    def _follow(self) -> None:
        """Another worker is about to lead: what runs here ends first."""
        supervisor = self._supervisor
        if supervisor is None:
            return
        with self._switching:
            supervisor.leading = False
        supervisor.stop_all(self._config.values["task.shutdown.graceful.timeout.ms"] / 1000)
        self.statuses.follow()
        log.info("%s leads no longer", self._url)

    def _on_change(self, name: str) -> None:
        supervisor = self._supervisor
        if supervisor is not None and supervisor.leading:
            supervisor.reconcile(name)


def _set_level(loggers: Loggers, logger: str, level: str) -> None:
    loggers.set_level(logger, level)
