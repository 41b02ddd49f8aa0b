"""What happens to a record whose schema is not that of the file: another file, or another form of the record."""

from __future__ import annotations

from enum import Enum

from penstock.connect.connectors.storage.schema_projector import project
from penstock.connect.data import Schema, SinkRecord
from penstock.connect.errors import SchemaProjectorError


class Fit(Enum):
    """How a record's schema fits into a file."""

    SAME = "same"
    PROJECT = "project"
    ROTATE = "rotate"


class SchemaCompatibility:
    """The rules of `schema.compatibility`.

    NONE: every difference begins a new file. BACKWARD and FULL: a newer version begins a new file, older records are brought
    into the form of the newer one. FORWARD: an older version begins a new file, newer records lose what the file has not.

    Args:
        mode: NONE, BACKWARD, FORWARD or FULL.
        cache_size: How many pairs of schemas are remembered.
    """

    def __init__(self, mode: str, cache_size: int) -> None:
        self._mode = mode
        self._size = cache_size
        # The schemas are in it, so that no other one gets their ids.
        self._known: dict[tuple[int, int], tuple[Fit, Schema | None, Schema | None]] = {}

    def fit(self, record: Schema | None, file: Schema | None) -> Fit:
        """How a record's schema fits into a file of another.

        Raises:
            SchemaProjectorError: Not at all.
        """
        if record is file:
            return Fit.SAME
        pair = (id(record), id(file))
        known = self._known.get(pair)
        if known is None:
            if len(self._known) >= self._size:
                self._known.clear()
            known = self._known[pair] = (self._compare(record, file), record, file)
        return known[0]

    def _compare(self, record: Schema | None, file: Schema | None) -> Fit:
        if record is None or file is None:
            raise SchemaProjectorError(
                "Switch between schema-based and schema-less data is not supported: the file has "
                f"{'no schema' if file is None else 'a schema'}, the record has {'none' if record is None else 'one'}",
                hint="Send such records to a topic of their own, or use one converter setting for all.",
            )
        if record == file:
            return Fit.SAME
        if self._mode == "NONE":
            return Fit.ROTATE
        if record.version is None or file.version is None:
            raise SchemaProjectorError(
                f"Schema version required for {self._mode} compatibility",
                hint="Set schema.compatibility=NONE, or give schemas versions (SetSchemaMetadata$Value).",
            )
        if record.version == file.version:
            return Fit.SAME
        rotates = record.version < file.version if self._mode == "FORWARD" else record.version > file.version
        return Fit.ROTATE if rotates else Fit.PROJECT

    def projected(self, record: SinkRecord, file: Schema) -> SinkRecord:
        """A record in the form of a file.

        Raises:
            SchemaProjectorError: It has none.
        """
        source = record.value_schema
        assert source is not None
        return record.with_value(file, project(source, record.value, file))
