"""User processors: `init`, `process`, `close`, and the context they work with."""

from __future__ import annotations

import inspect
from collections.abc import Callable, Mapping
from typing import Any

from penstock.durations import Duration, Instant
from penstock.errors import StreamsError
from penstock.interpreter.compiler import NodeContext, builds
from penstock.interpreter.punctuation import (
    Cancellable,
    PunctuationType,
    first_due,
    interval_ms,
    punctuation_type,
)
from penstock.records import FixedKeyRecord, Record, RecordMetadata
from penstock.topology.operators import Branch, Process


class ProcessorContext:
    """What a processor may do: forward records, reach its stores, schedule punctuation, ask where it is."""

    def __init__(self, node: NodeContext, services: Any, *, fixed_key: bool = False) -> None:
        self._node = node
        self._task = node.context
        self._services = services
        self._fixed_key = fixed_key
        # Bound now, not at the first forward: processors below are made, and initialised, with this one.
        self._forward: Callable[..., None] = node.forward
        self._closed = False

    def forward(self, record: Any, child: str | None = None) -> None:
        """Send a record to all children in order, or to one of them by name."""
        if self._closed:
            raise StreamsError(f"processor {self._node.name} forwards a record after it was closed")
        if not isinstance(record, FixedKeyRecord if self._fixed_key else Record):
            wanted = "FixedKeyRecord (record.with_value(...))" if self._fixed_key else "Record"
            raise StreamsError(
                f"processor {self._node.name} forwards {record!r}, a {type(record).__name__}",
                hint=f"Forward a {wanted}.",
            )
        if child is None:
            target = self._forward
        else:
            if child not in self._node.children:
                raise StreamsError(
                    f"processor {self._node.name} forwards to {child!r}, which is not a child of it",
                    hint=f"Children: {', '.join(self._node.children) or 'none'}.",
                )
            target = self._node.child(child)
        task = self._task
        headers, timestamp = task.headers, task.timestamp
        task.headers, task.timestamp = record.headers, record.timestamp
        try:
            target(record.key, record.value, record.timestamp)
        finally:
            task.headers, task.timestamp = headers, timestamp

    def get_state_store(self, name: str) -> Any:
        """A connected store, or a global one (read only)."""
        return self._node.store_for_user(name)

    def schedule(
        self,
        interval: Duration,
        type: PunctuationType | str,  # noqa: A002 - Kafka's name
        callback: Callable[[int], Any],
        *,
        start: Instant | None = None,
    ) -> Cancellable:
        """Call `callback(time)` again and again, by stream time or wall clock."""
        kind, millis = punctuation_type(type), interval_ms(interval)
        stream = kind is PunctuationType.STREAM_TIME
        now = self._task.stream_time if stream else self._task.system_time()
        entry = Cancellable(self._node.name, millis, callback)
        schedule = self._services.stream_schedule if stream else self._services.wall_schedule
        schedule.add(first_due(kind, millis, now, start), entry)
        return entry

    def commit(self) -> None:
        """Ask for a commit soon."""
        self._services.commit_requested = True

    @property
    def record_metadata(self) -> RecordMetadata | None:
        """Topic, partition and offset of the record being processed; None in punctuators."""
        return self._task.record_metadata

    @property
    def task_id(self) -> str:
        """`<sub-topology>_<partition>`."""
        return self._task.task_id

    @property
    def application_id(self) -> str:
        """The application's id."""
        return self._task.application_id

    def current_stream_time_ms(self) -> int:
        """The largest timestamp this task has seen."""
        return self._task.stream_time

    def current_system_time_ms(self) -> int:
        """The wall clock."""
        return self._task.system_time()

    @property
    def app_configs(self) -> Mapping[str, Any]:
        """All settings of the application."""
        return self._node.config.app_configs

    def app_configs_with_prefix(self, prefix: str) -> dict[str, Any]:
        """The settings that start with a prefix, without it."""
        return {k[len(prefix) :]: v for k, v in self.app_configs.items() if k.startswith(prefix)}

    @property
    def state_dir(self) -> str:
        """Folder for local state."""
        return self._node.config.state_dir

    @property
    def metrics(self) -> Mapping[str, int]:
        """Drops of the task by reason."""
        return dict(self._task.dropped)

    @property
    def key_serde(self) -> Any:
        """The default key serde."""
        return self._node.key_serde(None)

    @property
    def value_serde(self) -> Any:
        """The default value serde."""
        return self._node.value_serde(None)

    def close(self) -> None:
        """No forwards from here on."""
        self._closed = True


class _GeneratorProcessor:
    """A generator function `(record, context)` as a processor: what it yields is forwarded."""

    def __init__(self, function: Callable[[Any, Any], Any]) -> None:
        self._function = function
        self._context: Any = None

    def init(self, context: Any) -> None:
        self._context = context

    def process(self, record: Any) -> None:
        for produced in self._function(record, self._context):
            self._context.forward(produced)


def instantiate(supplier: Any, node: str) -> Any:
    """A new processor of a supplier: a class, a factory, or a generator function."""
    if inspect.isgeneratorfunction(supplier):
        return _GeneratorProcessor(supplier)
    get = None if inspect.isclass(supplier) else getattr(supplier, "get", None)
    processor = supplier() if get is None else get()
    if not callable(getattr(processor, "process", None)):
        raise StreamsError(
            f"the supplier of processor {node} gave {processor!r}, which has no process(record) method",
            hint="Give a Processor class, a function that returns a new processor, or a generator function.",
        )
    return processor


@builds(Process)
def process(operator: Process, node: NodeContext) -> Callable[..., None]:
    """Hand each record to the user's processor."""
    services = node.services
    context = ProcessorContext(node, services, fixed_key=operator.fixed_key)
    processor = instantiate(operator.supplier, node.name)
    record_type: Any = FixedKeyRecord if operator.fixed_key else Record
    services.processors.append((node.name, processor, context))
    call, task = processor.process, node.context

    def run(key: Any, value: Any, timestamp: int) -> None:
        call(record_type(key, value, timestamp, task.headers))

    return run


@builds(Branch)
def branch(operator: Branch, node: NodeContext) -> Callable[..., None]:
    """To the first child whose predicate holds."""
    tests = tuple(
        (p.bind("key", "value", *(["timestamp"] if "timestamp" in p.parameters else [])), "timestamp" in p.parameters)
        for p in operator.predicates
    )
    routes = tuple((test, timed, node.child(c)) for (test, timed), c in zip(tests, operator.children, strict=True))
    default = node.child(operator.default) if operator.default is not None else None
    drop = node.drop("no branch matched")

    def route(key: Any, value: Any, timestamp: int) -> None:
        for test, timed, child in routes:
            if test(key, value, timestamp) if timed else test(key, value):
                child(key, value, timestamp)
                return
        if default is not None:
            default(key, value, timestamp)
        else:
            drop()

    return route
