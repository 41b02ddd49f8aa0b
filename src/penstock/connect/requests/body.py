"""JSON bodies, with the errors tools know from Kafka's REST API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import orjson

from penstock.connect.errors import MalformedRequestError

_NAMES = {dict: "Object", list: "Array", str: "String", bool: "Boolean", int: "Integer", float: "Floating-point"}


def parse_body(body: bytes | str) -> Any:
    """The JSON value of a body.

    Raises:
        MalformedRequestError: It is no JSON.
    """
    try:
        return orjson.loads(body)
    except orjson.JSONDecodeError as error:
        raise MalformedRequestError(f"Cannot deserialize value: the body is not JSON: {error}") from error


def require_object(value: Any, what: str) -> dict[str, Any]:
    """The value, which must be a JSON object."""
    if not isinstance(value, dict):
        raise cannot_deserialize("Object", value, what)
    return value


def require_list(value: Any, what: str) -> list[Any]:
    """The value, which must be a JSON array."""
    if not isinstance(value, list):
        raise cannot_deserialize("Array", value, what)
    return value


def require_known(fields: Iterable[str], known: tuple[str, ...], what: str) -> None:
    """Raises MalformedRequestError if there are other fields."""
    for field in fields:
        if field not in known:
            names = ", ".join(f'"{name}"' for name in known)
            raise MalformedRequestError(
                f'Unrecognized field "{field}" ({what}), not marked as ignorable ({len(known)} known properties: {names})'
            )


def cannot_deserialize(wanted: str, value: Any, what: str) -> MalformedRequestError:
    """The error for a value of another JSON type."""
    found = "Null" if value is None else _NAMES.get(type(value), type(value).__name__)
    return MalformedRequestError(f"Cannot deserialize value of type `{wanted}` from {found} value ({what})")


def string_map(value: Any, what: str) -> dict[str, str | None]:
    """A connector configuration: numbers and booleans become their text, null stays.

    Raises:
        MalformedRequestError: It is no object, or has objects or arrays in it.
    """
    return {name: _text(one, f"{what}.{name}") for name, one in require_object(value, what).items()}


def _text(value: Any, what: str) -> str | None:
    if value is None or isinstance(value, str):
        return value
    if isinstance(value, (dict, list)):
        raise cannot_deserialize("String", value, what)
    return orjson.dumps(value).decode()
