"""The basic authentication extension: user and password for every request."""

from __future__ import annotations

import base64
import binascii
import hmac
import os
import re
import shlex
from collections.abc import Mapping
from pathlib import Path

from starlette.types import ASGIApp, Receive, Scope, Send

from penstock.connect.config.properties import parse_properties
from penstock.connect.errors import ConfigError, missing_value

EXTENSION = "BasicAuthSecurityRestExtension"
FILE_KEY = "basic.auth.credentials.file"
_JAAS_FILE = re.compile(r"""PropertyFileLoginModule\s+\w+\s+[^;]*?\bfile\s*=\s*["']?([^"';]+)["']?""", re.DOTALL)
_REFUSAL = b"User cannot access the resource."


class Credentials:
    """Users and their passwords, read from a properties file whenever it changes.

    Args:
        file: Lines `user=password`; without any, everybody is let in, as in Kafka.
    """

    def __init__(self, file: Path) -> None:
        self._file = file
        self._changed: float | None = None
        self._users: dict[str, str] = {}
        self.users()

    def users(self) -> Mapping[str, str]:
        """Passwords by user.

        Raises:
            ConfigError: The file cannot be read.
        """
        try:
            changed = self._file.stat().st_mtime
            if changed != self._changed:
                self._users = parse_properties(self._file.read_text(encoding="utf-8"))
                self._changed = changed
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise ConfigError(f"Credentials cannot be read from {self._file}: {reason}", key=FILE_KEY) from None
        return self._users

    def accept(self, header: str) -> bool:
        """Whether an Authorization header names a user with the right password."""
        users = self.users()
        if not users:
            return True
        kind, _, encoded = header.partition(" ")
        try:
            user, _, password = base64.b64decode(encoded, validate=True).decode().partition(":")
        except (binascii.Error, UnicodeDecodeError):
            return False
        expected = users.get(user)
        given = password.encode()
        # Compared in both cases, so that the time does not tell whether there is such a user.
        return (
            hmac.compare_digest((expected or "").encode(), given) and expected is not None and kind.lower() == "basic"
        )


def configured_credentials(settings: Mapping[str, str]) -> Credentials | None:
    """Users of a worker whose `rest.extension.classes` names the extension.

    Raises:
        ConfigError: It does not say where they are, or an extension is not known.
    """
    names = [name.strip() for name in settings.get("rest.extension.classes", "").split(",") if name.strip()]
    for name in names:
        if name.rpartition(".")[2] != EXTENSION:
            raise ConfigError(
                f"The REST extension {name} cannot be loaded",
                key="rest.extension.classes",
                hint=f"Known is {EXTENSION}.",
            )
    if not names:
        return None
    file = settings.get(FILE_KEY) or _jaas_file(os.environ.get("KAFKA_OPTS", ""))
    if file is None:
        raise missing_value(FILE_KEY)
    return Credentials(Path(file).expanduser())


def _jaas_file(options: str) -> str | None:
    """The file that the JAAS configuration of Java's options names."""
    prefix = "-Djava.security.auth.login.config="
    jaas = next((option[len(prefix) :] for option in shlex.split(options) if option.startswith(prefix)), None)
    if jaas is None or not Path(jaas).is_file():
        return None
    found = _JAAS_FILE.search(Path(jaas).read_text(encoding="utf-8"))
    return found[1].strip() if found is not None else None


class BasicAuth:
    """Refuses requests without user and password."""

    def __init__(self, app: ASGIApp, credentials: Credentials) -> None:
        self._app = app
        self._credentials = credentials

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            headers = dict(scope["headers"])
            if not self._credentials.accept(headers.get(b"authorization", b"").decode("latin-1")):
                start = {
                    "type": "http.response.start",
                    "status": 401,
                    "headers": [
                        (b"content-type", b"text/plain"),
                        (b"content-length", str(len(_REFUSAL)).encode()),
                        (b"www-authenticate", b'Basic realm="Connect"'),
                    ],
                }
                await send(start)
                await send({"type": "http.response.body", "body": _REFUSAL})
                return
        await self._app(scope, receive, send)
