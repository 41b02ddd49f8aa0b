"""Which topics in Kafka an application has made itself."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from penstock.runtime.checkpoint import Remembered
from penstock.topology.topology import Topology

_INTERNAL = re.compile(
    r".+-(changelog|repartition|subscription-(registration|response)-topic"
    r"|KTABLE-FK-JOIN-SUBSCRIPTION-(REGISTRATION|RESPONSE)-\d+-topic)"
)


@dataclass(frozen=True, slots=True)
class InternalTopics:
    """The internal topics that carry an application's name.

    Attributes:
        own: Those that are its own.
        unknown: Those that may be another's: `shop-orders-sums-changelog` is of `shop`, or of `shop-orders`.
        guessed: Nothing is known of the application: all that carry its name count as its own.
    """

    own: tuple[str, ...]
    unknown: tuple[str, ...] = ()
    guessed: bool = False


def find_internal_topics(
    application_id: str, existing: Iterable[str], *, remembered: Remembered | None, topology: Topology | None
) -> InternalTopics:
    """The internal topics of an application among those that exist.

    >>> existing = ["shop-counts-changelog", "shop-orders-sums-changelog", "shopping-changelog", "orders"]
    >>> before = Remembered({"counts": 0}, {})
    >>> find_internal_topics("shop", existing, remembered=before, topology=None)
    InternalTopics(own=('shop-counts-changelog',), unknown=('shop-orders-sums-changelog',), guessed=False)

    Args:
        application_id: The application.
        existing: Names of all topics.
        remembered: What its checkpoint knows of it.
        topology: Its topology, if somebody has it.
    """
    prefix = f"{application_id}-"
    carrying = sorted(name for name in existing if name.startswith(prefix) and _INTERNAL.fullmatch(name))
    if remembered is None and topology is None:
        return InternalTopics(tuple(carrying), guessed=bool(carrying))
    known = {f"{prefix}{name}" for name in _names(remembered, topology)}
    own = tuple(name for name in carrying if name in known)
    return InternalTopics(own, tuple(name for name in carrying if name not in known))


def _names(remembered: Remembered | None, topology: Topology | None) -> Iterator[str]:
    """Names without the application's id."""
    for source in (remembered, topology):
        if source is not None:
            yield from source.internal_topics
            yield from (f"{store}-changelog" for store in source.stores)
