"""Records in the batches they are written in."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from dataclasses import dataclass, field

from penstock.connect.connectors.jdbc.connection import Database
from penstock.connect.connectors.jdbc.sink.fields import Fields, fields_of
from penstock.connect.connectors.jdbc.sink.rows import key_of
from penstock.connect.connectors.jdbc.sink.settings import DELETE_ENABLED, PK_MODE, SCHEMA_INFER, PkMode, SinkSettings
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.data import Schema, SchemaBuilder, SinkRecord, Struct, Type
from penstock.connect.errors import ConfigError, DataError

_MOST_SCHEMAS = 1000
Report = Callable[[SinkRecord, Exception], None]


@dataclass(slots=True)
class Batch:
    """Records of one table and one pair of schemas, none of which writes what another has deleted before.

    So that those that write may go first, then those that delete, unless rows with other keys can be in their way.

    Attributes:
        table: Where to.
        fields: The columns.
        key_schema: Schema of the keys.
        value_schema: Schema of the values; None while there are only deletes.
        writes: Records with a value.
        deletes: Records without.
        deleted: Keys of the latter; None is one that cannot be told from others.
        turns: How many of both there were whenever a write followed a delete.
    """

    table: TableId
    fields: Fields
    key_schema: Schema | None
    value_schema: Schema | None
    writes: list[SinkRecord] = field(default_factory=list)
    deletes: list[SinkRecord] = field(default_factory=list)
    deleted: set[Hashable] = field(default_factory=set)
    turns: list[tuple[int, int]] = field(default_factory=list)

    @property
    def size(self) -> int:
        """How many records it has."""
        return len(self.writes) + len(self.deletes)

    def steps(self, *, in_order: bool) -> Iterator[tuple[list[SinkRecord], list[SinkRecord]]]:
        """Records that write, and those that delete after them.

        Args:
            in_order: Whether each write comes behind all deletes that were before it.
        """
        writes = deletes = 0
        for to_write, to_delete in [*(self.turns if in_order else ()), (len(self.writes), len(self.deletes))]:
            yield self.writes[writes:to_write], self.deletes[deletes:to_delete]
            writes, deletes = to_write, to_delete


class Batches:
    """Divides what a task is given. A batch ends where the schema changes, where a key that it deletes is written again, and at
    `batch.size`.

    Args:
        database: Says how names of tables are read.
        settings: The sink's settings.
    """

    def __init__(self, database: Database, settings: SinkSettings) -> None:
        self._database = database
        self._settings = settings
        self._tables: dict[str, TableId] = {}
        self._fields: dict[tuple[TableId, Schema | None, Schema | None], Fields] = {}
        self._text_schema = SchemaBuilder.struct().field(settings.string_column, Schema(Type.STRING)).build()

    def of(self, records: list[SinkRecord], report: Report) -> list[Batch]:
        """The batches of records, in the order in which they are to be written.

        Args:
            records: The records.
            report: Is given those that cannot be written.
        """
        batches: list[Batch] = []
        current: dict[TableId, Batch] = {}
        topic: str | None = None
        batch: Batch | None = None
        size = self._settings.batch_size
        for record in records:
            # The next record of the same sort: nearly all are.
            if (
                batch is not None
                and record.value is not None
                and record.value_schema is batch.value_schema
                and record.key_schema is batch.key_schema
                and record.topic == topic
                and not batch.deletes
                and len(batch.writes) < size
            ):
                batch.writes.append(record)
                continue
            try:
                batch = self._place(self._checked(record), batches, current)
            except (DataError, ConfigError) as error:
                report(record, error)
                batch = None
            topic = record.topic
        return batches

    def table(self, topic: str) -> TableId:
        """The table of a topic.

        Raises:
            ConfigError: Its name is none.
        """
        found = self._tables.get(topic)
        if found is None:
            name = self._settings.table_format.replace("${topic}", topic)
            found = self._tables[topic] = self._database.table_id(name)
        return found

    def _checked(self, record: SinkRecord) -> SinkRecord:
        """The record, if it has what the settings need."""
        schema = record.value_schema
        if record.value is None:
            if not self._settings.delete_enabled:
                raise _bad(record, f"it has no value, and {DELETE_ENABLED} is false", "Filter such records, or delete.")
        elif schema is None:
            hint = f"Set {SCHEMA_INFER}=true, or use a converter that gives a schema."
            if self._settings.infer:
                hint = "Only JSON objects can become rows; the transform HoistField makes one of a single value."
            raise _bad(record, f"its value has no schema: it is a {type(record.value).__name__}", hint)
        elif schema.type is Type.STRING:
            record = record.with_value(self._text_schema, Struct.of(self._text_schema, [record.value]))
        elif schema.type is not Type.STRUCT:
            hint = "Only structs can become rows; the transform HoistField makes one of a single value."
            raise _bad(record, f"its value is of type {schema.type}", hint)
        if self._settings.pk_mode is PkMode.RECORD_KEY and record.key is None:
            raise _bad(record, f"it has no key, and {PK_MODE} is record_key")
        return record

    def _place(self, record: SinkRecord, batches: list[Batch], current: dict[TableId, Batch]) -> Batch:
        table = self.table(record.topic or "")
        batch = current.get(table)
        if batch is None or not self._fits(batch, record):
            fields = self._fields_of(table, record)
            value_schema = record.value_schema if record.value is not None else None
            batch = Batch(table, fields, record.key_schema, value_schema)
            batches.append(batch)
            current[table] = batch
        if record.value is None:
            batch.deletes.append(record)
            batch.deleted.add(key_of(batch.fields, record))
        else:
            if batch.deletes and (not batch.turns or batch.turns[-1][1] < len(batch.deletes)):
                batch.turns.append((len(batch.writes), len(batch.deletes)))
            batch.writes.append(record)
        return batch

    def _fits(self, batch: Batch, record: SinkRecord) -> bool:
        if batch.key_schema != record.key_schema or batch.size >= self._settings.batch_size:
            return False
        if record.value is None:
            return True
        if batch.value_schema != record.value_schema:
            return False
        if not batch.deletes:
            return True
        key = key_of(batch.fields, record)
        return key is not None and key not in batch.deleted and None not in batch.deleted

    def _fields_of(self, table: TableId, record: SinkRecord) -> Fields:
        # A tombstone may come with a schema all the same; it has no value.
        value_schema = record.value_schema if record.value is not None else None
        at = (table, record.key_schema, value_schema)
        found = self._fields.get(at)
        if found is None:
            if len(self._fields) >= _MOST_SCHEMAS:
                self._fields.clear()
            try:
                found = fields_of(self._settings, str(table), record.key_schema, value_schema)
            except DataError as error:
                raise _bad(record, error.message, error.hint) from None
            self._fields[at] = found
        return found


def _bad(record: SinkRecord, what: str, hint: str = "") -> DataError:
    return DataError(f"{place(record)} cannot become a row: {what}", hint=hint)


def place(record: SinkRecord) -> str:
    """Where a record is from, for messages."""
    topic, partition, offset = record.original_topic, record.original_partition, record.original_offset
    if topic is None or offset is None:
        topic, partition, offset = record.topic, record.partition, record.offset
    return f"The record at {topic}-{partition}, offset {offset},"
