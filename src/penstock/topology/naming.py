"""Names of nodes, stores and internal topics: generated from one counter, as Kafka Streams does, or given by the user."""

from __future__ import annotations

import re

from penstock.errors import TopologyError

_LEGAL = re.compile(r"[a-zA-Z0-9._-]{1,249}")

REPARTITION_SUFFIX = "-repartition"
STATE_STORE = "STATE-STORE-"


def check_name(name: object, what: str, *, line: str | None = None) -> str:
    """The name, if Kafka accepts it in topic names, which most names become part of.

    >>> check_name("orders.by-user", "name")
    'orders.by-user'
    """
    if not isinstance(name, str):
        raise TopologyError(f"{what} is {name!r}, not text", line=line, hint="Give a name as text.")
    if _LEGAL.fullmatch(name) and name not in {".", ".."}:
        return name
    raise TopologyError(
        f"{what} {name!r} is not a legal name" if len(name) <= 249 else f"{what} has {len(name)} characters",
        line=line,
        hint="Use 1 to 249 characters of a-z A-Z 0-9 . _ -, but not . or .. alone.",
    )


class NameCounter:
    """Generates names. Every operator draws its numbers in a fixed order, also where the user gave the name.

    >>> names = NameCounter()
    >>> names.node("KSTREAM-SOURCE-"), names.store("KSTREAM-AGGREGATE-")
    ('KSTREAM-SOURCE-0000000000', 'KSTREAM-AGGREGATE-STATE-STORE-0000000001')
    """

    def __init__(self) -> None:
        self._next = 0

    def _draw(self) -> str:
        self._next += 1
        return f"{self._next - 1:010d}"

    def node(self, prefix: str) -> str:
        """A new name of a node."""
        return prefix + self._draw()

    def store(self, prefix: str) -> str:
        """A new name of a store."""
        return prefix + STATE_STORE + self._draw()

    def given_or_node(self, given: str | None, prefix: str, suffix: str = "") -> str:
        """The given name with a suffix, or a generated one; a number is drawn in both cases.

        So naming one operator does not rename the ones after it.
        """
        generated = self.node(prefix)
        return generated if given is None else check_name(given + suffix, "name")
