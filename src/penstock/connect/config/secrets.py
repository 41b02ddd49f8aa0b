"""Secrets, kept out of everything that is shown."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.connect.config.config_def import ConfigDef
from penstock.connect.config.config_key import ConfigType
from penstock.connect.config.password import HIDDEN, Password

_SHORTEST = 3


class Secrets:
    """Texts that must not appear in traces, messages and logs.

    >>> Secrets(["s3cret"]).redact("cannot log in with s3cret")
    'cannot log in with [hidden]'

    Args:
        values: The secrets. Very short ones are left aside: they would blank out half of every message.
    """

    __slots__ = ("_values",)

    def __init__(self, values: Iterable[str] = ()) -> None:
        # Longest first, so that a secret inside another does not leave a rest.
        self._values = sorted({value for value in values if len(value) >= _SHORTEST}, key=len, reverse=True)

    @classmethod
    def of(cls, settings: Mapping[str, Any], definition: ConfigDef, resolved: Iterable[str] = ()) -> Secrets:
        """The passwords among some settings, and values that came from config providers."""
        passwords = [
            value.value if isinstance(value, Password) else str(value)
            for name, value in settings.items()
            if value is not None and (key := definition.get(name)) is not None and key.type is ConfigType.PASSWORD
        ]
        return cls([*passwords, *resolved])

    def union(self, *others: Secrets) -> Secrets:
        """These and others."""
        return Secrets(value for secrets in (self, *others) for value in secrets._values)  # noqa: SLF001 - its own class

    def redact(self, text: str) -> str:
        """A text without secrets."""
        for value in self._values:
            text = text.replace(value, HIDDEN)
        return text

    def __repr__(self) -> str:
        return f"Secrets({len(self._values)})"
