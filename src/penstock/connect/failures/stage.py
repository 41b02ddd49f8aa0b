"""Steps a record goes through, and which of their failures can be tolerated."""

from __future__ import annotations

from enum import Enum

from penstock.connect.errors import RetriableError


class Stage(Enum):
    """A step of the way between Kafka and a connector."""

    TASK_POLL = "TASK_POLL"
    TASK_PUT = "TASK_PUT"
    TRANSFORMATION = "TRANSFORMATION"
    KEY_CONVERTER = "KEY_CONVERTER"
    VALUE_CONVERTER = "VALUE_CONVERTER"
    HEADER_CONVERTER = "HEADER_CONVERTER"
    KAFKA_PRODUCE = "KAFKA_PRODUCE"
    KAFKA_CONSUME = "KAFKA_CONSUME"

    @property
    def tolerable(self) -> type[Exception]:
        """What may be skipped: any failure of a step that handles one record, else only those that may pass by themselves."""
        return Exception if self in _ONE_RECORD else RetriableError


_ONE_RECORD = frozenset({Stage.TRANSFORMATION, Stage.KEY_CONVERTER, Stage.VALUE_CONVERTER, Stage.HEADER_CONVERTER})
