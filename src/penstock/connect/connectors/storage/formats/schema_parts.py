"""What a schema is made of, and decimals that a format has no room for."""

from __future__ import annotations

from collections.abc import Iterator

from penstock.connect.data import DECIMAL_NAME, Schema, Type
from penstock.connect.data.logical import scale_of
from penstock.connect.errors import DataError, shown

_PRECISION_PARAMETER = "connect.decimal.precision"


def schema_parts(schema: Schema, name: str = "") -> Iterator[tuple[str, Schema]]:
    """A schema and all those within it, each with where it is: `address.street`, `tags[]`."""
    yield name, schema
    if schema.type is Type.STRUCT:
        for field in schema.fields:
            yield from schema_parts(field.schema, f"{name}.{field.name}" if name else field.name)
    if schema.key_schema is not None:
        yield from schema_parts(schema.key_schema, f"{name} key")
    if schema.value_schema is not None:
        yield from schema_parts(schema.value_schema, f"{name}[]" if schema.type is Type.ARRAY else f"{name} value")


def precision_of(schema: Schema, default: int) -> int:
    """The digits of a decimal schema, and a default where it does not say how many.

    Raises:
        DataError: It is no number above zero.
    """
    text = (schema.parameters or {}).get(_PRECISION_PARAMETER)
    if text is None:
        return default
    if not (text.isdecimal() and int(text)):
        raise DataError(f"{_PRECISION_PARAMETER} of a decimal is {shown(text)}, and not a number of digits")
    return int(text)


def check_decimals(
    schema: Schema,
    form: str,
    *,
    default: int,
    scales: tuple[int | None, int | None] = (0, None),
    digits: int | None = None,
) -> None:
    """Whether a format has room for the decimals of a schema.

    Args:
        schema: The schema.
        form: Name of the format.
        default: Digits of decimals whose schema names no number.
        scales: The least scale and the largest one; None for no limit but the digits.
        digits: The most digits; None for no limit.

    Raises:
        DataError: It has not.
    """
    for name, part in schema_parts(schema):
        if part.name != DECIMAL_NAME:
            continue
        precision, scale = precision_of(part, default), scale_of(part)
        least, largest = scales
        largest = min(precision, precision if largest is None else largest)
        if digits is not None and precision > digits:
            problem = f"has {precision} digits, and {form} takes {digits}"
        elif scale > largest or (least is not None and scale < least):
            problem = f"has scale {scale}, and {form} takes {least or 0} to {largest}"
        else:
            continue
        raise DataError(
            f'the decimal "{name or "value"}" {problem}',
            hint="numeric.mapping=best_fit of a JDBC source gives other numbers, decimal.handling.mode=string of a change "
            "source gives texts; the transform Cast$Value makes either of them.",
        )
