"""DefaultPartitioner: a folder for each partition of the topic."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.connect.connectors.storage.partitioners.partitioner import Partitioned, Partitioner
from penstock.connect.data import SinkColumns, SinkRecord


class DefaultPartitioner(Partitioner):
    """The partition the record was read from: `partition=0`."""

    def folder(self, record: SinkRecord) -> str:
        return f"partition={record.partition if record.original_partition is None else record.original_partition}"

    def partition(self, records: Sequence[SinkRecord]) -> Partitioned:
        # All of them are from one partition.
        return Partitioned([self.folder(records[0])] * len(records) if records else [])

    def folder_of_all(self, columns: SinkColumns) -> str | None:
        return f"partition={columns.partition}"
