"""What values a setting takes: one object a kind, which checks and converts."""

from __future__ import annotations

import os
import re
from collections.abc import Callable
from dataclasses import dataclass
from datetime import timedelta
from typing import Any

from penstock.durations import duration_ms
from penstock.errors import ConfigError, PenstockError, TopologyError
from penstock.serde.names import resolve_serde


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of value.

    Attributes:
        name: How the documentation calls it.
        parse: The value as the program uses it; ValueError or TypeError with what was expected.
    """

    name: str
    parse: Callable[[Any], Any]


def whole_number(minimum: int | None = None, maximum: int | None = None) -> Kind:
    """Integers, also as text.

    >>> whole_number().parse("12")
    12
    """

    def parse(value: Any) -> int:
        number = _integer(value)
        if minimum is not None and number < minimum:
            raise ValueError(f"expected {minimum} or more")
        if maximum is not None and number > maximum:
            raise ValueError(f"expected {maximum} or less")
        return number

    return Kind("whole number", parse)


def _integer(value: Any) -> int:
    if isinstance(value, str) and value.strip().lstrip("+-").isdigit():
        return int(value)
    if isinstance(value, bool) or not isinstance(value, int):
        raise TypeError("expected a whole number")
    return value


def _milliseconds(value: Any) -> int:
    """Kafka's number, or a duration as everywhere else."""
    if isinstance(value, timedelta) or (isinstance(value, str) and not value.strip().lstrip("+-").isdigit()):
        try:
            return duration_ms(value)
        except TopologyError:
            raise ValueError('expected milliseconds, or a duration such as "30s"') from None
    number = _integer(value)
    if number < 0:
        raise ValueError("expected 0 or more milliseconds")
    return number


def _truth(value: Any) -> bool:
    if isinstance(value, str) and value.strip().lower() in {"true", "false"}:
        return value.strip().lower() == "true"
    if not isinstance(value, bool):
        raise TypeError("expected true or false")
    return value


def _text(value: Any) -> str:
    if isinstance(value, (list, tuple)):  # host:port lists, as Java's clients take them
        return ",".join(map(str, value))
    if not isinstance(value, (str, os.PathLike)):
        raise TypeError("expected text")
    return str(value)


# Java's limit for topics is 249; the longest names of internal topics need the rest.
_NAME = re.compile(r"[A-Za-z0-9._-]{1,200}")


def _name(value: Any) -> str:
    """What may begin the name of a topic, and be a folder's."""
    text = _text(value)
    if text and (_NAME.fullmatch(text) is None or not text.strip(".")):
        raise ValueError("expected letters, digits, '.', '_' and '-', as in the name of a topic")
    return text


# What pyarrow opens; a scheme of one letter is a drive, and no scheme.
_SCHEMES = ("file", "s3", "gs", "gcs", "hdfs", "viewfs", "abfs", "abfss")
_SCHEME = re.compile(r"([A-Za-z][A-Za-z0-9+.-]+):(//)?")


def _folder(value: Any) -> str:
    """A path or a URI, checked by its form alone: nothing is opened."""
    text = _text(value)
    found = _SCHEME.match(text)
    if found is None:
        return text
    scheme = found[1]
    if scheme not in _SCHEMES:
        raise ValueError(f"expected a path, or a URI with {', '.join(_SCHEMES[:-1])} or {_SCHEMES[-1]} before the ://")
    if scheme != "file" and (found[2] is None or not text[found.end() :].strip("/")):
        raise ValueError(f"expected {scheme}://BUCKET-OR-HOST/FOLDER")
    return text


def _anything(value: Any) -> Any:
    return value


def one_of(*choices: str) -> Kind:
    """One of a few words."""

    def parse(value: Any) -> str:
        if str(value) not in choices:
            raise ValueError(f"expected one of {', '.join(choices)}")
        return str(value)

    return Kind(" or ".join(f"`{choice}`" for choice in choices), parse)


def checked(name: str, check: Callable[[Any], Any]) -> Kind:
    """Any value that another part of penstock accepts."""

    def parse(value: Any) -> Any:
        try:
            check(value)
        except ConfigError as error:
            raise ValueError(error.hint or error.message) from None
        except PenstockError as error:
            raise ValueError(str(error)) from None
        return value

    return Kind(name, parse)


MILLISECONDS = Kind("milliseconds", _milliseconds)
TRUTH = Kind("true or false", _truth)
TEXT = Kind("text", _text)
NAME = Kind("name", _name)
FOLDER = Kind("path or URI", _folder)
SERDE = checked("serde or its short name", resolve_serde)
FUNCTION = Kind("function, class or dotted name", _anything)
CLASS = Kind("class or its name", _anything)
