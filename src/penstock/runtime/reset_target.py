"""Where a reset puts an application: the ways Kafka's reset tool knows, as functions of what a partition holds."""

from __future__ import annotations

import csv
import json
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Protocol

from penstock.errors import ConfigError, StreamsError

PartitionId = tuple[str, int]
_POSITIONS = "Give a text file with lines of topic,partition,offset, or JSON."


class Kafka(Protocol):
    """What is asked of Kafka."""

    def offsets_for_time(self, partitions: Sequence[PartitionId], timestamp: int) -> dict[PartitionId, int]:
        """First offsets at or after a time, -1 where there is none."""


@dataclass(frozen=True, slots=True)
class Held:
    """What is known of a partition: its first offset, its end, and where the application is (None: nowhere yet)."""

    start: int
    end: int
    current: int | None


@dataclass(frozen=True, slots=True)
class ResetTarget:
    """One way to choose positions.

    Attributes:
        kind: earliest, latest, time (`value` is in ms since the epoch), duration (ms back), offset, shift, or positions.
        value: What the kind needs.
        positions: For kind `positions`: a position for each partition; others stay where they are.
    """

    kind: str = "earliest"
    value: int = 0
    positions: Mapping[PartitionId, int] | None = None

    def choose(self, held: Mapping[PartitionId, Held], kafka: Kafka) -> dict[PartitionId, int]:
        """The wanted position of each partition, not yet limited to what the partition holds."""
        if self.kind == "earliest":
            return {at: h.start for at, h in held.items()}
        if self.kind == "latest":
            return {at: h.end for at, h in held.items()}
        if self.kind == "offset":
            return dict.fromkeys(held, self.value)
        if self.kind == "shift":
            return {at: _current(at, h) + self.value for at, h in held.items()}
        if self.kind == "positions":
            return self._listed(held)
        since = self.value if self.kind == "time" else int(time.time() * 1000) - self.value
        found = kafka.offsets_for_time(list(held), max(0, since))
        return {at: found[at] if found[at] >= 0 else h.end for at, h in held.items()}

    def _listed(self, held: Mapping[PartitionId, Held]) -> dict[PartitionId, int]:
        given = self.positions or {}
        unknown = sorted(set(given) - set(held))
        if unknown:
            topic, partition = unknown[0]
            raise ConfigError(
                f"partition {partition} of topic {topic} is in the file, but the application does not read it",
                hint=f"It reads {', '.join(sorted({t for t, _ in held})) or 'nothing'}.",
            )
        return {at: given[at] if at in given else _current(at, h) for at, h in held.items()}


def _current(at: PartitionId, held: Held) -> int:
    if held.current is None:
        raise StreamsError(
            f"the application has no position in partition {at[1]} of topic {at[0]} yet",
            hint="Choose a position that does not depend on it: --to-earliest, --to-latest, --to-datetime, --to-offset.",
        )
    return held.current


def read_positions(path: Path) -> dict[PartitionId, int]:
    """Positions from a file: lines of `topic,partition,offset` as Kafka's tools write them, or JSON by topic.

    Raises:
        ConfigError: The file cannot be read; names the line.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"the file {path} cannot be read: {error.strerror}", hint=_POSITIONS) from error
    except UnicodeDecodeError as error:
        raise ConfigError(f"the file {path} is not UTF-8", hint=_POSITIONS) from error
    if path.suffix == ".json":
        return _from_json(text, path)
    found: dict[PartitionId, int] = {}
    for number, row in enumerate(csv.reader(text.splitlines()), start=1):
        if not row or row[0].startswith("#"):
            continue
        try:
            topic, partition, offset = (part.strip() for part in row)
            found[topic, int(partition)] = int(offset)
        except ValueError:
            raise ConfigError(
                f"line {number} of {path} is {','.join(row)!r}", hint="Write topic,partition,offset, as in orders,0,170"
            ) from None
    return found


def _from_json(text: str, path: Path) -> dict[PartitionId, int]:
    try:
        return {(t, int(p)): int(o) for t, partitions in json.loads(text).items() for p, o in partitions.items()}
    except (AttributeError, TypeError, ValueError) as error:
        raise ConfigError(f"{path} is not JSON of positions: {error}", hint='Write {"orders": {"0": 170}}') from error
