"""Global tables and stores: kept whole by every host, read by all its tasks."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

import penstock.interpreter.operators  # noqa: F401 - registers all builders
from penstock.interpreter.compiler import Compiler
from penstock.interpreter.config import TaskConfig
from penstock.interpreter.context import TaskContext
from penstock.interpreter.guards import Guards, TaskFailed
from penstock.interpreter.source import SourcePartition
from penstock.interpreter.task import Services, StoreHome
from penstock.interpreter.timestamps import resolve_extractor
from penstock.state.bytes_store import BytesStore
from penstock.topology.nodes import GlobalStoreNode
from penstock.topology.operators import Edge
from penstock.topology.topology import Topology


class GlobalTables:
    """All global stores of a topology and the code that keeps them up to date.

    Attributes:
        stores: The stores by name.
        topics: The topics they follow.
    """

    def __init__(
        self,
        topology: Topology,
        *,
        config: TaskConfig,
        bytes_store: Callable[[str], BytesStore],
        system_time: Callable[[], int],
    ) -> None:
        self.context = TaskContext(config.application_id, "global", system_time)
        self._config = config
        # Dead letters and resuming are for the tasks' own records; here only the handler that the user turned on.
        self._guards = Guards(config, self.context, lambda letter: None)
        self._guarded = config.global_processing_handler and config.processing_handler is not None
        self._services = Services(lambda entry, now: None)
        home = StoreHome(bytes_store, self.context, config, caching=False)
        self.stores: dict[str, Any] = {
            name: topology.global_stores[name].builder.build(home) for name in topology.global_stores
        }
        self._nodes = {t: node for node in topology.global_stores.values() for t in node.source.topics}
        self.topics: tuple[str, ...] = tuple(self._nodes)
        self._forward = {t: self._compile(topology, node) for t, node in self._nodes.items()}
        for _, processor, context in self._services.processors:
            init = getattr(processor, "init", None)
            if init is not None:
                init(context)
        self._partitions: dict[tuple[str, int], SourcePartition] = {}

    def _compile(self, topology: Topology, node: GlobalStoreNode) -> Callable[..., None]:
        alone = Topology()
        alone.nodes[node.source.name] = node.source
        alone.nodes[node.processor.name] = node.processor
        alone.global_stores = topology.global_stores
        guard = self._guards.guard if self._guarded else None
        compiler = Compiler(alone, self.context, self._config, self.stores, _no_sink, self._services, guard)
        return compiler.forward_to(node.source.name, Edge.STREAM)

    def update(
        self,
        topic: str,
        partition: int,
        offset: int,
        timestamp: int,
        key: bytes | None,
        value: bytes | None,
        headers: Iterable[tuple[str, bytes | None]] | None,
    ) -> None:
        """Take one record of a global topic."""
        source = self._partitions.get((topic, partition))
        if source is None:
            source = self._partitions[topic, partition] = self._open(topic, partition)
        try:
            source.enter()
            source.accept(offset, timestamp, key, value, headers)
        except TaskFailed:
            raise
        except Exception as error:
            raise self._guards.failure(error) from error

    def _open(self, topic: str, partition: int) -> SourcePartition:
        node = self._nodes[topic].source
        return SourcePartition(
            node=node.name,
            topic=topic,
            partition=partition,
            key_serde=self._config.key_serde(node.key_serde, f"source {node.name}"),
            value_serde=self._config.value_serde(node.value_serde, f"source {node.name}"),
            extract=resolve_extractor(node.timestamp_extractor, self.context),
            partition_time=self.context.saved(f"partition time {topic}-{partition}", -1),
            context=self.context,
            guards=self._guards,
            forward=self._forward[topic],
            after=self._services.stream_schedule,
        )

    def close(self) -> None:
        """Close processors and stores."""
        for _, processor, context in self._services.processors:
            context.close()
            close = getattr(processor, "close", None)
            if close is not None:
                close()
        for store in self.stores.values():
            store.close()


def _no_sink(node: Any) -> Callable[..., None]:
    raise TypeError(f"a global store's processor forwards to {node.name}")
