"""What predicates have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from typing import Any, ClassVar

from penstock.connect.config import ConfigDef
from penstock.connect.data import ConnectRecord


class Predicate(ABC):
    """Says yes or no to a record.

    Args:
        settings: Settings of the predicate, without the prefix `predicates.<alias>.`.
    """

    CONFIG: ClassVar[ConfigDef] = ConfigDef()

    def __init__(self, settings: Mapping[str, Any] | None = None) -> None:
        self.settings = self.CONFIG.parse(settings or {})

    @abstractmethod
    def test(self, record: ConnectRecord) -> bool:
        """Whether the record has what the predicate looks for."""

    def close(self) -> None:  # noqa: B027 - most predicates hold nothing
        """Called when the task ends."""
