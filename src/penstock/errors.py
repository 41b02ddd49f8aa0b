"""Every error penstock raises on purpose.

    PenstockError
    ├── ConfigError                 a setting is unknown, missing or has a bad value
    ├── TopologyError               the topology cannot be built; names the node and the user's line
    ├── SerdeError                  bytes or a value that a serde cannot take
    ├── StreamsError                a running task failed; names node, topic, partition and offset
    │   ├── ProcessorStateError     a store cannot be read, written or restored
    │   ├── MissingSourceTopicError an input topic does not exist
    │   └── BufferFullError         a strict suppress buffer is over its limit
    ├── UnsupportedOperation        Kafka has it, penstock does not; the text names what to use instead
    └── InvalidStateStoreError      a store cannot be queried
        ├── UnknownStateStoreError
        ├── StateStoreMigratedError
        ├── StateStoreNotAvailableError
        ├── InvalidStateStorePartitionError
        ├── StreamsNotStartedError
        ├── StreamsRebalancingError
        └── StreamsStoppedError

Each message says what was wrong and where; `hint` says what to do next.
"""

from __future__ import annotations


class PenstockError(Exception):
    """Root of all errors.

    Args:
        message: What was wrong and where.
        hint: The next step for the user; printed after the message.
    """

    def __init__(self, message: str, *, hint: str = "") -> None:
        self.message = message
        self.hint = hint
        super().__init__(message)

    def __str__(self) -> str:
        if not self.hint:
            return self.message
        return f"{self.message.rstrip('. ')}. {self.hint}"

    def __reduce__(self) -> tuple[object, ...]:
        # Errors travel from Spark's workers to the driver; keyword-only arguments need help with that.
        return (_rebuild, (type(self), self.message, self.hint, self.__dict__))


def _rebuild(cls: type[PenstockError], message: str, hint: str, attributes: dict[str, object]) -> PenstockError:
    error = cls.__new__(cls)
    PenstockError.__init__(error, message, hint=hint)
    error.__dict__.update(attributes)
    return error


class ConfigError(PenstockError):
    """A setting is unknown, missing, or has a value that cannot be used."""


class TopologyError(PenstockError):
    """A topology that cannot be built.

    Attributes:
        node: Name of the node concerned, if there is one.
        line: The user's source line, `file.py:12`, if it is known.
    """

    def __init__(self, message: str, *, node: str | None = None, line: str | None = None, hint: str = "") -> None:
        self.node = node
        self.line = line
        where = " ".join(part for part in (f"node {node}" if node else "", f"at {line}" if line else "") if part)
        super().__init__(f"{message} ({where})" if where else message, hint=hint)


class SerdeError(PenstockError):
    """A value that cannot be serialised, or bytes that cannot be deserialised."""


class StreamsError(PenstockError):
    """A task failed while it processed a record."""


class ProcessorStateError(StreamsError):
    """State that cannot be read, written or restored."""


class MissingSourceTopicError(StreamsError):
    """An input topic does not exist."""


class BufferFullError(StreamsError):
    """A suppress buffer with `shut_down_when_full` is over its limit."""


class UnsupportedOperation(PenstockError):
    """Something Kafka Streams offers and penstock does not; the hint names the replacement."""


class InvalidStateStoreError(PenstockError):
    """A store that cannot be queried now."""


class UnknownStateStoreError(InvalidStateStoreError):
    """No store of that name."""


class StateStoreMigratedError(InvalidStateStoreError):
    """The store moved to another instance."""


class StateStoreNotAvailableError(InvalidStateStoreError):
    """The store is gone."""


class InvalidStateStorePartitionError(InvalidStateStoreError):
    """The asked partition does not exist."""


class StreamsNotStartedError(InvalidStateStoreError):
    """The application was not started."""


class StreamsRebalancingError(InvalidStateStoreError):
    """The application is rebalancing."""


class StreamsStoppedError(InvalidStateStoreError):
    """The application was stopped."""
