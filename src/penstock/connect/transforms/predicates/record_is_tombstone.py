"""RecordIsTombstone: records without value."""

from __future__ import annotations

from penstock.connect.data import ConnectRecord
from penstock.connect.transforms.predicates.predicate import Predicate


class RecordIsTombstone(Predicate):
    """Whether the value is null."""

    def test(self, record: ConnectRecord) -> bool:
        return record.value is None
