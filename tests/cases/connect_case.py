"""One Connect case, as the files hold it, and the notation of its data."""

from __future__ import annotations

import base64
import json
from collections.abc import Iterator
from dataclasses import dataclass
from decimal import Decimal
from pathlib import Path
from typing import Any

from penstock.connect.converters.json_schema import schema_from_json
from penstock.connect.data import Schema, Struct, Type
from penstock.connect.data.java_numbers import to_float32
from penstock.connect.data.logical import from_millis


@dataclass(frozen=True, slots=True)
class ConnectCase:
    """A component, its settings, what goes in and what must come out."""

    id: str
    component: str
    config: dict[str, Any]
    input: Any
    expected: Any


def load(path: Path) -> Iterator[ConnectCase]:
    """The cases of a file.

    Raises:
        ValueError: A line is not a case; the message names file and line.
    """
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines(), start=1):
        if line.strip():
            try:
                yield parse(json.loads(line))
            except (ValueError, KeyError, TypeError) as error:
                raise ValueError(f"{path}:{number}: not a case: {type(error).__name__}: {error}") from error


def parse(fields: dict[str, Any]) -> ConnectCase:
    """A case from the fields of its JSON object."""
    return ConnectCase(
        id=fields["id"],
        component=fields["component"],
        config=fields.get("config") or {},
        input=fields["input"],
        expected=fields["expected"],
    )


def schema_of(written: Any) -> Schema | None:
    """A schema in the notation of JsonConverter; defaults are literals."""
    return schema_from_json(written, decoded)


def decoded(schema: Schema | None, literal: Any) -> Any:
    """The value a literal stands for, as the schema has it."""
    if isinstance(literal, dict):
        return _object(schema, literal)
    if isinstance(literal, list):
        element = schema.value_schema if schema is not None else None
        return [decoded(element, one) for one in literal]
    if isinstance(literal, int) and not isinstance(literal, bool) and schema is not None:
        if schema.type is Type.FLOAT32:
            return to_float32(literal)
        if schema.type is Type.FLOAT64:
            return float(literal)
    if isinstance(literal, float) and schema is not None and schema.type is Type.FLOAT32:
        return to_float32(literal)
    return literal


def _object(schema: Schema | None, literal: dict[str, Any]) -> Any:
    if "$date_ms" in literal:
        return from_millis(literal["$date_ms"])
    if "$decimal" in literal:
        return Decimal(literal["$decimal"])
    if "$bytes_b64" in literal:
        return base64.b64decode(literal["$bytes_b64"])
    if "$type" in literal:
        value = literal["v"]
        return float(value) if literal["$type"].startswith("float") else value
    key = schema.key_schema if schema is not None else None
    entry = schema.value_schema if schema is not None else None
    if "$entries" in literal:
        return {decoded(key, one): decoded(entry, other) for one, other in literal["$entries"]}
    if schema is not None and schema.type is Type.STRUCT:
        struct = Struct(schema)
        for name, value in literal.items():
            field = schema.field(name)
            if field is None:
                raise ValueError(f"the case has a value for {name}, which is no field")
            if value is not None:
                struct.put(name, decoded(field.schema, value))
        return struct
    return {name: decoded(entry, value) for name, value in literal.items()}
