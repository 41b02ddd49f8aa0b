"""KafkaStreams: an application from start to stop."""

from __future__ import annotations

import atexit
import logging
import re
import shutil
import tempfile
import threading
import time
from collections.abc import Callable, Mapping
from pathlib import Path
from types import TracebackType
from typing import Any, TypeAlias

from typing_extensions import Self

from penstock.durations import Duration, duration_ms
from penstock.errors import ConfigError, StreamsError, TopologyError, UnsupportedOperation
from penstock.runtime.as_run import as_run
from penstock.runtime.host import Host, Progress
from penstock.runtime.metrics import prometheus_text
from penstock.runtime.metrics_server import MetricsServer
from penstock.runtime.settings import Settings
from penstock.runtime.signals import stop_signals
from penstock.runtime.states import Lifecycle, StateListener, StreamsState
from penstock.runtime.supervisor import Patience, Supervisor
from penstock.runtime.topology_target import is_loading
from penstock.runtime.uncaught import StreamThreadExceptionResponse, UncaughtHandler
from penstock.streams.builder import StreamsBuilder
from penstock.topology.description import TopologyDescription
from penstock.topology.topology import Topology

log = logging.getLogger("penstock.application")

_RESTORE_CALLS = ("on_restore_start", "on_batch_restored", "on_restore_end")


class KafkaStreams:
    """Runs a topology on Spark.

    >>> streams = KafkaStreams(
    ...     topology, application_id="word-count", bootstrap_servers="localhost:9092"
    ... )  # doctest: +SKIP
    >>> streams.run()  # until Ctrl-C  # doctest: +SKIP

    Args:
        topology: What to run; a Topology or a StreamsBuilder.
        config: Settings by Kafka's keys.
        spark: A session to run in; None starts one (`local[*,4]`, or `spark.master`).
        settings: Settings as keywords, `application_id="x"`.
    """

    State: TypeAlias = StreamsState
    ExceptionResponse: TypeAlias = StreamThreadExceptionResponse

    def __init__(
        self, topology: Any, config: Mapping[str, Any] | None = None, /, *, spark: Any = None, **settings: Any
    ) -> None:
        self._settings = Settings(config, **settings)
        self.application_id = self._settings.required("application.id")
        self._settings.required("bootstrap.servers")
        self._settings.task_config()  # handlers and serdes that cannot be used are refused here, not in a worker
        self._topology = _built(topology, self._settings)
        self._life = Lifecycle(self.application_id)
        self._created = time.time()
        self._metrics_server: MetricsServer | None = None
        self._failure: BaseException | None = None
        self._stopper: threading.Thread | None = None
        self._host = self._open_host(spark)
        self._supervisor = Supervisor(
            self._host,
            self._life,
            application_id=self.application_id,
            release=self._release,
            patience=self._patience(),
            check_seconds=self._settings["penstock.topics.check.ms"] / 1000,
            log_batches=self._settings["penstock.log.batches"] == "json",
        )

    def _open_host(self, spark: Any) -> Host:
        from penstock.runtime.spark_host import SparkHost

        return SparkHost(self._topology, self._settings, checkpoint=self.checkpoint, local=self.state_dir, spark=spark)

    def _patience(self) -> Patience:
        return Patience(
            transient_ms=self._settings["task.timeout.ms"], attempts=self._settings["penstock.restart.attempts"]
        )

    # ------------------------------------------------------------------ life

    @property
    def state(self) -> StreamsState:
        """Where the application is in its life."""
        return self._life.state

    def set_state_listener(self, listener: StateListener | None) -> None:
        """Call `listener(new, old)` on every change of state. Before start only."""
        self._life.listen(listener)

    def set_uncaught_exception_handler(self, handler: UncaughtHandler | None) -> None:
        """Ask `handler(exception)` what to do when the query fails. Before start only.

        It answers `KafkaStreams.ExceptionResponse.REPLACE_THREAD` (start the query again), `SHUTDOWN_CLIENT` or
        `SHUTDOWN_APPLICATION`. It is not asked while Kafka is away for less than `task.timeout.ms`.
        """
        self._life.require_created("an uncaught exception handler")
        self._supervisor.uncaught = handler

    def set_state_restore_listener(self, listener: Any) -> None:
        """Tell a listener how lost state is rebuilt from changelogs. Before start only.

        Args:
            listener: Has `on_restore_start(partition, store, start, end)`, `on_batch_restored(partition, store, end,
                restored)` and `on_restore_end(partition, store, restored)`; a partition is (topic, number). State that
                is in the checkpoint is not rebuilt.
        """
        self._life.require_created("a state restore listener")
        missing = [name for name in _RESTORE_CALLS if not callable(getattr(listener, name, None))]
        if listener is not None and missing:
            raise ConfigError(
                f"the state restore listener {listener!r} has no {missing[0]}",
                hint=f"Give an object with the methods {', '.join(_RESTORE_CALLS)}; a subclass of "
                "penstock.spark.task_restore.RestoreListener has them all.",
            )
        self._host.tell_restores(listener)

    def set_standby_update_listener(self, listener: Any) -> None:
        """Not offered: there are no standby tasks."""
        raise UnsupportedOperation(
            "set_standby_update_listener is not offered",
            hint="There are no standby tasks: any node takes a task over from the checkpoint.",
        )

    def start(self, *, progress: Progress | None = None) -> None:
        """Start processing; returns when the query runs.

        Args:
            progress: Called with short texts while Spark warms up.

        Raises:
            PenstockError: A topic is missing, Kafka does not answer, the state is another topology's, ...
        """
        if is_loading():
            raise ConfigError(
                f"the module that is looked through for its topology starts the application {self.application_id} itself",
                hint='Put the start below `if __name__ == "__main__":`, or run the file with python.',
            )
        if not self._life.begin():
            raise StreamsError(
                f"the application {self.application_id} cannot be started: it is {self.state.value}",
                hint="Make a new KafkaStreams object." if self.state.is_final else "Call start() once.",
            )
        try:
            self._serve_metrics()
            self._host.prepare(progress)
            running = self._supervisor.start()
        except BaseException as error:
            self._failure = error
            if self._life.move(StreamsState.PENDING_ERROR):
                self._end(StreamsState.ERROR)
            raise
        if running:
            atexit.register(self._close_at_exit)
            self._life.move(StreamsState.RUNNING)

    def _close_at_exit(self) -> None:
        """A program that ends without `close`: stop the query before Spark goes away under it."""
        if self._life.move(StreamsState.PENDING_SHUTDOWN):
            self._stop()

    def close(self, timeout: Duration | None = None, *, leave_group: bool = False) -> bool:
        """Stop after the batch in hand; True if that was done in time. Closing twice is fine.

        Args:
            timeout: How long to wait; without one until it is done. What is left goes on in the background.
            leave_group: Accepted as in Kafka; there is no group to leave.
        """
        seconds = None if timeout is None else duration_ms(timeout, "timeout") / 1000
        if self._life.move(StreamsState.PENDING_SHUTDOWN):
            self._stopper = threading.Thread(target=self._stop, name=f"{self.application_id}-stop", daemon=True)
            self._stopper.start()
        if self._is_own_thread():
            return self._life.ended.is_set()  # a listener or handler: waiting here would wait for itself
        return self._life.ended.wait(seconds)

    def _is_own_thread(self) -> bool:
        return threading.current_thread() in {self._stopper, self._supervisor.thread}

    def _stop(self) -> None:
        try:
            self._supervisor.stop()
        except Exception as error:  # noqa: BLE001 - it ends all the same
            log.warning("%s: the query could not be stopped: %s", self.application_id, error)
        finally:
            self._end(StreamsState.NOT_RUNNING)

    def _end(self, final: StreamsState) -> None:
        try:
            self._release()
        finally:
            self._life.move(final)  # whatever happened: others wait for it

    def _release(self) -> None:
        """Give everything back. What cannot be given back is logged: it must not hide why the application ends."""
        atexit.unregister(self._close_at_exit)
        for give_back in (self._host.close, self._stop_metrics):
            try:
                give_back()
            except Exception as error:  # noqa: BLE001 - Spark may be gone, for example
                log.warning("%s: not everything could be cleaned up: %s", self.application_id, error)

    def run(self, *, progress: Progress | None = None, status: Callable[[KafkaStreams], None] | None = None) -> None:
        """Start, wait for Ctrl-C, SIGTERM or a failure, and close; raises the failure.

        Args:
            progress: Called with short texts while Spark warms up, and when it stops.
            status: Called about once a second while the application runs.
        """
        failed: list[BaseException] = []

        def start() -> None:
            try:
                self.start(progress=progress)
            except BaseException as error:  # noqa: BLE001 - raised again below
                failed.append(error)

        try:
            with stop_signals() as stop:
                # In a thread of its own: a signal is answered at once, even while Spark starts.
                starting = threading.Thread(target=start, name=f"{self.application_id}-start", daemon=True)
                starting.start()
                while not stop.wait(0.1 if starting.is_alive() else 1.0):
                    if failed or self._life.ended.is_set():
                        break
                    if status is not None and not starting.is_alive() and self.state.is_running_or_rebalancing:
                        status(self)
                if stop.is_set() and progress is not None:
                    progress("stopping after the batch in hand, a second Ctrl-C ends it at once")
        finally:
            self.close()
        if failed and not stop.is_set():
            raise failed[0]
        self.wait()

    def wait(self, timeout: Duration | None = None) -> bool:
        """Wait until the application has ended; True if it has. Raises what ended it."""
        ended = self._life.ended.wait(None if timeout is None else duration_ms(timeout, "timeout") / 1000)
        failure = self._failure or self._supervisor.failure
        if ended and failure is not None and self.state is StreamsState.ERROR:
            raise failure
        return ended

    def pause(self) -> None:
        """Process nothing until `resume`; the position is kept. Before the start, too."""
        self._alive("pause")
        self._supervisor.pause()

    def resume(self) -> None:
        """Go on after `pause`."""
        self._alive("resume")
        self._supervisor.resume()

    @property
    def is_paused(self) -> bool:
        """True between `pause` and `resume`."""
        return self._supervisor.paused

    def _alive(self, what: str) -> None:
        if self.state is not StreamsState.CREATED and not self.state.is_running_or_rebalancing:
            raise StreamsError(
                f"{what}() does nothing: the application {self.application_id} is {self.state.value}",
                hint="It has ended, or is about to: make a new KafkaStreams object and start that.",
            )

    def clean_up(self) -> None:
        """Remove local state. Before start or after close only; what is in the checkpoint stays."""
        if self.state is not StreamsState.CREATED and not self.state.is_final:
            raise StreamsError(
                f"local state of {self.application_id} cannot be removed while it is {self.state.value}",
                hint="Close the application first.",
            )
        for folder in local_state(self.state_dir, self.application_id):
            shutil.rmtree(folder, ignore_errors=True)

    def add_stream_thread(self) -> None:
        """Spark owns parallelism; there is nothing to add."""
        raise UnsupportedOperation(
            "add_stream_thread is not offered", hint="Set spark.master to local[n] or give the cluster more cores."
        )

    def remove_stream_thread(self, timeout: Duration | None = None) -> None:
        """Spark owns parallelism; there is nothing to remove."""
        raise UnsupportedOperation(
            "remove_stream_thread is not offered", hint="Set spark.master to local[n] or give the cluster fewer cores."
        )

    # ------------------------------------------------------------------ where things are, and how it goes

    @property
    def state_dir(self) -> str:
        """Folder of local state."""
        return state_folder(self._settings)

    @property
    def checkpoint(self) -> str:
        """Folder of the checkpoint: offsets, commits and state segments. Keep it: it is the application's memory."""
        return checkpoint_folder(self._settings)

    @property
    def metrics(self) -> Mapping[str, Any]:
        """State, figures of the last batch, and totals."""
        return {
            "state": self.state.value,
            "paused": self.is_paused,
            "uptime-ms": int((time.time() - self._created) * 1000),
            "restarts-total": self._supervisor.restarts,
            **self._host.metrics(),
        }

    def describe(self) -> TopologyDescription:
        """The topology as it runs: `Topology.describe()`, and the steps that the settings add to it.

        A node whose name ends in `-combine` sends one partial aggregate a key and batch instead of every record.
        """
        return as_run(self._topology, self._settings).describe()

    def metrics_text(self) -> str:
        """The same in the text format of Prometheus."""
        return prometheus_text(self.application_id, self.metrics)

    @property
    def metrics_port(self) -> int | None:
        """Port of the HTTP endpoint `/metrics`; None without one."""
        return None if self._metrics_server is None else self._metrics_server.port

    def _serve_metrics(self) -> None:
        port = self._settings["penstock.metrics.port"]
        if port is not None:
            self._metrics_server = MetricsServer(self._settings["penstock.metrics.host"], port, self.metrics_text)

    def _stop_metrics(self) -> None:
        server, self._metrics_server = self._metrics_server, None
        if server is not None:
            server.close()

    def __enter__(self) -> Self:
        self.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.close()


def _built(topology: Any, settings: Settings) -> Topology:
    """The topology that was given, built if it is a builder."""
    if isinstance(topology, StreamsBuilder):
        topology = topology.build(settings)
    if isinstance(topology, Topology):
        if not topology.added:
            raise TopologyError(
                "the topology reads no topic", hint="Begin it with builder.stream(...) or builder.table(...)."
            )
        return topology
    given = "None" if topology is None else f"a {type(topology).__name__}"
    raise ConfigError(
        f"KafkaStreams was given {given} instead of a topology",
        hint="Give the StreamsBuilder, or what its build() returns. A function that makes one has to be called and to "
        "return it.",
    )


def state_folder(settings: Settings) -> str:
    """Folder of local state."""
    # Absolute: Spark's processes have other working folders than the program that names it.
    return str(Path(settings["state.dir"] or Path(tempfile.gettempdir()) / "penstock").absolute())


def checkpoint_folder(settings: Settings) -> str:
    """Folder of the checkpoint."""
    given: str | None = settings["penstock.checkpoint"]
    if given:
        return given if ":" in given else str(Path(given).absolute())
    return str(Path(state_folder(settings)) / "checkpoints" / settings.required("application.id"))


def local_state(state_dir: str, application_id: str) -> list[Path]:
    """The folders of an application's local state, one for each checkpoint it had."""
    own = re.compile(re.escape(application_id) + r"-[0-9a-f]{12}")
    return [folder for folder in sorted(Path(state_dir).glob(f"{application_id}-*")) if own.fullmatch(folder.name)]
