"""Secrets, kept out of everything that is shown."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any
from urllib.parse import quote

from penstock.connect.config.config_def import ConfigDef
from penstock.connect.config.config_key import ConfigType
from penstock.connect.config.password import HIDDEN, Password
from penstock.connect.errors import MAX_SHOWN

SECRET_NAMES = ("password", "jaas.config", "secret", "ssl.keystore.key")
"""How settings end that are secret though nobody declares them: those of Kafka clients."""

_SHORTEST = 3
# Lines and elements of a secret are secrets, too, but `a` of the list `a,b` would blank out half of every message.
_SHORTEST_PART = 8
# `postgres` must not blank out a part of `postgresql`: a short word is a secret only where it stands alone.
_SHORTEST_INSIDE_WORDS = 9
_IN_JAAS = re.compile(r'password\s*=\s*"([^"]+)"')


class Secrets:
    r"""Texts that must not appear in traces, messages and logs: as they are, and as messages usually have them.

    >>> Secrets(["s3cret"]).redact("cannot log in with s3cret")
    'cannot log in with [hidden]'
    >>> Secrets(["p@ss-word\n"]).redact("no answer from db://u:p%40ss-word@host or p@ss-word")
    'no answer from db://u:[hidden]@host or [hidden]'

    Args:
        values: The secrets. Very short ones are left aside: they would blank out half of every message.
    """

    __slots__ = ("_forms",)

    def __init__(self, values: Iterable[str] = ()) -> None:
        self._forms = _longest_first({form for value in set(values) for form in _spellings(value)})

    @classmethod
    def of(cls, settings: Mapping[str, Any], definition: ConfigDef, resolved: Iterable[str] = ()) -> Secrets:
        """The passwords among some settings, and values that came from config providers."""
        passwords = [
            value.value if isinstance(value, Password) else str(value)
            for name, value in settings.items()
            if value is not None and _is_secret(name, definition)
        ]
        return cls([*passwords, *resolved])

    def union(self, *others: Secrets) -> Secrets:
        """These and others."""
        made = Secrets()
        made._forms = _longest_first({form for one in (self, *others) for form in one._forms})  # noqa: SLF001 - its own class
        return made

    def redact(self, text: str) -> str:
        """A text without secrets."""
        for form in self._forms:
            if form not in text:
                continue
            if len(form) < _SHORTEST_INSIDE_WORDS and form.isalnum():
                text = re.sub(rf"(?<![^\W_]){re.escape(form)}(?![^\W_])", HIDDEN, text)
            else:
                text = text.replace(form, HIDDEN)
        return text

    def __repr__(self) -> str:
        return "Secrets(..)"


def _is_secret(name: str, definition: ConfigDef) -> bool:
    key = definition.get(name)
    return name.endswith(SECRET_NAMES) if key is None else key.type is ConfigType.PASSWORD


def _longest_first(forms: Iterable[str]) -> list[str]:
    """So that a secret inside another does not leave a rest."""
    return sorted(forms, key=len, reverse=True)


def _spellings(value: str) -> Iterator[str]:
    """A secret and its parts, plain and as URLs, JSON and tracebacks write them."""
    for form in _parts(value):
        yield form
        # A part of a text that is no Unicode has only its plain form.
        spelled = (json.dumps(form)[1:-1], repr(form)[1:-1], quote(form, safe="", errors="replace"))
        yield from spelled


def _parts(value: str) -> Iterator[str]:
    whole = (value, value.strip(), value[:MAX_SHOWN], *_IN_JAAS.findall(value))
    yield from (form for form in whole if len(form.strip()) >= _SHORTEST)
    # A file has a line end, a certificate lines, a setting a list; messages have one line or one element.
    for part in (*value.splitlines(), *value.split(",")):
        if len(part.strip()) >= _SHORTEST_PART:
            yield part.strip()


NO_SECRETS = Secrets()
