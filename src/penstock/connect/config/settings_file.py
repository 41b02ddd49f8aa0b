"""Files of settings: what a worker or a connector is started with."""

from __future__ import annotations

from pathlib import Path

from penstock.connect.errors import ConfigError


def read_settings_file(path: Path, owner: str, *, hint: str) -> str:
    """The text of a file.

    Args:
        path: The file.
        owner: Whose settings they are, for the message.
        hint: What to give instead, if it cannot be read.

    Raises:
        ConfigError: The file cannot be read; the message names it and says why.
    """
    try:
        return path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"The {owner}'s settings cannot be read from {path}: {reason}", hint=hint) from None
