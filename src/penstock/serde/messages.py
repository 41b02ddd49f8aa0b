"""The texts of serde errors, in one place so that they read alike."""

from __future__ import annotations

import reprlib
from datetime import date
from decimal import Decimal
from uuid import UUID

from penstock.errors import SerdeError

_SHORT = reprlib.Repr()
_SHORT.maxstring = _SHORT.maxother = 80
_SHORT.maxlevel = 3

# The first match decides: bool is an int, datetime is a date.
_SERDE_FOR_TYPE: tuple[tuple[type, str], ...] = (
    (bool, "bool"),
    (int, "long"),
    (float, "double"),
    (str, "string"),
    (bytes, "bytes"),
    (UUID, "uuid"),
    (date, "json"),
    (Decimal, "json"),
    (dict, "json"),
    (list, "json"),
    (tuple, "json"),
)


def short(value: object) -> str:
    """A value's repr, cut to what fits in a message."""
    return _SHORT.repr(value)


def wrong_type(serde: str, value: object, topic: str, expected: str) -> SerdeError:
    """A value of a type the serde does not write."""
    kind = type(value)
    fitting = next((name for known, name in _SERDE_FOR_TYPE if isinstance(value, known) and name != serde), None)
    change = f'Set key_serde or value_serde="{fitting}", or map' if fitting else "Map"
    return SerdeError(
        f"the {serde} serde cannot write {kind.__name__} {short(value)} to topic {topic}",
        hint=f"{change} it to {expected} first.",
    )


def out_of_range(serde: str, value: object, topic: str, limits: str, wider: str) -> SerdeError:
    """A number that does not fit."""
    return SerdeError(
        f"the {serde} serde cannot write {short(value)} to topic {topic}: it holds {limits}",
        hint=f"Use {wider}, or check where the value comes from.",
    )


def wrong_size(serde: str, data: object, topic: str, expected: int) -> SerdeError:
    """Bytes of a length the serde never writes."""
    if not isinstance(data, bytes):
        return not_bytes(serde, data, topic)
    return SerdeError(
        f"the {serde} serde reads {expected} bytes, but a record of topic {topic} has {len(data)}: {short(data)}",
        hint="The topic was probably written with another serde; use the one of its producer.",
    )


def unreadable(serde: str, data: object, topic: str, why: str) -> SerdeError:
    """Bytes that are not in the serde's format."""
    if not isinstance(data, bytes):
        return not_bytes(serde, data, topic)
    return SerdeError(
        f"the {serde} serde cannot read {len(data)} bytes of topic {topic}: {why}: {short(data)}",
        hint="The topic was probably written with another serde; use the one of its producer.",
    )


def unwritable(serde: str, value: object, topic: str, why: str, hint: str = "") -> SerdeError:
    """A value of the right type that still has no bytes."""
    return SerdeError(
        f"the {serde} serde cannot write {type(value).__name__} {short(value)} to topic {topic}: {why}", hint=hint
    )


def not_bytes(serde: str, data: object, topic: str) -> SerdeError:
    """Something that is not bytes at all where serialised data was expected."""
    return SerdeError(
        f"the {serde} serde reads bytes, but got {type(data).__name__} {short(data)} for topic {topic}",
        hint="Pass serialised data, or serialise the value first.",
    )
