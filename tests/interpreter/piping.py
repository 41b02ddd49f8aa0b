"""Text records through a topology in a test driver: what comes out of the topic `out`, record by record."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from types import TracebackType
from typing import Any

from typing_extensions import Self

from penstock.interpreter.config import TaskConfig
from penstock.runtime.settings import Settings
from penstock.testing import TopologyTestDriver

TEXT = {"default.key.serde": "string", "default.value.serde": "string", "statestore.cache.max.bytes": 0}
Input = tuple[str, Any, Any, int]
Output = tuple[Any, Any, int]


def pair(left: Any, right: Any) -> str:
    """The joiner of these tests."""
    return f"{left}+{right}"


class _Throttled(Settings):
    """Settings with the wall-clock throttle that the test driver leaves out."""

    def __init__(self, given: Mapping[str, Any], emit_interval_ms: int) -> None:
        super().__init__(given)
        self._emit_interval_ms = emit_interval_ms

    def task_config(self, **overrides: Any) -> TaskConfig:
        return super().task_config(emit_interval_ms=self._emit_interval_ms, **overrides)


class Piping:
    """A driver that gives the output of one record at a time as (key, value, timestamp); nothing is cached."""

    def __init__(self, builder: Any, config: Mapping[str, Any] | None = None, *, emit_interval_ms: int = 0) -> None:
        self.driver = TopologyTestDriver(builder, _Throttled({**TEXT, **(config or {})}, emit_interval_ms))

    def pipe(
        self, topic: str, key: Any, value: Any, timestamp: int, headers: Iterable[tuple[str, bytes | None]] = ()
    ) -> list[Output]:
        """What this record gives."""
        self.driver.create_input_topic(topic).pipe_input(key, value, timestamp, headers)
        return [(r.key, r.value, r.timestamp or 0) for r in self.driver.create_output_topic("out")]

    def values(self, *records: Input) -> list[Any]:
        """The values that these records give, one after the other."""
        return [value for record in records for _, value, _ in self.pipe(*record)]

    def dropped(self, reason: str) -> int:
        """Dropped records of a reason."""
        return self.driver.metrics.get(reason, 0)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self.driver.close()
