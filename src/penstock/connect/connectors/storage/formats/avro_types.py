"""Connect schemas and values as Avro's."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from typing import Any

from penstock.connect.connectors.storage.formats.schema_parts import precision_of
from penstock.connect.data import DATE_NAME, DECIMAL_NAME, TIME_NAME, TIMESTAMP_NAME, Schema, Type
from penstock.connect.data.logical import encoded, scale_of
from penstock.connect.errors import DataError

Avro = Any
Step = Callable[[Any], Any]
_PLAIN = {
    Type.INT8: "int",
    Type.INT16: "int",
    Type.INT32: "int",
    Type.INT64: "long",
    Type.FLOAT32: "float",
    Type.FLOAT64: "double",
    Type.BOOLEAN: "boolean",
    Type.STRING: "string",
    Type.BYTES: "bytes",
}
_LOGICAL = {DATE_NAME: "date", TIME_NAME: "time-millis", TIMESTAMP_NAME: "timestamp-millis"}
PRECISION = 64
_NAME = re.compile(r"[A-Za-z_][A-Za-z0-9_]*(\.[A-Za-z_][A-Za-z0-9_]*)*")


class AvroSchemas:
    """Makes the Avro schema of a Connect schema.

    Records are named as their schemas; those without a name get one that tells where they are. A name that was used
    before for another schema gets a number.
    """

    def __init__(self) -> None:
        self._named: dict[str, Schema] = {}

    def of(self, schema: Schema, where: str = "ConnectDefault") -> Avro:
        """The Avro schema."""
        plain = self._plain(schema, where)
        # Null comes first where it is the default: Avro wants the default to be of the first type of a union.
        if schema.optional:
            return [plain, "null"] if schema.default is not None else ["null", plain]
        return plain

    def _plain(self, schema: Schema, where: str) -> Avro:
        if schema.name in _LOGICAL:
            return {"type": _PLAIN[schema.type], "logicalType": _LOGICAL[schema.name]}
        if schema.name == DECIMAL_NAME:
            digits = {"precision": precision_of(schema, PRECISION), "scale": scale_of(schema)}
            return {"type": "bytes", "logicalType": "decimal", **digits}
        if schema.type is Type.STRUCT:
            return self._record(schema, where)
        if schema.type is Type.ARRAY:
            return {"type": "array", "items": self._element(schema.value_schema, where)}
        if schema.type is Type.MAP:
            return self._map(schema, where)
        return _PLAIN[schema.type]

    def _record(self, schema: Schema, where: str) -> Avro:
        name = schema.name if schema.name and _NAME.fullmatch(schema.name) else where
        if self._named.get(name) == schema:
            return name
        while name in self._named:
            name += "_"
        self._named[name] = schema
        fields = []
        for field in schema.fields:
            if not _NAME.fullmatch(field.name) or "." in field.name:
                raise DataError(
                    f'"{field.name}" is no name of a field in Avro',
                    hint="The transform ReplaceField$Value renames fields.",
                )
            entry = {"name": field.name, "type": self.of(field.schema, f"{name}_{field.name}".replace(".", "_"))}
            if field.schema.default is not None and field.schema.type.is_primitive and field.schema.name is None:
                default = field.schema.default
                entry["default"] = default.decode("latin-1") if isinstance(default, bytes) else default
            elif field.schema.optional and field.schema.default is None:
                entry["default"] = None
            fields.append(entry)
        return {"type": "record", "name": name, "fields": fields}

    def _map(self, schema: Schema, where: str) -> Avro:
        key = schema.key_schema
        if key is not None and key.type is Type.STRING and not key.optional:
            return {"type": "map", "values": self._element(schema.value_schema, where)}
        entry = f"{where}_MapEntry"
        fields = [
            {"name": "key", "type": self._element(key, f"{entry}_key")},
            {"name": "value", "type": self._element(schema.value_schema, f"{entry}_value")},
        ]
        return {"type": "array", "items": {"type": "record", "name": entry, "fields": fields}}

    def _element(self, schema: Schema | None, where: str) -> Avro:
        if schema is None:
            raise DataError("an array or map whose elements have no schema in common has no Avro schema")
        return self.of(schema, where)


def avro_step(schema: Schema) -> Step | None:
    """What turns a value into one that fastavro writes; None if nothing has to be done."""
    step = _plain_step(schema)
    if schema.default is not None:
        default = schema.default if step is None else step(schema.default)
        return lambda value: default if value is None else value if step is None else step(value)
    if step is None:
        return None
    return lambda value: None if value is None else step(value)


def _plain_step(schema: Schema) -> Step | None:
    if schema.name in _LOGICAL or schema.name == DECIMAL_NAME:
        # The logical types' ways of fastavro know neither times on 1970-01-01 nor our scale check.
        return lambda value: encoded(schema, value)
    if schema.type is Type.STRUCT:
        names = [field.name for field in schema.fields]
        steps = [(i, step) for i, field in enumerate(schema.fields) if (step := avro_step(field.schema)) is not None]

        def record(value: Any) -> dict[str, Any]:
            values = value.values
            if steps:
                values = values.copy()
                for index, step in steps:
                    values[index] = step(values[index])
            return dict(zip(names, values, strict=True))

        return record
    if schema.type is Type.ARRAY and schema.value_schema is not None:
        element = avro_step(schema.value_schema)
        return None if element is None else lambda values: [element(value) for value in values]
    if schema.type is Type.MAP and schema.value_schema is not None:
        return _map_step(schema)
    return None


def _map_step(schema: Schema) -> Step | None:
    assert schema.key_schema is not None
    assert schema.value_schema is not None
    key, value = avro_step(schema.key_schema), avro_step(schema.value_schema)
    if schema.key_schema.type is Type.STRING and not schema.key_schema.optional:
        return None if value is None else lambda entries: {k: value(v) for k, v in entries.items()}

    def pairs(entries: Mapping[Any, Any]) -> list[dict[str, Any]]:
        return [
            {"key": k if key is None else key(k), "value": v if value is None else value(v)} for k, v in entries.items()
        ]

    return pairs
