"""Settings in a file: TOML, or Java's .properties."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from penstock.errors import ConfigError

# In the standard library since 3.11. By name: a type checker for 3.10 would look for the other one, wherever it runs.
_toml: Any = importlib.import_module("tomllib" if sys.version_info >= (3, 11) else "tomli")


def read_config(path: Path) -> dict[str, Any]:
    """The settings of a file by Kafka's keys.

    In TOML `application.id = "x"` and `[application]` with `id = "x"` are the same, and both give `application.id`.

    Raises:
        ConfigError: The file cannot be read.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except OSError as error:
        raise ConfigError(f"the settings file {path} cannot be read: {error.strerror}") from error
    if path.suffix == ".properties":
        return dict(_properties(text, path))
    try:
        return dict(_flat(_toml.loads(text), ""))
    except ValueError as error:
        raise ConfigError(
            f"the settings file {path} is not TOML: {error}", hint='Text needs quotes: application.id = "word-count"'
        ) from error


def _flat(table: Mapping[str, Any], prefix: str) -> Iterator[tuple[str, Any]]:
    for key, value in table.items():
        if isinstance(value, dict) and f"{prefix}{key}" != "penstock.start.offsets":
            yield from _flat(value, f"{prefix}{key}.")
        else:
            yield f"{prefix}{key}", value


def _properties(text: str, path: Path) -> Iterator[tuple[str, str]]:
    for number, line in enumerate(text.splitlines(), start=1):
        content = line.strip()
        if not content or content.startswith(("#", "!")):
            continue
        key, separator, value = content.partition("=")
        if not separator:
            raise ConfigError(f"line {number} of {path} is not key=value: {content}")
        yield key.strip(), value.strip()
