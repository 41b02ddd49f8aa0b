"""Headers for every answer: `response.http.headers.config`."""

from __future__ import annotations

import re
from dataclasses import dataclass
from email.utils import formatdate

from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from penstock.connect.errors import invalid_value

KEY = "response.http.headers.config"
_ACTIONS = ("set", "add", "setDate", "addDate")
_PARTS = re.compile(r'(?:[^,"]|"[^"]*")+')
_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]+")


@dataclass(frozen=True, slots=True)
class HeaderRule:
    """One header: how it is put, its name and value."""

    action: str
    name: str
    value: str

    def apply(self, headers: MutableHeaders) -> None:
        """Puts the header into an answer."""
        value = self.value if self.action in {"set", "add"} else formatdate(_millis(self.value) / 1000, usegmt=True)
        if self.action.startswith("set"):
            headers[self.name] = value
        else:
            headers.append(self.name, value)


def parse_header_rules(text: str) -> tuple[HeaderRule, ...]:
    """The rules of a setting; one with commas in it stands in quotes.

    >>> parse_header_rules('set X-Frame-Options: DENY, "add Cache-Control: no-cache, no-store"')[1].value
    'no-cache, no-store'

    Raises:
        ConfigError: A rule is not `[action] Name: value`.
    """
    return tuple(_rule(part.strip().strip('"').strip()) for part in _PARTS.findall(text) if part.strip())


def _rule(text: str) -> HeaderRule:
    head, colon, value = text.partition(":")
    action, _, name = head.strip().partition(" ")
    if not colon:
        raise invalid_value(KEY, text, "Invalid format of header config: expected '[action] name: value'")
    if action not in _ACTIONS:
        raise invalid_value(KEY, text, f"Invalid action {action}: must be one of {', '.join(_ACTIONS)}")
    rule = HeaderRule(action, name.strip(), value.strip())
    if not _NAME.fullmatch(rule.name):
        raise invalid_value(KEY, text, f"Invalid header name {rule.name!r}")
    if action.endswith("Date") and not re.fullmatch(r"-?\d{1,15}", rule.value):
        raise invalid_value(KEY, text, "A date is written as milliseconds since 1970")
    return rule


def _millis(text: str) -> int:
    return int(text)


class ResponseHeaders:
    """Adds headers to every answer."""

    def __init__(self, app: ASGIApp, rules: tuple[HeaderRule, ...]) -> None:
        self._app = app
        self._rules = rules

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for rule in self._rules:
                    rule.apply(headers)
            await send(message)

        await self._app(scope, receive, with_headers if scope["type"] == "http" else send)
