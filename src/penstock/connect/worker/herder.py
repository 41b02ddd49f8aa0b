"""Every operation of the REST API, as a method on plain data."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from concurrent.futures import Future
from concurrent.futures import TimeoutError as FutureTimeout
from dataclasses import replace
from typing import Any

from penstock.connect.config.secrets import Secrets
from penstock.connect.errors import AlreadyExistsError, BadRequestError, ConnectError, ForbiddenError, NotFoundError
from penstock.connect.requests.connector_offsets import (
    ConnectorOffset,
    require_stopped,
    sink_offsets,
    sink_offsets_answer,
    source_offsets,
)
from penstock.connect.requests.create_connector import CreateConnectorRequest, parse_config, patched_config
from penstock.connect.worker.answers import connector_info, status_info, task_status
from penstock.connect.worker.config_store import Config, ConfigStore, ConnectorEntry, TargetState
from penstock.connect.worker.connector_check import ConnectorCheck, matches_plugin
from penstock.connect.worker.runner_api import Offsets
from penstock.connect.worker.status_store import State, StatusStore
from penstock.connect.worker.supervisor import Supervisor
from penstock.connect.worker.worker_config import Mode
from penstock.errors import PenstockError

# How long a request waits for a connector to make its tasks before it answers without them.
_TASKS_SECONDS = 10.0
# How long a request waits for offsets to be changed; the REST API's own limit is 90 seconds.
_OFFSETS_SECONDS = 85.0


class Herder:
    """The worker behind the REST API.

    Args:
        configs: Configurations and wanted states.
        statuses: States and topics.
        supervisor: Runs connectors.
        check: Validates configurations.
        kafka_cluster_id: Id of the Kafka cluster.
    """

    def __init__(
        self,
        configs: ConfigStore,
        statuses: StatusStore,
        supervisor: Supervisor,
        check: ConnectorCheck,
        *,
        kafka_cluster_id: str,
    ) -> None:
        self._configs = configs
        self._statuses = statuses
        self._supervisor = supervisor
        self.check = check
        self.kafka_cluster_id = kafka_cluster_id
        self._changing = threading.Lock()

    # Reading.

    def connectors(self) -> list[str]:
        """The names of all connectors."""
        return self._configs.names()

    def expanded(self, expand: Iterable[str]) -> dict[str, dict[str, Any]]:
        """All connectors with `status`, `info`, or both; other words are left aside."""
        wanted = list(expand)
        found: dict[str, dict[str, Any]] = {}
        for name in self._configs.names():
            entry = self._configs.get(name)
            if entry is None:
                continue
            parts: dict[str, Any] = {}
            if "status" in wanted:
                parts["status"] = self._status(entry)
            if "info" in wanted:
                parts["info"] = self._info(entry)
            found[name] = {key: value for key, value in parts.items() if value is not None}
        return found

    def connector(self, name: str) -> dict[str, Any]:
        """A connector with its configuration, references not replaced."""
        return self._info(self._entry(name))

    def config(self, name: str) -> dict[str, str | None]:
        """The configuration of a connector."""
        return dict(self._entry(name).config)

    def status(self, name: str) -> dict[str, Any]:
        """The states of a connector and its tasks."""
        entry = self._configs.get(name)
        found = None if entry is None else self._status(entry)
        if found is None:
            raise NotFoundError(f"No status found for connector {name}")
        return found

    def tasks(self, name: str) -> list[dict[str, Any]]:
        """The tasks of a connector with their configurations."""
        tasks = self._entry(name).tasks
        return [{"id": {"connector": name, "task": i}, "config": dict(task)} for i, task in enumerate(tasks)]

    def task_status(self, name: str, task: int) -> dict[str, Any]:
        """The state of a task."""
        found = self._statuses.tasks(name).get(task) if self._configs.get(name) is not None else None
        if found is None:
            raise NotFoundError(f"No status found for task {name}-{task}")
        return task_status(task, found)

    def topics(self, name: str) -> dict[str, Any]:
        """The topics a connector uses; an unknown one uses none."""
        if not self.check.worker.values["topic.tracking.enable"]:
            raise ForbiddenError("Topic tracking is disabled.")
        return {name: {"topics": self._statuses.topics(name)}}

    def reset_topics(self, name: str) -> None:
        """Forgets the topics a connector used."""
        if not self.check.worker.values["topic.tracking.enable"]:
            raise ForbiddenError("Topic tracking is disabled.")
        if not self.check.worker.values["topic.tracking.allow.reset"]:
            raise ForbiddenError("Topic tracking reset is disabled.")
        self._statuses.reset_topics(name)

    # Creating, changing, deleting.

    def create(self, request: CreateConnectorRequest) -> dict[str, Any]:
        """Creates a connector."""
        self.check.require_valid(request.config)
        target = None if request.initial_state is None else TargetState(request.initial_state.target_state)
        with self._changing:
            if self._configs.get(request.name) is not None:
                raise AlreadyExistsError(f"Connector {request.name} already exists")
            self._configs.put_connector(request.name, request.config, target)
        return self._started(request.name, request.config)

    def put_config(self, name: str, body: bytes | str) -> tuple[bool, dict[str, Any]]:
        """Replaces the configuration of a connector, or creates it; whether it is new, and the connector."""
        return self._put(name, parse_config(name, body))

    def patch_config(self, name: str, body: bytes | str) -> dict[str, Any]:
        """Changes single settings of a connector."""
        while True:
            before = self._entry(name).config
            config = patched_config(name, before, body)
            # Connector code, which may take its time: nobody else waits for it. Who was faster is not undone.
            self.check.require_valid(config)
            with self._changing:
                if self._entry(name).config == before:
                    self._configs.put_connector(name, config)
                    break
        return self._started(name, config)

    def delete(self, name: str, *, offsets: bool = False) -> None:
        """Deletes a connector. Its offsets stay, so that one of the same name goes on, unless `offsets` is True."""
        with self._changing:
            entry = self._entry(name)
            self._configs.remove(name)
        removed = self._supervisor.remove(entry, offsets=offsets)
        if offsets:
            self._require_forgotten(name, removed)

    @staticmethod
    def _require_forgotten(name: str, removed: Future[None]) -> None:
        """Waits: who wants the offsets to be forgotten has to know when they are not."""
        try:
            removed.result(_OFFSETS_SECONDS)
        except PenstockError as error:
            raise ConnectError(
                f"Connector {name} is deleted, but its offsets are still there: {error}",
                hint=f"Create {name} again with initial_state STOPPED, and reset its offsets.",
            ) from error

    def _put(self, name: str, config: Config) -> tuple[bool, dict[str, Any]]:
        self.check.require_valid(config)
        with self._changing:
            is_new = self._configs.get(name) is None
            self._configs.put_connector(name, config)
        return is_new, self._started(name, config)

    def _started(self, name: str, config: Config) -> dict[str, Any]:
        """The answer to a change: with tasks in a standalone worker, before they are made in a distributed one."""
        done = self._supervisor.reconcile(name)
        if self.check.worker.mode is Mode.STANDALONE:
            try:
                done.result(_TASKS_SECONDS)
            except FutureTimeout:
                pass  # connector code hangs; the answer does not wait for it
        entry = self._configs.get(name)
        return connector_info(name, config, 0 if entry is None else len(entry.tasks), self.check.kind(config))

    # Running.

    def set_target(self, name: str, target: TargetState) -> None:
        """Pauses, resumes or stops a connector; it is so a little later."""
        with self._changing:
            if self._configs.get(name) is None:
                raise NotFoundError(f"Unknown connector {name}")
            self._configs.put_target(name, target)
        self._supervisor.reconcile(name)

    def restart(self, name: str, *, include_tasks: bool = False, only_failed: bool = False) -> dict[str, Any] | None:
        """Restarts a connector. With one of the flags, answers with what is restarted shown as RESTARTING."""
        entry = self._configs.get(name)
        if entry is None:
            raise NotFoundError(f"Unknown connector: {name}")
        if not include_tasks and not only_failed:
            self._supervisor.restart(name)
            return None
        connector, tasks = self._restarted(name, include_tasks=include_tasks, only_failed=only_failed)
        if connector or tasks:
            self._mark_restarting(name, connector=connector, tasks=tasks)
        answer = self._status(entry)
        if answer is None:
            raise NotFoundError(f"Status for connector {name} not found")
        if connector or tasks:
            self._supervisor.restart(name)
        return answer

    def restart_task(self, name: str, task: int) -> None:
        """Restarts a task."""
        if self._configs.get(name) is None:
            raise NotFoundError(f"Unknown connector: {name}")
        if task not in self._statuses.tasks(name):
            standalone = self.check.worker.mode is Mode.STANDALONE
            raise NotFoundError(f"Task {name}-{task} not found" if standalone else f"Unknown task: {name}-{task}")
        self._mark_restarting(name, connector=False, tasks=[task])
        self._supervisor.restart(name)

    def _restarted(self, name: str, *, include_tasks: bool, only_failed: bool) -> tuple[bool, list[int]]:
        status = self._statuses.connector(name)
        connector = status is not None and (not only_failed or status.state is State.FAILED)
        tasks = self._statuses.tasks(name) if include_tasks else {}
        return connector, [i for i, task in tasks.items() if not only_failed or task.state is State.FAILED]

    def _mark_restarting(self, name: str, *, connector: bool, tasks: Sequence[int]) -> None:
        status = self._statuses.connector(name)
        if connector and status is not None:
            self._statuses.put_connector(name, replace(status, state=State.RESTARTING, trace=None))
        known = self._statuses.tasks(name)
        for task in tasks:
            self._statuses.put_task(name, task, replace(known[task], state=State.RESTARTING, trace=None))

    # Offsets.

    def offsets(self, name: str) -> dict[str, Any]:
        """Where a connector stands."""
        return {"offsets": list(self._supervisor.offsets(self._entry(name)))}

    def alter_offsets(self, name: str, offsets: Sequence[ConnectorOffset]) -> dict[str, Any]:
        """Changes where a stopped connector stands."""
        entry = self._stopped_entry(name)
        self._change_offsets(entry, _checked(offsets, is_sink=self.check.kind(entry.config) == "sink"))
        return {"message": "The offsets for this connector have been altered successfully"}

    def reset_offsets(self, name: str) -> dict[str, Any]:
        """Lets a stopped connector start over."""
        self._change_offsets(self._stopped_entry(name), None)
        return {"message": "The offsets for this connector have been reset successfully"}

    def _stopped_entry(self, name: str) -> ConnectorEntry:
        entry = self._entry(name)
        require_stopped(name, entry.target.value)
        return entry

    def _change_offsets(self, entry: ConnectorEntry, offsets: Offsets | None) -> None:
        self._supervisor.alter_offsets(entry, offsets).result(_OFFSETS_SECONDS)

    # Plugins.

    def validate(self, plugin: str, config: Config) -> dict[str, Any]:
        """Everything that is wrong with a configuration."""
        included = (config.get("connector.class") or "").strip()
        if included and not matches_plugin(plugin, included):
            raise BadRequestError(f"Included connector type {included} does not match request type {plugin}")
        return self.check.infos(config)

    # Shapes.

    def _entry(self, name: str) -> ConnectorEntry:
        entry = self._configs.get(name)
        if entry is None:
            raise NotFoundError(f"Connector {name} not found")
        return entry

    def _info(self, entry: ConnectorEntry) -> dict[str, Any]:
        return connector_info(entry.name, entry.config, len(entry.tasks), self.check.kind(entry.config))

    def _status(self, entry: ConnectorEntry) -> dict[str, Any] | None:
        status = self._statuses.connector(entry.name)
        if status is None:
            return None
        return status_info(entry.name, status, self._statuses.tasks(entry.name), self.check.kind(entry.config))

    @property
    def secrets(self) -> Secrets:
        """What must not appear in answers: the worker's. Those of a connector are left out where it is asked."""
        return self.check.worker.secrets


def _checked(offsets: Sequence[ConnectorOffset], *, is_sink: bool) -> Offsets:
    if not is_sink:
        return [{"partition": one.partition, "offset": one.offset} for one in source_offsets(offsets)]
    altered = sink_offsets(offsets)
    known = {partition: offset for partition, offset in altered.items() if offset is not None}
    entries: list[dict[str, Any]] = list(sink_offsets_answer(known)["offsets"])
    forgotten = {partition: 0 for partition, offset in altered.items() if offset is None}
    return entries + [{**entry, "offset": None} for entry in sink_offsets_answer(forgotten)["offsets"]]
