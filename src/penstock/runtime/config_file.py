"""Settings in a file: TOML, or Java's .properties."""

from __future__ import annotations

import importlib
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from penstock.errors import ConfigError
from penstock.properties import parse_properties

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
        raise ConfigError(
            f"the settings file {path} cannot be read: {error.strerror}",
            hint=f"Give a file in TOML or .properties; the current folder is {Path.cwd()}.",
        ) from error
    except UnicodeDecodeError as error:
        raise ConfigError(
            f"the settings file {path} is not UTF-8", hint="Save it as UTF-8; it is TOML, or Java's .properties."
        ) from error
    if path.suffix == ".properties":
        return _properties(text, path)
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


def _properties(text: str, path: Path) -> dict[str, Any]:
    try:
        # Kafka's clients trim values, Java's parser does not.
        return {key: value.strip() for key, value in parse_properties(text).items()}
    except ConfigError as error:
        raise ConfigError(
            f"the settings file {path} cannot be read: {error.message}",
            hint=r"A backslash begins an escape there: write it as \\.",
        ) from error
