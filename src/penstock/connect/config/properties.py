"""Java properties files: what workers, connectors and secrets are written in."""

from __future__ import annotations

from penstock import errors, properties
from penstock.connect.errors import ConfigError


def parse_properties(text: str) -> dict[str, str]:
    r"""The entries of a properties file; the last of a name wins.

    >>> parse_properties("# a comment\nname = file-\\\n    sink\ntopics:a,b")
    {'name': 'file-sink', 'topics': 'a,b'}

    Raises:
        ConfigError: A unicode escape is malformed; the message names the line.
    """
    try:
        return properties.parse_properties(text)
    except errors.ConfigError as error:
        raise ConfigError(error.message, hint=error.hint) from None
