"""From a connector's settings to something that runs."""

from __future__ import annotations

import threading
import uuid
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from penstock.connect.api import CONNECTORS, Connector, ConnectorContext, connector_kind
from penstock.connect.config.config_key import ConfigType, parse_type
from penstock.connect.config.secrets import NO_SECRETS, Secrets
from penstock.connect.errors import ConfigError, ConnectError
from penstock.connect.spark.client_settings import client_roles, with_converters
from penstock.connect.spark.connector_run import ConnectorRun, Planner, StatusListener
from penstock.connect.spark.job import ConnectJob
from penstock.connect.spark.offsets import SourceStore
from penstock.connect.spark.parts import task_class
from penstock.connect.spark.sink_planner import SinkPlanner
from penstock.connect.spark.source_planner import SourceOffsets, SourcePlanner, stop_all
from penstock.connect.spark.worker_session import WorkerSession
from penstock.connect.validation.connector_keys import ConnectorKind
from penstock.kafka.admin import Admin
from penstock.kafka.errors import TopicExists
from penstock.kafka.transactions import TransactionalProducer

if TYPE_CHECKING:
    from penstock.connect.spark.batch_query import BatchQuery

COMMITS_TOPIC = "penstock-connect-commits"
OFFSETS_TOPIC = "offset.storage.topic"
_FENCES_AT_ONCE = 8  # each takes about 60 ms, nearly all of it waiting


@dataclass(frozen=True, slots=True)
class Started:
    """A connector that was started."""

    connector: Connector
    config: dict[str, str]
    listener: StatusListener
    run: ConnectorRun


class Launch:
    """Starts connectors for a worker.

    Args:
        worker: The worker's settings.
        session: Gives the Spark session.
    """

    def __init__(self, worker: Mapping[str, str], session: WorkerSession) -> None:
        self._worker = worker
        self._session = session
        self._lock = threading.Lock()
        self._admins: dict[str, Admin] = {}

    def start(
        self,
        name: str,
        config: Mapping[str, str],
        *,
        store: SourceStore,
        context: ConnectorContext,
        listener: StatusListener,
        paused: bool,
        secrets: Secrets = NO_SECRETS,
    ) -> Started:
        """Make a connector, its tasks, and what runs them; nothing has begun yet but the connector itself.

        Raises:
            PenstockError: The configuration cannot be used, or the connector refuses to start.
        """
        found = CONNECTORS.find(config.get("connector.class", "").strip())
        connector = found(config)
        connector.start(context)
        try:
            job = replace(self.job(name, config, tasks=_tasks(connector, config)), secrets=secrets)
            job, planner = self._source(job, store) if job.kind is ConnectorKind.SOURCE else (job, self._sink(job))
        except BaseException:
            connector.stop()
            raise
        run = ConnectorRun(job, planner=planner, batches=lambda: self._batches(job), listener=listener, paused=paused)
        return Started(connector, dict(config), listener, run)

    def job(self, name: str, config: Mapping[str, str], *, tasks: Sequence[Mapping[str, str]] = ()) -> ConnectJob:
        """What tasks need to know of a connector."""
        kind = connector_kind(CONNECTORS.find(config.get("connector.class", "").strip()))
        return ConnectJob(
            run=uuid.uuid4().hex,
            name=name,
            kind=kind,
            config=with_converters(self._worker, self._allowed(config)),
            tasks=tuple(tasks),
            kafka=client_roles(self._worker, config),
            exactly_once=kind is ConnectorKind.SOURCE and self._exactly_once(config),
            commits_topic=self._worker.get(OFFSETS_TOPIC) or COMMITS_TOPIC,
        )

    def _allowed(self, config: Mapping[str, str]) -> Mapping[str, str]:
        """The settings of a connector; how its topics are made only if the worker lets it make them."""
        enabled = parse_type(
            "topic.creation.enable", self._worker.get("topic.creation.enable", "true"), ConfigType.BOOLEAN
        )
        return config if enabled else {k: v for k, v in config.items() if not k.startswith("topic.creation.")}

    def _exactly_once(self, config: Mapping[str, str]) -> bool:
        """Sources write in transactions unless the worker says no."""
        enabled = self._worker.get("exactly.once.source.support", "enabled").strip().lower() == "enabled"
        if not enabled and config.get("exactly.once.support", "").strip().lower() == "required":
            raise ConfigError(
                "The connector requires exactly-once delivery, which exactly.once.source.support of the worker switches off",
                key="exactly.once.support",
                hint="Set exactly.once.source.support=enabled on the worker, or exactly.once.support=requested here.",
            )
        return enabled

    def _sink(self, job: ConnectJob) -> Callable[[], Planner]:
        return lambda: SinkPlanner(job, self.admin(job))

    def _source(self, job: ConnectJob, store: SourceStore) -> tuple[ConnectJob, Callable[[], Planner]]:
        topic = self._worker.get(OFFSETS_TOPIC, "") if store.shared and job.exactly_once else ""
        offsets = store.open(in_transactions=bool(topic))
        complete = replace(job, incarnation=offsets.incarnation, offsets_topic=topic)
        return complete, lambda: self._source_planner(complete, offsets)

    def _source_planner(self, job: ConnectJob, offsets: SourceOffsets) -> Planner:
        if job.exactly_once:
            self._ensure_commits_topic(job)
        if job.offsets_topic:
            _fence(job)
        make = task_class(job)
        tasks = [make(config) for config in job.tasks]
        try:
            for task in tasks:
                task.start()
            return SourcePlanner(tasks, offsets)
        except BaseException:
            stop_all(tasks)
            raise

    def _ensure_commits_topic(self, job: ConnectJob) -> None:
        admin = self.admin(job)
        if job.commits_topic not in admin.topics():
            try:
                admin.create_topic(job.commits_topic, configs={"cleanup.policy": "compact"})
            except TopicExists:
                pass  # another connector was faster

    def admin(self, job: ConnectJob) -> Admin:
        """One client for all connectors with the same settings."""
        settings = job.kafka["admin"]
        key = repr(sorted(settings.items()))
        with self._lock:
            if key not in self._admins:
                self._admins[key] = Admin(settings)
            return self._admins[key]

    def _batches(self, job: ConnectJob) -> BatchQuery:
        from penstock.connect.spark.batch_query import BatchQuery

        return BatchQuery(self._session, job.name, job.run, job.encode())


def _fence(job: ConnectJob) -> None:
    """Take the ids of all tasks an earlier start may have had, on whatever worker: what those have open is rolled back, and
    the offsets that are read after this are the last they wrote. A worker that was cut off does not know that it is.
    """
    count = max(len(job.tasks), int(job.config.get("tasks.max") or 1))
    with ThreadPoolExecutor(_FENCES_AT_ONCE) as pool:
        list(pool.map(lambda task: _take_over(job, task), range(count)))


def _take_over(job: ConnectJob, task: int) -> None:
    producer = TransactionalProducer(job.kafka["producer"], job.transactional_id(task))
    producer.init()
    producer.close()


def _tasks(connector: Connector, config: Mapping[str, str]) -> list[dict[str, str]]:
    allowed = int(config.get("tasks.max") or 1)
    made = connector.task_configs(allowed)
    enforced = parse_type("tasks.max.enforce", config.get("tasks.max.enforce", "true"), ConfigType.BOOLEAN)
    if len(made) > allowed and enforced:
        raise ConnectError(
            f"The connector {config.get('name')} has generated {len(made)} tasks, which is greater than {allowed}, the "
            "maximum number of tasks it is configured to create",
            hint="Raise tasks.max, or set tasks.max.enforce=false.",
        )
    kind: Any = connector
    class_name = f"{kind.TASK.__module__}.{kind.TASK.__qualname__}"
    return [{"task.class": class_name, **one} for one in made]
