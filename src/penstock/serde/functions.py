"""A serde made of two functions."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.errors import SerdeError
from penstock.serde import messages
from penstock.serde.serde import CodecSerde


@dataclass(frozen=True, slots=True)
class FunctionSerde(CodecSerde[Any]):
    """Calls a user's functions for every value that is not null."""

    to_bytes: Callable[[Any], bytes]
    from_bytes: Callable[[bytes], Any]
    label: str = "custom"

    @property
    def name(self) -> str:
        return self.label

    def encoder(self, topic: str) -> Callable[[Any], bytes | None]:
        name, to_bytes = self.label, self.to_bytes

        def write(value: Any) -> bytes | None:
            if value is None:
                return None
            try:
                data: Any = to_bytes(value)
            except SerdeError:
                raise
            except Exception as error:
                raise messages.unwritable(name, value, topic, f"{type(error).__name__}: {error}") from error
            if not isinstance(data, bytes):
                why = f"its function returned {type(data).__name__} {messages.short(data)}"
                raise messages.unwritable(name, value, topic, why, "Return bytes.")
            return data

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], Any]:
        name, from_bytes = self.label, self.from_bytes

        def read(data: bytes | None) -> Any:
            if data is None:
                return None
            try:
                return from_bytes(data)
            except SerdeError:
                raise
            except Exception as error:
                raise messages.unreadable(name, data, topic, f"{type(error).__name__}: {error}") from error

        return read
