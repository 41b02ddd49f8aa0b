"""How far the content of a store reflects its input topics."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field


@dataclass(frozen=True, slots=True)
class Position:
    """Topic -> partition -> offset of the last record whose effect a store shows. Immutable.

    >>> Position.of({"orders": {0: 5}}).merge(Position.of({"orders": {0: 3, 1: 7}})).offsets
    {'orders': {0: 5, 1: 7}}
    """

    offsets: Mapping[str, Mapping[int, int]] = field(default_factory=dict)

    @classmethod
    def of(cls, offsets: Mapping[str, Mapping[int, int]]) -> Position:
        """A position from topic -> partition -> offset."""
        return cls({topic: dict(partitions) for topic, partitions in offsets.items()})

    def merge(self, other: Position) -> Position:
        """The larger offset of each partition."""
        merged = {topic: dict(partitions) for topic, partitions in self.offsets.items()}
        for topic, partition, offset in other:
            partitions = merged.setdefault(topic, {})
            partitions[partition] = max(offset, partitions.get(partition, -1))
        return Position(merged)

    def reaches(self, other: Position) -> bool:
        """Whether every offset of `other` is reached here."""
        return all(self.offsets.get(topic, {}).get(partition, -1) >= offset for topic, partition, offset in other)

    def __iter__(self) -> Iterator[tuple[str, int, int]]:
        for topic, partitions in self.offsets.items():
            for partition, offset in partitions.items():
                yield topic, partition, offset
