"""Values that must never be shown."""

from __future__ import annotations

HIDDEN = "[hidden]"


class Password:
    """A secret. Its text is `[hidden]` wherever it is printed, logged or put in a message.

    >>> secret = Password("s3cret")
    >>> f"{secret} {secret!r}", secret.value
    ('[hidden] [hidden]', 's3cret')
    """

    __slots__ = ("value",)

    def __init__(self, value: str) -> None:
        self.value = value

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Password) and self.value == other.value

    def __hash__(self) -> int:
        return hash(self.value)

    def __repr__(self) -> str:
        return HIDDEN

    __str__ = __repr__

    def __format__(self, spec: str) -> str:
        return format(HIDDEN, spec)
