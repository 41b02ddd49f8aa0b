"""Which Python values have a JSON form, and what it is.

orjson writes the plain ones; `to_json_value` is asked for the others. `plain_copy` walks a whole value in Python: it
finds what orjson cannot write or would change silently (NaN becomes null there), and says where it is.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping
from datetime import date, time
from decimal import Decimal
from enum import Enum
from functools import lru_cache
from typing import Any
from uuid import UUID

import orjson

OPTIONS = orjson.OPT_PASSTHROUGH_DATACLASS  # orjson itself would leave out fields with a leading underscore
OPTIONS_SORTED = OPTIONS | orjson.OPT_SORT_KEYS


class NotJson(TypeError):
    """A value without a JSON form. `path` says where it is inside the value, as Python would write it."""

    def __init__(self, path: str, why: str, hint: str) -> None:
        self.path = path
        self.hint = hint
        super().__init__(f"{path} {why}")


def to_json_value(value: Any) -> Any:
    """The JSON form of a value that orjson does not know; one step, the result may hold more of them."""
    if isinstance(value, Decimal):
        if not value.is_finite():
            raise NotJson("value", f"is {value}, which JSON does not have", "Map it to None or to a text.")
        return str(value)
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {name: getattr(value, name) for name in _field_names(type(value))}
    if isinstance(value, tuple):
        return list(value)
    if isinstance(value, set | frozenset):
        # The order of a set changes from process to process; equal sets must give equal bytes.
        return sorted(value, key=lambda entry: orjson.dumps(entry, to_json_value, OPTIONS_SORTED))
    if hasattr(type(value), "__struct_fields__"):
        import msgspec

        return msgspec.to_builtins(value)
    if hasattr(type(value), "model_dump"):
        return value.model_dump(mode="json", by_alias=True)
    if isinstance(value, Mapping):
        return dict(value)
    raise TypeError(type(value).__name__)


@lru_cache(maxsize=1024)
def _field_names(kind: type) -> tuple[str, ...]:
    return tuple(field.name for field in dataclasses.fields(kind))


def plain_copy(value: Any, path: str = "value") -> Any:
    """The value made of dict, list, str, int, float, bool and None only.

    Raises:
        NotJson: For the first part that has no JSON form.
    """
    if value is None or isinstance(value, bool):
        return value
    if isinstance(value, Enum):
        return plain_copy(value.value, path)
    if isinstance(value, str):
        return _plain_text(value, path)
    if isinstance(value, int):
        return int(value)
    if isinstance(value, float):
        if not math.isfinite(value):
            raise NotJson(path, f"is {value}, which JSON does not have", 'Map it to None, or use the "double" serde.')
        return float(value)
    if isinstance(value, dict):
        return {_plain_name(key, path): plain_copy(entry, f"{path}[{key!r}]") for key, entry in value.items()}
    if isinstance(value, list | tuple):
        return [plain_copy(entry, f"{path}[{position}]") for position, entry in enumerate(value)]
    if isinstance(value, date | time | UUID):
        return orjson.loads(orjson.dumps(value))
    try:
        step = to_json_value(value)
    except NotJson as error:
        raise NotJson(path, str(error).removeprefix("value "), error.hint) from None
    except TypeError:
        kind = type(value).__name__
        raise NotJson(path, f"is a {kind}, which has no JSON form", _hint_for(value)) from None
    return plain_copy(step, path)


def _plain_text(value: str, path: str) -> str:
    try:
        value.encode()
    except UnicodeEncodeError:
        raise NotJson(path, "holds a surrogate, which UTF-8 has no bytes for", "Map it to valid text first.") from None
    return str.__str__(value)


def _plain_name(key: Any, path: str) -> str:
    if isinstance(key, Enum):
        key = key.value
    if isinstance(key, str):
        return _plain_text(key, path)
    raise NotJson(
        path,
        f"has the {type(key).__name__} key {key!r}, and JSON objects have text keys only",
        "Use str(key); it would come back as text anyway.",
    )


def _hint_for(value: Any) -> str:
    if isinstance(value, bytes | bytearray | memoryview):
        return 'Use the "bytes" serde, or base64 text inside JSON.'
    if isinstance(value, complex):
        return "Map it to a list of two numbers."
    if hasattr(value, "item"):  # a NumPy scalar
        return "Map it to a Python number with .item() first."
    return "Map it to a dict, list, text, number, bool or None, or use a serde of your own."
