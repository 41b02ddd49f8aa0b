"""Tasks that write to another system."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from typing import NamedTuple, Protocol

from penstock.connect.data import SinkColumns, SinkRecord


class TopicPartition(NamedTuple):
    """A partition of a topic."""

    topic: str
    partition: int


class SinkTaskContext(Protocol):
    """What a sink task may ask of its worker."""

    def report(self, record: SinkRecord, error: Exception) -> None:
        """Report a record that cannot be written, and go on with the others.

        Raises:
            ConnectError: Errors are not tolerated: the task ends.
        """
        ...


class _NoReports:
    """The context of a task nobody hosts, in a test for instance."""

    def report(self, record: SinkRecord, error: Exception) -> None:
        raise error


class SinkTask(ABC):
    """A part of a sink connector's work: it gets the records of some partitions.

    A task is told of records in offset order for each partition. After a failure it may get records again that it was given
    before, so writing is best made idempotent by (topic, partition, offset): `record.original_topic`,
    `record.original_partition` and `record.original_offset`, which no transform changes.

    Args:
        config: The task's configuration, as the connector made it.
    """

    context: SinkTaskContext = _NoReports()

    def __init__(self, config: Mapping[str, str]) -> None:
        self.config = dict(config)

    def start(self) -> None:  # noqa: B027 - for those who need it
        """Connect. Called before anything else."""

    def open(self, partitions: Collection[TopicPartition]) -> None:  # noqa: B027 - for those who need it
        """Records of these partitions follow, besides those opened before.

        A partition may be opened again: it was with another process in between. What is kept of it is to be thrown away, as
        its records follow from the offset that was committed last.
        """

    @property
    def wake_ms(self) -> int | None:
        """How long the task may be left alone while it keeps records back; None is until there are new ones.

        Then `pre_commit` is called, without records: a task that writes by the clock does it there.
        """
        return None

    @abstractmethod
    def put(self, records: list[SinkRecord]) -> None:
        """Take records: write them, or keep them until `flush`.

        Raises:
            RetriableError: Give the same records again later.
        """

    def put_columns(self, columns: SinkColumns) -> None:
        """Take records of one partition by columns, which is how they come where no transform needs single records.

        For tasks that write many at once: they save the time it takes to make the records, unless they need them after all.

        Raises:
            RetriableError: Give the same records again later.
        """
        self.put(columns.records())

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:  # noqa: B027 - for those who need it
        """Make everything taken so far durable. Called at the end of each batch.

        Args:
            offsets: For each partition the offset behind the last record taken.
        """

    def pre_commit(self, offsets: Mapping[TopicPartition, int]) -> Mapping[TopicPartition, int]:
        """The offsets that may be committed: records below them are durable.

        A task that gathers records over several batches, into files of some size, returns offsets that lag behind; where it
        is started anew, records are given again from there.
        """
        self.flush(offsets)
        return offsets

    def stop(self) -> None:  # noqa: B027 - for those who need it
        """Disconnect. What was not flushed may be thrown away: it is given again."""
