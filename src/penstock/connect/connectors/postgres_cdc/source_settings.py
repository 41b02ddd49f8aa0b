"""The settings, in the form in which the parts of the connector use them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.connect.connectors.postgres_cdc.column_types import Handling
from penstock.connect.connectors.postgres_cdc.keys import CONFIG, check_hiding, check_together, parse_key_columns
from penstock.connect.connectors.postgres_cdc.table_filter import TableFilter


class SourceSettings:
    """What a configuration says.

    Args:
        config: The configuration.

    Raises:
        ConfigError: It cannot be used.
    """

    def __init__(self, config: Mapping[str, str]) -> None:
        parsed = CONFIG.parse(config)
        check_together(parsed)
        check_hiding(config)
        self.parsed: Mapping[str, Any] = parsed
        self.prefix: str = parsed["topic.prefix"]
        self.slot: str = parsed["slot.name"]
        self.publication: str = parsed["publication.name"]
        self.snapshot_mode: str = parsed["snapshot.mode"]
        self.batch_size: int = parsed["max.batch.size"]
        self.tables = TableFilter(parsed)
        self.handling = Handling(
            decimals=parsed["decimal.handling.mode"],
            times=parsed["time.precision.mode"],
            intervals=parsed["interval.handling.mode"],
            binary=parsed["binary.handling.mode"],
            hstore=parsed["hstore.handling.mode"],
            unavailable=parsed["unavailable.value.placeholder"],
        )
        self.skipped: frozenset[str] = frozenset(parsed["skipped.operations"])
        self.tombstones: bool = parsed["tombstones.on.delete"]
        self.heartbeat_ms: int = parsed["heartbeat.interval.ms"]
        self.heartbeat_topic = f"{parsed['topic.heartbeat.prefix']}.{self.prefix}"
        self._keys = parse_key_columns(parsed["message.key.columns"] or "")

    @property
    def partition(self) -> dict[str, str]:
        """The one part of the source."""
        return {"server": self.prefix}

    def topic(self, schema: str, table: str) -> str:
        """Where the changes of a table go. What topics cannot have in their names becomes an underscore."""
        name = f"{self.prefix}.{schema}.{table}"
        return "".join(char if char.isascii() and (char.isalnum() or char in "._-") else "_" for char in name)

    def key_columns(self, schema: str, table: str) -> tuple[str, ...] | None:
        """The columns message.key.columns says for a table; None if it says nothing."""
        return next((names for table_name, names in self._keys if table_name.fullmatch(f"{schema}.{table}")), None)
