"""Records of changes."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from penstock.connect.connectors.postgres_cdc import pgoutput
from penstock.connect.connectors.postgres_cdc.catalog import Catalog
from penstock.connect.connectors.postgres_cdc.change_stream import StreamItem
from penstock.connect.connectors.postgres_cdc.envelope import envelope, source
from penstock.connect.connectors.postgres_cdc.pgoutput import UNCHANGED, Change, Row
from penstock.connect.connectors.postgres_cdc.source_settings import SourceSettings
from penstock.connect.connectors.postgres_cdc.table_shape import TableShape
from penstock.connect.data import NO_CONNECT_HEADERS, ConnectHeaders, SourceRecord, Struct
from penstock.connect.errors import ConnectError

NEW_KEY, OLD_KEY = "__debezium.newkey", "__debezium.oldkey"


class ChangeRecords:
    """Makes records of the items of one stream, which has to be read from its first item on: tables are described once.

    Args:
        settings: The connector's.
        database: Name of the database.
        catalog: Knows what messages do not say.
        last_commit: Where the transaction before the first one was committed.
    """

    def __init__(self, settings: SourceSettings, database: str, catalog: Catalog, last_commit: int | None) -> None:
        self._settings = settings
        self._database = database
        self._catalog = catalog
        # None for tables that are not read.
        self._shapes: dict[int, TableShape | None] = {}
        self._last_commit: int | None = None
        self._commit = last_commit

    def of(self, item: StreamItem, read_at: Mapping[str, int]) -> Iterator[SourceRecord]:
        """The records of an item.

        Args:
            item: A change, what a table looks like from now on, or the end of a transaction.
            read_at: Tables that were read with all changes up to a place in the log: those do not come again.
        """
        commit = item.transaction.commit_lsn
        if commit != self._commit:
            self._last_commit, self._commit = self._commit, commit
        kind = item.data[:1]
        if kind == pgoutput.RELATION:
            self._describe(item.data)
        elif kind == pgoutput.TRUNCATE:
            for oid in pgoutput.truncated(item.data):
                shape = self._shape(oid)
                if shape is not None and commit >= read_at.get(str(shape), 0):
                    yield from self._truncated(shape, item)
        elif kind != pgoutput.COMMIT:
            change = pgoutput.change(item.data)
            shape = self._shape(change.oid)
            if shape is not None and commit >= read_at.get(str(shape), 0):
                yield from self._changed(shape, change, item)

    def _describe(self, data: bytes) -> None:
        relation = pgoutput.relation(data)
        wanted = self._settings.tables.has_table(relation.schema, relation.table)
        if wanted:
            self._catalog.forget()
        self._shapes[relation.oid] = TableShape(relation, self._catalog, self._settings) if wanted else None

    def _shape(self, oid: int) -> TableShape | None:
        if oid not in self._shapes:
            raise ConnectError(f"PostgreSQL sent a change of the table {oid} without a description of it")
        return self._shapes[oid]

    def _changed(self, shape: TableShape, change: Change, item: StreamItem) -> Iterator[SourceRecord]:
        skipped = self._settings.skipped
        if change.kind == pgoutput.INSERT:
            assert change.new is not None
            if "c" not in skipped:
                yield self._record(shape, item, "c", None, change.new)
        elif change.kind == pgoutput.DELETE:
            assert change.old is not None
            if "d" not in skipped:
                yield from self._deleted(shape, item, change.old, NO_CONNECT_HEADERS)
        elif "u" not in skipped:
            yield from self._updated(shape, change, item)

    def _updated(self, shape: TableShape, change: Change, item: StreamItem) -> Iterator[SourceRecord]:
        old, new = change.old, change.new
        assert new is not None
        if old is not None and change.old_is_whole:
            # The old row has what PostgreSQL leaves away in the new one.
            new = [was if text is UNCHANGED else text for was, text in zip(old, new, strict=True)]
        old_key = None if old is None else shape.key(old)
        if old is None or old_key is None or old_key == shape.key(new):
            yield self._record(shape, item, "u", old if change.old_is_whole else None, new)
            return
        # Records of the old key end here: consumers that go by key see a row disappear and another one come.
        new_key = shape.key(new)
        yield from self._deleted(shape, item, old, ConnectHeaders().add(NEW_KEY, new_key, shape.key_schema))
        headers = ConnectHeaders().add(OLD_KEY, old_key, shape.key_schema)
        yield self._record(shape, item, "c", None, new, headers)

    def _deleted(
        self, shape: TableShape, item: StreamItem, old: Row, headers: ConnectHeaders
    ) -> Iterator[SourceRecord]:
        record = self._record(shape, item, "d", old, None, headers)
        yield record
        if self._settings.tombstones and record.key is not None:
            yield record.with_value(None, None)

    def _truncated(self, shape: TableShape, item: StreamItem) -> Iterator[SourceRecord]:
        if "t" not in self._settings.skipped:
            yield self._record(shape, item, "t", None, None)._replace(key_schema=None, key=None)

    def _record(
        self,
        shape: TableShape,
        item: StreamItem,
        op: str,
        before: Row | None,
        after: Row | None,
        headers: ConnectHeaders = NO_CONNECT_HEADERS,
    ) -> SourceRecord:
        transaction = item.transaction
        origin = source(
            prefix=self._settings.prefix,
            database=self._database,
            schema=shape.relation.schema,
            table=shape.relation.table,
            micros=transaction.commit_micros,
            lsn=item.lsn,
            tx_id=transaction.xid,
            last_commit=self._last_commit,
        )
        row = after if after is not None else before
        key: Struct | None = None if row is None else shape.key(row)
        old: Any = None if before is None else shape.value(before)
        new: Any = None if after is None else shape.value(after)
        value = envelope(shape.envelope, old, new, origin, op)
        return SourceRecord(
            shape.topic,
            None,
            shape.key_schema,
            key,
            shape.envelope,
            value,
            None,
            headers,
            source_partition=self._settings.partition,
        )
