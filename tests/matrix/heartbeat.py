"""A processor that follows the wall clock, where Spark's workers can import it."""

from __future__ import annotations

from typing import Any

from penstock import ContextualProcessor, ProcessorContext, PunctuationType, Record
from tests.matrix.catalog import Corner


class Heartbeat(ContextualProcessor[Any, Any, Any, Any]):
    """Says now and then how many records it has seen, and when."""

    def init(self, context: ProcessorContext) -> None:
        super().init(context)
        self._seen = 0
        context.schedule(200, PunctuationType.WALL_CLOCK_TIME, self._beat)

    def process(self, record: Record[Any, Any]) -> None:
        self._seen += 1
        self.context.forward(record.with_value(f"record at {self.context.current_system_time_ms()}"))

    def _beat(self, now: int) -> None:
        self.context.forward(Record(f"task {self.context.task_id}", f"{self._seen} at {now}", now))


def beat(corner: Corner) -> None:
    corner.write(corner.stream().process(Heartbeat))
    corner.write(corner.stream("other").select_key(lambda k, v: f"x{v}").repartition().process(Heartbeat))
