"""Values of one version of a schema as those of another."""

from __future__ import annotations

from typing import Any

from penstock.connect.data import Schema, Struct, Type
from penstock.connect.data.logical import LOGICAL_NAMES
from penstock.connect.errors import SchemaProjectorError

_NUMBERS = (Type.INT8, Type.INT16, Type.INT32, Type.INT64, Type.FLOAT32, Type.FLOAT64)


def project(source: Schema, value: Any, target: Schema, where: str = "value") -> Any:
    """A value of the source schema as one of the target schema.

    Fields the target does not have are left out, fields it has besides get their default. Numbers may become wider.

    Raises:
        SchemaProjectorError: The schemas do not fit.
    """
    if source.optional and not target.optional:
        if target.default is None:
            raise SchemaProjectorError(f"{where}: the source is optional, the target is not and has no default")
        if value is None:
            return target.default
    if value is None:
        return None
    if source == target:
        return value
    _check(source, target, where)
    if source.type is Type.STRUCT:
        return _struct(value, target, where)
    if source.type is Type.ARRAY:
        return [_element(source.value_schema, one, target.value_schema, f"{where}[]") for one in value]
    if source.type is Type.MAP:
        return {
            _element(source.key_schema, key, target.key_schema, f"{where} key"): _element(
                source.value_schema, one, target.value_schema, f"{where} value"
            )
            for key, one in value.items()
        }
    return float(value) if target.type in _NUMBERS[4:] and source.type in _NUMBERS[:4] else value


def _check(source: Schema, target: Schema, where: str) -> None:
    if source.name != target.name:
        raise SchemaProjectorError(f"{where}: the schema names differ: {source.name} and {target.name}")
    if source.parameters != target.parameters and (source.name in LOGICAL_NAMES or source.type.is_primitive):
        raise SchemaProjectorError(f"{where}: the schema parameters differ")
    if source.type is target.type:
        return
    widens = (
        source.type in _NUMBERS
        and target.type in _NUMBERS
        and _NUMBERS.index(source.type) <= _NUMBERS.index(target.type)
        and source.name not in LOGICAL_NAMES
    )
    if not widens:
        raise SchemaProjectorError(f"{where}: {source.type} cannot become {target.type}")


def _element(source: Schema | None, value: Any, target: Schema | None, where: str) -> Any:
    return value if source is None or target is None else project(source, value, target, where)


def _struct(value: Struct, target: Schema, where: str) -> Struct:
    values = []
    for field in target.fields:
        known = value.schema.field(field.name)
        if known is not None:
            values.append(project(known.schema, value.values[known.index], field.schema, f"{where}.{field.name}"))
        elif field.schema.default is not None or field.schema.optional:
            values.append(field.schema.default)
        else:
            raise SchemaProjectorError(
                f"{where}: the target requires the field {field.name}, which the source does not have; it has no default"
            )
    return Struct.of(target, values)
