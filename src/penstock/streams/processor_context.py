"""What a user processor may do, as a type; tasks and the mock context of tests both offer it."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Protocol

from penstock.durations import Duration, Instant
from penstock.records import RecordMetadata


class Scheduled(Protocol):
    """A punctuation that can be ended."""

    def cancel(self) -> None:
        """Do not call it again."""


class ProcessorContext(Protocol):
    """What a processor gets in `init`: it forwards records, reaches stores, schedules, and asks where it is."""

    def forward(self, record: Any, child: str | None = None) -> None:
        """Send a record to all children in order, or to one of them by name."""

    def get_state_store(self, name: str) -> Any:
        """A connected store, or a global one (read only)."""

    def schedule(
        self,
        interval: Duration,
        type: Any,  # noqa: A002 - Kafka's name
        callback: Callable[[int], Any],
        *,
        start: Instant | None = None,
    ) -> Scheduled:
        """Call `callback(time)` again and again; `type` is a `PunctuationType`, "stream" or "wall"."""

    def commit(self) -> None:
        """Ask for a commit soon."""

    @property
    def record_metadata(self) -> RecordMetadata | None:
        """Topic, partition and offset of the record being processed; None in punctuators."""

    @property
    def task_id(self) -> str:
        """`<sub-topology>_<partition>`."""

    @property
    def application_id(self) -> str:
        """The application's id."""

    def current_stream_time_ms(self) -> int:
        """The largest timestamp this task has seen."""

    def current_system_time_ms(self) -> int:
        """The wall clock."""

    @property
    def app_configs(self) -> Mapping[str, Any]:
        """All settings of the application."""

    @property
    def state_dir(self) -> str:
        """Folder for local state."""

    @property
    def metrics(self) -> Mapping[str, int]:
        """Counters of the task."""

    @property
    def key_serde(self) -> Any:
        """The default key serde."""

    @property
    def value_serde(self) -> Any:
        """The default value serde."""
