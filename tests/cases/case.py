"""One case, as the files hold it: a JSON object a line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True)
class Case:
    """A topology in words, what goes in and what must come out.

    Attributes:
        topology: The pseudo DSL (see `build`).
        inputs: (topic, key, value, timestamp), sent one after the other.
        expected: (key, value, timestamp); a timestamp of None is not checked.
        order: How outputs are compared (see `judge`).
        steps: (n, c): after the first n inputs c more outputs have come since the step before.
        dropped: Indexes of the inputs that must be dropped, or None if that is not checked.
        dropped_total: Number of drops, or None.
        complete: False if `expected` is only the beginning.
        legacy: Needs the eager join that Kafka deprecates.
    """

    id: str
    topology: str
    inputs: tuple[tuple[str, Any, Any, int], ...]
    expected: tuple[tuple[Any, Any, int | None], ...]
    order: str
    steps: tuple[tuple[int, int], ...] = ()
    dropped: tuple[int, ...] | None = None
    dropped_total: int | None = None
    complete: bool = True
    legacy: bool = False


def load(path: Path) -> Iterator[Case]:
    """The cases of a file.

    Raises:
        ValueError: A line is not a case; the message names file and line.
    """
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            try:
                yield parse(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}:{number}: not a case: {type(error).__name__}: {error}") from error


def parse(fields: dict[str, Any]) -> Case:
    """A case from the fields of its JSON object."""
    return Case(
        id=fields["id"],
        topology=fields["topology"],
        inputs=tuple((topic, key, value, timestamp) for topic, key, value, timestamp in fields["inputs"]),
        expected=tuple((key, value, timestamp) for key, value, timestamp in fields["expected"]),
        order=fields["order"],
        steps=tuple((n, c) for n, c in fields.get("steps", ())),
        dropped=tuple(fields["dropped"]) if "dropped" in fields else None,
        dropped_total=fields.get("dropped_total"),
        complete=fields.get("complete", True),
        legacy=fields.get("legacy", False),
    )
