"""What every state store has in common, and what a store needs of its task."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any, ClassVar, Protocol

from penstock.errors import ConfigError, InvalidStateStoreError
from penstock.records import Headers
from penstock.serde import Serde, resolve_serde
from penstock.state.position import Position

if TYPE_CHECKING:
    from penstock.state.bytes_store import BytesStore

# Called with Kafka's changelog key, its value (None deletes) and the record's timestamp.
OnChange = Callable[[bytes, "bytes | None", int], None]
# Called by a cache when it flushes: key, new value, old value, timestamp, headers.
FlushListener = Callable[[Any, Any, Any, int, Headers], None]


class StoreContext(Protocol):
    """The record being processed, as far as stores look at it."""

    topic: str | None
    timestamp: int
    headers: Headers


class StoreEnvironment(Protocol):
    """What a task gives to the stores it builds.

    Attributes:
        default_key_serde / default_value_serde: For stores that name no serde; None if there is no default.
        caching: Whether stores may keep updates back until the next flush; False overrides what builders ask for.
        context: The record being processed.
    """

    default_key_serde: Any
    default_value_serde: Any
    caching: bool

    @property
    def context(self) -> StoreContext:
        """The record being processed."""

    def bytes_store(self, name: str) -> BytesStore:
        """The ordered map that keeps the content of a store; the same content for the same name after a restart."""

    def drop(self, reason: str) -> Callable[[], None]:
        """A function that counts one dropped record."""

    def changelog_topic(self, store: str) -> str:
        """The topic name given to the serdes of a store."""


class StateStore:
    """A named store of a task.

    A store of your own subclasses this and overrides `init` (called once, before the first record), `flush`,
    `close`, and `persistent`.

    Attributes:
        position: Input offsets that the content reflects; the task sets it when it commits.
        on_change: Gets every change that goes to the changelog, if the store is logged and somebody listens.
    """

    kind: ClassVar[str] = "custom"
    persistent: bool = True
    cached: bool = False

    def __init__(self, name: str) -> None:
        self.name = name
        self.is_open = True
        self.position = Position()
        self.on_change: OnChange | None = None

    def init(self, context: Any, root: StateStore) -> None:
        """Prepare the store; for stores of users."""

    def flush(self) -> None:
        """Write what is kept back. After a flush the bytes store holds everything a restart needs."""

    def close(self) -> None:
        """Flush nothing, accept nothing more."""
        self.is_open = False

    def _check_open(self) -> None:
        if not self.is_open:
            raise InvalidStateStoreError(f"the store {self.name} is closed", hint="Open a new one from its builder.")


def key_serde(environment: StoreEnvironment, spec: Any, store: str) -> Serde[Any]:
    """The store's serde of keys, or the default."""
    return _complete(_serde(spec, environment.default_key_serde, store, "key"), environment)


def value_serde(environment: StoreEnvironment, spec: Any, store: str) -> Serde[Any]:
    """The store's serde of values, or the default."""
    return _complete(_serde(spec, environment.default_value_serde, store, "value"), environment)


def _complete(serde: Serde[Any], environment: StoreEnvironment) -> Serde[Any]:
    """A serde around another (windowed keys, table changes) that was not named takes the default inside."""
    with_defaults = getattr(serde, "with_defaults", None)
    if with_defaults is None:
        return serde
    completed: Serde[Any] = with_defaults(
        resolve_serde(environment.default_key_serde), resolve_serde(environment.default_value_serde)
    )
    return completed


def _serde(spec: Any, default: Any, store: str, what: str) -> Serde[Any]:
    serde: Serde[Any] | None = resolve_serde(spec if spec is not None else default)
    if serde is None:
        raise ConfigError(
            f"the store {store} has no {what} serde and there is no default",
            hint=f'Give the store {what}_serde="string" (or another), or set default.{what}.serde.',
        )
    return serde
