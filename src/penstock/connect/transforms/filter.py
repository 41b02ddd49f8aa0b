"""Filter: drops records, those that a predicate picks."""

from __future__ import annotations

from penstock.connect.data import ConnectRecord
from penstock.connect.transforms.transformation import Transformation


class Filter(Transformation):
    """Drops every record it gets; a predicate decides which ones that are."""

    def apply(self, record: ConnectRecord) -> ConnectRecord | None:
        return None
