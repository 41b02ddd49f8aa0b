"""A task over stores in memory, fed by hand."""

from __future__ import annotations

from typing import Any

from penstock import StreamsBuilder
from penstock.interpreter.task import Task
from penstock.runtime.settings import Settings
from penstock.state.bytes_store import MemoryBytesStore
from penstock.testing.driver import _Outputs


def in_memory_task(builder: StreamsBuilder, **settings: Any) -> tuple[Task, _Outputs]:
    """The task of a whole topology, and what it writes."""
    stores: dict[str, MemoryBytesStore] = {}
    outputs = _Outputs()
    task = Task(
        builder.build(),
        config=Settings({"application.id": "app", **settings}).task_config(),
        collector=outputs,
        bytes_store=lambda name: stores.setdefault(name, MemoryBytesStore()),
    )
    return task, outputs
