"""Tasks that read another system.

A source is read in two steps. `plan` says, on the driver, how far there is something to read; the worker notes the answer.
`read` then gives the records of one such range, in a Spark task. What fails in between is read again by the same range, so
that a repeated batch has the same records: that is what makes delivery exactly once possible.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Protocol

from penstock.connect.data import SourceRecord

Partition = Mapping[str, Any]
"""A part of a source: `{"filename": "/var/log/app"}`. Values are texts, numbers, booleans or None."""
Offset = Mapping[str, Any]
"""Where to go on in a part of a source: `{"position": 4711}`."""


@dataclass(frozen=True, slots=True)
class SourceRange:
    """What is to be read of one part of a source: from an offset up to another, exactly.

    Attributes:
        partition: The part.
        start: Where to begin; None is the very beginning.
        end: Where to stop, and where the next range begins.
    """

    partition: Partition
    start: Offset | None
    end: Offset


class OffsetReader(Protocol):
    """Knows how far parts of the source were read."""

    def offset(self, partition: Partition) -> Offset | None:
        """Where to go on in a part; None if nothing of it was read."""
        ...


class SourceTask(ABC):
    """A part of a source connector's work. `plan` runs on the driver, `read` in Spark's tasks, in objects of their own.

    Attributes:
        idle_ms: How long to wait after a plan that found nothing.

    Args:
        config: The task's configuration, as the connector made it.
    """

    idle_ms: int = 500

    def __init__(self, config: Mapping[str, str]) -> None:
        self.config = dict(config)

    def start(self) -> None:  # noqa: B027 - for those who need it
        """Open what is needed. Called before the first `plan` or `read`."""

    @abstractmethod
    def plan(self, offsets: OffsetReader) -> Sequence[SourceRange]:
        """What there is to read now: at most one range for each part, nothing for parts without news.

        Keep ranges small enough for one batch, some ten thousand records: the next plan follows at once.

        Raises:
            RetriableError: Ask again later.
        """

    @abstractmethod
    def read(self, wanted: SourceRange) -> Iterator[SourceRecord]:
        """The records of a range, the same ones each time it is asked for.

        Raises:
            RetriableError: The range is to be read again later.
        """

    def commit(self, delivered: Sequence[SourceRange]) -> None:  # noqa: B027 - for those who need it
        """Ranges whose records are in Kafka; called on the driver. A source may let go of them."""

    def stop(self) -> None:  # noqa: B027 - for those who need it
        """Close what `start` opened."""
