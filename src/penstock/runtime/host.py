"""What an application needs of whatever runs its query. Spark is the one host; the seam keeps the life of an application
free of it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol

Progress = Callable[[str], None]


class Failure(Protocol):
    """What ended a query by itself; an exception."""

    @property
    def kind(self) -> str:
        """Name of the error's class."""

    @property
    def transient(self) -> bool:
        """True if trying again may help without anybody changing anything."""


class Batch(Protocol):
    """What a batch did."""

    def as_dict(self) -> dict[str, Any]:
        """Its figures, as JSON takes them."""


class Ended(Protocol):
    """The end of a query."""

    @property
    def failure(self) -> Any:
        """What ended it; None if somebody stopped it."""


class Query(Protocol):
    """A running query."""

    @property
    def paused(self) -> bool:
        """Whether it processes nothing for now."""

    @property
    def idle(self) -> bool:
        """Whether it has nothing to do just now: no batch is at work, and the first look for records is over."""

    def poll(self, seconds: float) -> Ended | None:
        """Wait that long for the end."""

    def stop(self) -> None:
        """Stop after the batch in hand."""

    def pause(self) -> None:
        """Process nothing, keep the position."""

    def resume(self) -> None:
        """Go on."""

    def new_batches(self) -> Sequence[Batch]:
        """The batches that ended since the last call."""


class Host(Protocol):
    """Starts queries."""

    def tell_restores(self, listener: Any) -> None:
        """Tell a listener of state that is rebuilt at a start."""

    def prepare(self, progress: Progress | None) -> None:
        """Wait until queries can be started."""

    def start(self, *, paused: bool) -> Query:
        """Lay the topology out over the topics as they are now and start its query."""

    def topics_changed(self) -> bool:
        """Whether the topics are others than the running query was laid out for, and fit the topology."""

    def tend(self) -> None:
        """Called every few seconds while a query runs."""

    def metrics(self) -> Mapping[str, Any]:
        """Figures of the batches so far."""

    def close(self) -> None:
        """Give everything back."""
