"""A task as stores see it: where bytes live, the current record, counters."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

import pytest

from penstock.records import NO_HEADERS, Headers
from penstock.state import caching_key_value, caching_session, caching_window, join_window
from penstock.state.bytes_store import BytesStore, MemoryBytesStore
from penstock.state.store import StoreContext


@dataclass
class Context:
    topic: str | None = "input"
    timestamp: int = 0
    headers: Headers = NO_HEADERS


@dataclass
class Environment:
    caching: bool = True
    default_key_serde: Any = "string"
    default_value_serde: Any = "long"
    stores: dict[str, BytesStore] = field(default_factory=dict)
    record: Context = field(default_factory=Context)
    dropped: dict[str, int] = field(default_factory=dict)

    @property
    def context(self) -> StoreContext:
        return self.record

    def bytes_store(self, name: str) -> BytesStore:
        return self.stores.setdefault(name, MemoryBytesStore())

    def drop(self, reason: str) -> Callable[[], None]:
        def count() -> None:
            self.dropped[reason] = self.dropped.get(reason, 0) + 1

        return count

    def changelog_topic(self, store: str) -> str:
        return f"app-{store}-changelog"

    def restarted(self) -> Environment:
        """A new task over a copy of the same bytes; clocks and counters are kept, nothing else."""
        stores: dict[str, BytesStore] = {
            name: MemoryBytesStore(list(content.items())) for name, content in self.stores.items()
        }
        return Environment(
            self.caching, self.default_key_serde, self.default_value_serde, stores, self.record, self.dropped
        )


@contextmanager
def rows_kept_in_memory(limit: int) -> Iterator[None]:
    """Caches forget what they need not remember when they have more rows than this."""
    with pytest.MonkeyPatch.context() as patch:
        for module in (caching_key_value, caching_session, caching_window, join_window):
            patch.setattr(module, "MAX_CLEAN", limit)
        yield
