"""Schemas for values that have none: what JSON objects look like as rows."""

from __future__ import annotations

import json
from collections.abc import Callable
from datetime import datetime
from typing import Any

from penstock.connect.connectors.jdbc.sink.kinds import JSON_NAME
from penstock.connect.connectors.jdbc.sink.values import json_default, plain_json
from penstock.connect.data import (
    OPTIONAL_TIMESTAMP_SCHEMA,
    Schema,
    SchemaBuilder,
    SinkRecord,
    Struct,
    Type,
    infer_schema,
)

_LONG = 1 << 63
_TYPES: dict[type, str] = {
    bool: "boolean",
    int: "int64",
    float: "float64",
    str: "string",
    bytes: "bytes",
    datetime: "timestamp",
    dict: "json",
    list: "json",
}
_SCHEMAS = {
    "boolean": Schema(Type.BOOLEAN, optional=True),
    "int64": Schema(Type.INT64, optional=True),
    "float64": Schema(Type.FLOAT64, optional=True),
    "string": Schema(Type.STRING, optional=True),
    "bytes": Schema(Type.BYTES, optional=True),
    "timestamp": OPTIONAL_TIMESTAMP_SCHEMA,
    "json": Schema(Type.STRING, optional=True, name=JSON_NAME),
}


def _text(value: Any) -> Any:
    return value if isinstance(value, str) else _json(value)


def _json(value: Any) -> Any:
    """JSON with numbers of any size, which orjson does not write."""
    if value is None:
        return None
    return json.dumps(plain_json(value), default=json_default, ensure_ascii=False, separators=(",", ":"))


def _float(value: Any) -> Any:
    return None if value is None else float(value)


_NULL = type(None)
_AS_THEY_ARE: dict[str, type] = {"string": str, "float64": float}
_CONVERTERS: dict[str, Callable[[Any], Any]] = {"string": _text, "json": _json, "float64": _float}


class Inference:
    """Learns the fields of schemaless objects, topic by topic, and makes structs of them.

    A field is a boolean, a whole number, a float or a text by its values; numbers of both sorts are floats, objects and
    lists are JSON, and whatever does not fit together is text. Fields that were null so far have no column yet.
    """

    def __init__(self) -> None:
        self._keys: dict[str | None, _Shape] = {}
        self._values: dict[str | None, _Shape] = {}

    def applied(self, records: list[SinkRecord]) -> list[SinkRecord]:
        """The records, those without schema with one."""
        values: dict[str | None, list[int]] = {}
        keys: dict[str | None, list[int]] = {}
        result = records
        for index, record in enumerate(records):
            if record.value_schema is None and type(record.value) is dict:
                values.setdefault(record.topic, []).append(index)
            if record.key_schema is None and record.key is not None:
                if type(record.key) is dict:
                    keys.setdefault(record.topic, []).append(index)
                else:
                    result = list(records) if result is records else result
                    result[index] = record.with_key(infer_schema(record.key), record.key)
        if not values and not keys:
            return result
        result = list(result)
        for topic, indices in values.items():
            structs = _shape(self._values, topic).structs([records[index].value for index in indices])
            for index, struct in zip(indices, structs, strict=True):
                result[index] = result[index].with_value(struct.schema, struct)
        for topic, indices in keys.items():
            structs = _shape(self._keys, topic).structs([records[index].key for index in indices])
            for index, struct in zip(indices, structs, strict=True):
                result[index] = result[index].with_key(struct.schema, struct)
        return result


class _Shape:
    """The fields of the objects of one topic, looked at column by column."""

    def __init__(self) -> None:
        self._names: dict[str, None] = {}  # also of fields that were null so far; a set that keeps its order
        self._types: dict[str, str] = {}
        self._schema: Schema | None = None

    def structs(self, objects: list[dict[str, Any]]) -> list[Struct]:
        """The objects as structs of one schema, which has all fields seen so far."""
        names = self._names
        for value in objects:
            if value.keys() != names.keys():
                names.update(dict.fromkeys(value))
        columns = {name: [value.get(name) for value in objects] for name in names}
        for name, column in columns.items():
            self._learn(name, column)
        schema = self._schema or self._build()
        if not self._types:
            return [Struct.of(schema, []) for _ in objects]
        converted = [_converted(kind, columns[name]) for name, kind in self._types.items()]
        return [Struct.of(schema, list(row)) for row in zip(*converted, strict=True)]

    def _learn(self, name: str, column: list[Any]) -> None:
        known = self._types.get(name)
        merged = known
        for kind in {_kind(type_, column) for type_ in set(map(type, column)) if type_ is not _NULL}:
            merged = kind if merged is None else _merged(merged, kind)
        if merged is not None and merged != known:
            self._types[name] = merged
            self._schema = None

    def _build(self) -> Schema:
        builder = SchemaBuilder.struct()
        for name, kind in self._types.items():
            builder.field(name, _SCHEMAS[kind])
        self._schema = builder.build()
        return self._schema


def _kind(type_: type, column: list[Any]) -> str:
    kind = _TYPES.get(type_, "string")
    if kind == "int64":
        numbers = [value for value in column if type(value) is int]
        return kind if min(numbers) >= -_LONG and max(numbers) < _LONG else "string"
    return kind


def _converted(kind: str, column: list[Any]) -> list[Any]:
    change = _CONVERTERS.get(kind)
    if change is None or (kind in _AS_THEY_ARE and set(map(type, column)) <= {_AS_THEY_ARE[kind], _NULL}):
        return column
    return list(map(change, column))


def _merged(one: str, other: str) -> str:
    if one == other:
        return one
    return "float64" if {one, other} == {"int64", "float64"} else "string"


def _shape(shapes: dict[str | None, _Shape], topic: str | None) -> _Shape:
    found = shapes.get(topic)
    if found is None:
        found = shapes[topic] = _Shape()
    return found
