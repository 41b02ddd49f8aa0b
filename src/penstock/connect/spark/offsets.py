"""Offsets of connectors, read and changed from outside: REST shows them, and lets users set them."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from penstock.connect.api import SinkConnector, SourceConnector
from penstock.connect.config.config_key import ConfigType, parse_type
from penstock.connect.config.java_regex import compile_java
from penstock.connect.errors import BadRequestError
from penstock.connect.requests.connector_offsets import (
    ConnectorOffset,
    sink_offsets,
    sink_offsets_answer,
    source_offsets,
)
from penstock.connect.spark.job import ConnectJob
from penstock.connect.spark.source_offsets import OffsetsFile, SharedOffsets
from penstock.connect.spark.source_planner import Entry, partition_key
from penstock.kafka.admin import Admin
from penstock.kafka.consumer_group import GroupOffset
from penstock.kafka.errors import TopicMissing

Offsets = Sequence[Mapping[str, Any]]


def _parsed(offsets: Offsets) -> list[ConnectorOffset]:
    return [ConnectorOffset(entry.get("partition"), entry.get("offset")) for entry in offsets]


class SinkGroup:
    """The consumer group of a sink.

    Args:
        job: The sink.
        admin: Where the group is asked and changed.
        connector: Its class, which may keep offsets of its own.
    """

    def __init__(self, job: ConnectJob, admin: Admin, connector: type[SinkConnector]) -> None:
        self._job = job
        self._admin = admin
        self._connector = connector

    def entries(self) -> list[Entry]:
        """What the group committed for the sink's topics."""
        found: list[Entry] = sink_offsets_answer(self._committed())["offsets"]
        return found

    def _committed(self) -> dict[tuple[str, int], int]:
        partitions = [(t, p) for t, count in self._topics().items() for p in range(count)]
        found = self._admin.group_offsets(self._job.group, partitions)
        return {at: found[at].offset for at in sorted(found)}

    def _topics(self) -> dict[str, int]:
        known = {name: topic.partitions for name, topic in self._admin.topics().items()}
        regex = (self._job.config.get("topics.regex") or "").strip()
        if regex:
            pattern = compile_java(regex)
            return {name: count for name, count in known.items() if pattern.fullmatch(name)}
        listed = parse_type("topics", self._job.config.get("topics") or "", ConfigType.LIST)
        return {name: known[name] for name in listed if name in known}

    def alter(self, offsets: Offsets) -> None:
        """Set offsets; None forgets one.

        Raises:
            BadRequestError: They are not offsets of topics that exist.
        """
        wanted = sink_offsets(_parsed(offsets))
        self._connector.alter_offsets(self._job.config, wanted)
        forgotten = [at for at, offset in wanted.items() if offset is None]
        kept: dict[tuple[str, int], int] = {}
        if forgotten:
            # A group can forget all of its offsets, not single ones.
            kept = {at: offset for at, offset in self._committed().items() if at not in forgotten}
            self._admin.delete_group(self._job.group)
        changed = {**kept, **{at: offset for at, offset in wanted.items() if offset is not None}}
        try:
            self._admin.set_group_offsets(self._job.group, {at: GroupOffset(o) for at, o in changed.items()})
        except TopicMissing as error:
            raise BadRequestError(
                f"Offsets of connector {self._job.name} cannot be set: {error.message}", hint=error.hint
            ) from error

    def reset(self) -> None:
        """Forget all offsets; a group that is not there is fine."""
        self._connector.reset_offsets(self._job.config)
        self._admin.delete_group(self._job.group)


class SourceStore:
    """The offsets of a source: in a file of this worker, or with those who share them.

    Args:
        folder: The connector's folder.
        publish: Told of new offsets.
        stored: Asked for the offsets, if they are shared.
    """

    def __init__(
        self,
        folder: Path,
        *,
        publish: Callable[[Offsets], None] | None = None,
        stored: Callable[[], Offsets] | None = None,
    ) -> None:
        self._folder = folder
        self._publish = publish
        self._stored = stored

    @property
    def shared(self) -> bool:
        """Whether others keep the offsets."""
        return self._stored is not None

    def open(self, *, in_transactions: bool) -> OffsetsFile | SharedOffsets:
        """The offsets for a start.

        Args:
            in_transactions: Tasks write shared offsets together with their records: nobody needs to be told.
        """
        if self._stored is None:
            return OffsetsFile(self._folder, self._publish)
        return SharedOffsets(self._stored, None if in_transactions else self._publish)

    def entries(self) -> list[Entry]:
        """All offsets."""
        return list(self._stored()) if self._stored is not None else OffsetsFile(self._folder).entries()

    def alter(self, connector: type[SourceConnector], config: Mapping[str, str], offsets: Offsets) -> None:
        """Set offsets; None forgets one."""
        # Through JSON, as they will come back from it.
        wanted = source_offsets(_parsed(json.loads(json.dumps(list(offsets)))))
        connector.alter_offsets(config, [(one.partition, one.offset) for one in wanted])
        self._replace([{"partition": one.partition, "offset": one.offset} for one in wanted])

    def reset(self, connector: type[SourceConnector], config: Mapping[str, str]) -> None:
        """Forget all offsets."""
        known = [entry["partition"] for entry in self.entries()]
        connector.alter_offsets(config, [(partition, None) for partition in known])
        self._replace([{"partition": partition, "offset": None} for partition in known])

    def _replace(self, changes: Sequence[Entry]) -> None:
        if self._stored is None:
            known = {partition_key(entry["partition"]): entry for entry in (*self.entries(), *changes)}
            OffsetsFile(self._folder).replace([entry for entry in known.values() if entry["offset"] is not None])
        if self._publish is not None and changes:
            self._publish(changes)
