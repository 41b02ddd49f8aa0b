"""A Connect worker: its stores, the runner of connectors, and the REST API, put together."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable
from contextlib import ExitStack
from typing import TYPE_CHECKING

from penstock.connect.config.secrets import Secrets
from penstock.connect.requests.create_connector import CreateConnectorRequest
from penstock.connect.rest.app import Readiness, Services
from penstock.connect.rest.launch import BoundListeners, rest_options
from penstock.connect.rest.server import RestServer
from penstock.connect.worker.backend import Backend, StandaloneBackend
from penstock.connect.worker.connector_check import ConnectorCheck
from penstock.connect.worker.connector_types import ConnectorTypes, InstalledConnectors
from penstock.connect.worker.herder import Herder
from penstock.connect.worker.loggers import Loggers
from penstock.connect.worker.runner_api import Runner
from penstock.connect.worker.supervisor import Supervisor
from penstock.connect.worker.worker_config import Mode, WorkerConfig

if TYPE_CHECKING:
    from types import TracebackType

    from typing_extensions import Self

log = logging.getLogger("penstock.connect.worker")

RunnerFactory = Callable[[WorkerConfig, Backend], Runner]
"""Makes the runner of connectors; it tells the backend where sources are."""


def spark_runner(config: WorkerConfig, backend: Backend) -> Runner:
    """The runner that runs connectors on Spark; a session is started with the first connector."""
    from penstock.connect.runner import ConnectorRunner

    # A worker alone has its offsets in its folder; workers of a group have them in a topic.
    stored = None if config.mode is Mode.STANDALONE else backend.offsets.load
    return ConnectorRunner(
        config.settings, state_dir=config.state_dir, publish_offsets=backend.offsets.save, stored_offsets=stored
    )


class ConnectWorker:
    """A worker of Kafka Connect.

    It takes its ports, looks for Kafka, and answers requests as soon as it is started. It ends with the `with` block.

    Args:
        config: Its settings.
        runner: Makes the runner of connectors.
        types: The connectors it can run.

    Raises:
        ConfigError: A setting cannot be used.
        ConnectError: A port is taken.
        BrokerUnreachable: Kafka does not answer.
    """

    def __init__(
        self,
        config: WorkerConfig,
        *,
        runner: RunnerFactory = spark_runner,
        types: ConnectorTypes | None = None,
    ) -> None:
        self.config = config
        options = rest_options(config)
        check = ConnectorCheck(config, types or InstalledConnectors())
        with ExitStack() as undo:
            # Ports first: of two workers on one machine the second one ends before it touches anything.
            self._listeners = BoundListeners(config)
            undo.callback(self._listeners.close)
            cluster_id = _cluster_id(config)
            loggers = Loggers()
            self._backend = _backend(config, loggers)
            undo.callback(self._backend.close)
            self._runner = runner(config, self._backend)
            undo.callback(self._runner.close)
            self.url = self._listeners.advertised.url
            self._supervisor = self._supervise(check)
            backend = self._backend
            self.herder = Herder(
                backend.configs, backend.statuses, self._supervisor, check, kafka_cluster_id=cluster_id
            )
            self._readiness = Readiness(ready=False)
            services = Services(
                herder=self.herder,
                loggers=loggers,
                readiness=self._readiness,
                set_cluster_level=backend.set_cluster_level,
                probe=backend.probe,
            )
            self._server = RestServer(self._listeners.apps(services, options, backend), config.settings)
            undo.pop_all()

    def _supervise(self, check: ConnectorCheck) -> Supervisor:
        advertised, backend = self._listeners.advertised, self._backend
        # In a group the runner itself asks for offsets; alone they are in its folder, and kept in a file beside it.
        kept = backend.offsets.load if self.config.mode is Mode.STANDALONE else lambda name: ()
        return Supervisor(
            self._runner,
            backend.configs,
            backend.statuses,
            check,
            worker_id=f"{advertised.host}:{advertised.port}",
            stored_offsets=kept,
        )

    @property
    def secrets(self) -> Secrets:
        """What must not appear in logs."""
        return self._supervisor.secrets

    def start(self, connectors: Iterable[CreateConnectorRequest] = ()) -> None:
        """Answers requests, and creates connectors.

        Raises:
            ConnectError: A connector cannot be created.
        """
        self._server.start()
        self._backend.join(self._supervisor, self.url)
        for request in connectors:
            self.herder.create(request)
            log.info("Created connector %s", request.name)
        self._readiness.ready = True

    def close(self) -> None:
        """Ends connectors and requests in an orderly way."""
        self._server.close()
        self._listeners.close()
        self._supervisor.leading = False
        seconds = self.config.values["task.shutdown.graceful.timeout.ms"] / 1000
        for name in self._supervisor.stop_all(seconds):
            log.warning("Connector %s did not end within %s seconds", name, seconds)
        self._runner.close()
        self._backend.close()
        self.config.transformer.close()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()


def _backend(config: WorkerConfig, loggers: Loggers) -> Backend:
    if config.mode is Mode.STANDALONE:
        return StandaloneBackend(config, loggers)
    from penstock.connect.worker.distributed import DistributedBackend

    return DistributedBackend(config, loggers)


def _cluster_id(config: WorkerConfig) -> str:
    from penstock.kafka.admin import Admin

    return Admin(config.client("admin")).cluster_id()
