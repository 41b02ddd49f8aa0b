"""A value with its schema."""

from __future__ import annotations

from typing import Any, NamedTuple

from penstock.connect.data.schema import Schema


class SchemaAndValue(NamedTuple):
    """A value with its schema; schema None is schemaless data."""

    schema: Schema | None
    value: Any


NULL_SCHEMA_AND_VALUE = SchemaAndValue(None, None)
