"""Connect values as Arrow arrays, column by column: a struct is taken apart once for all rows, not once for each."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import accumulate, chain
from operator import attrgetter
from typing import Any

import pyarrow as pa
import pyarrow.compute

from penstock.connect.data import DATE_NAME, TIME_NAME, Schema, Struct, Type
from penstock.connect.data.logical import date_to_days, time_to_millis
from penstock.connect.errors import DataError

Array = Any
"""An array of Arrow: its stubs tell more types apart than can be known here."""
pc: Any = pyarrow.compute
_struct_array: Any = pa.StructArray
_list_array: Any = pa.ListArray
_map_array: Any = pa.MapArray
_values = attrgetter("values")


def record_batch(schema: Schema, arrow: pa.Schema, rows: Sequence[Struct]) -> pa.RecordBatch:
    """Structs of a schema as columns.

    Raises:
        DataError: A value does not fit its field.
    """
    return pa.RecordBatch.from_arrays(_children(schema, arrow, rows, ""), schema=arrow)


def _children(schema: Schema, arrow: Any, rows: Sequence[Any], prefix: str) -> list[Array]:
    """The fields of structs, each as an array."""
    columns: Any = zip(*map(_values, rows), strict=True) if rows else [()] * len(schema.fields)
    return [
        column_array(field.schema, column, prefix + field.name, arrow.field(field.index).type)
        for field, column in zip(schema.fields, columns, strict=True)
    ]


def column_array(schema: Schema, values: Sequence[Any], name: str, kind: Any) -> Array:
    """Values as an array; nulls become the schema's default, if there is one.

    Args:
        schema: The schema of the values.
        values: The values.
        name: What they are, for messages.
        kind: The type of the array.

    Raises:
        DataError: A value does not fit.
    """
    try:
        made = _array(schema, values, name, kind)
        if made.null_count and schema.default is not None:
            made = _array(schema, [schema.default if value is None else value for value in values], name, kind)
    except (pa.ArrowException, TypeError, ValueError, OverflowError, AttributeError) as error:
        raise DataError(f'the field "{name}" ({schema.type}) has a value that does not fit: {error}') from error
    if made.null_count and not schema.optional:
        raise DataError(f'null for the field "{name}", which is required and has no default')
    return made


def _array(schema: Schema, values: Sequence[Any], name: str, kind: Any) -> Array:
    if schema.type is Type.STRUCT:
        return _structs(schema, values, name, kind)
    if schema.type is Type.ARRAY:
        return _lists(schema, values, name, kind)
    if schema.type is Type.MAP:
        return _maps(schema, values, name, kind)
    return _scalars(schema, values, kind)


def _scalars(schema: Schema, values: Sequence[Any], kind: Any) -> Array:
    if schema.name == DATE_NAME:
        return pa.array([None if v is None else date_to_days(v) for v in values], pa.int32()).cast(kind)
    if schema.name == TIME_NAME:
        return pa.array([None if v is None else time_to_millis(v) for v in values], pa.int32()).cast(kind)
    return pa.array(values, kind)


def _nulls(values: Sequence[Any]) -> Array | None:
    nulls = [value is None for value in values]
    return pa.array(nulls) if True in nulls else None


def _structs(schema: Schema, values: Sequence[Any], name: str, kind: Any) -> Array:
    if not schema.fields:
        return pa.array([None if value is None else {} for value in values], kind)
    present = [value for value in values if value is not None]
    children = _children(schema, kind, present, f"{name}.")
    fields = [kind.field(index) for index in range(kind.num_fields)]
    whole = _struct_array.from_arrays(children, fields=fields)
    if len(present) == len(values):
        return whole
    places = accumulate((value is not None for value in values), initial=-1)
    next(places)
    return whole.take(
        pa.array([None if v is None else place for v, place in zip(values, places, strict=True)], pa.int64())
    )


def _offsets(values: Sequence[Any]) -> Array:
    lengths = (0 if value is None else len(value) for value in values)
    return pa.array(list(accumulate(lengths, initial=0)), pa.int32())


def _lists(schema: Schema, values: Sequence[Any], name: str, kind: Any) -> Array:
    assert schema.value_schema is not None
    elements = list(chain.from_iterable(value for value in values if value is not None))
    children = column_array(schema.value_schema, elements, f"{name}[]", kind.value_type)
    return _list_array.from_arrays(_offsets(values), children, type=kind, mask=_nulls(values))


def _maps(schema: Schema, values: Sequence[Any], name: str, kind: Any) -> Array:
    keys = list(chain.from_iterable(value for value in values if value is not None))
    entries = list(chain.from_iterable(value.values() for value in values if value is not None))
    assert schema.key_schema is not None
    assert schema.value_schema is not None
    return _map_array.from_arrays(
        _offsets(values),
        column_array(schema.key_schema, keys, f"{name} key", kind.key_type),
        column_array(schema.value_schema, entries, f"{name} value", kind.item_type),
        type=kind,
        mask=_nulls(values),
    )


def data_bytes(array: Array) -> int:
    """Bytes of an array's values: the same sum for its pieces, which `nbytes` does not give."""
    kind = array.type
    if pa.types.is_struct(kind):
        return sum(data_bytes(child) for child in array.flatten())
    if pa.types.is_list(kind):
        return 4 * len(array) + data_bytes(array.flatten())
    if pa.types.is_map(kind):
        return 4 * len(array) + data_bytes(array.keys) + data_bytes(array.items)
    if pa.types.is_string(kind) or pa.types.is_binary(kind):
        return 4 * len(array) + (pc.sum(pc.binary_length(array)).as_py() or 0)
    return int(len(array) * kind.bit_width) // 8 if kind.bit_width >= 8 else len(array)
