"""Bytes of a table change on its way through the repartition topic of a table's group_by."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.errors import SerdeError
from penstock.records import Change
from penstock.serde.serde import CodecSerde, Serde

_LENGTH = struct.Struct(">i")
_ABSENT = -1


@dataclass(frozen=True, slots=True)
class ChangeSerde(CodecSerde[Change[Any]]):
    """`Change(new, old)`: the length of the new value (-1 if absent), the new value, then the old value if present.

    A flag byte in front says whether an old value follows, because a value may be zero bytes long.
    """

    inner: Serde[Any] | None  # None: the configured default for values, put in by `with_defaults`

    def with_defaults(self, key_serde: Any, value_serde: Any) -> ChangeSerde:
        """This serde, around the default one for values if none was given."""
        return self if self.inner is not None else ChangeSerde(value_serde)

    @property
    def name(self) -> str:
        """How errors call it."""
        return f"change({'default' if self.inner is None else self.inner.name})"

    @property
    def mutable(self) -> bool:  # type: ignore[override]
        """Whether the inner values may be changed in place."""
        return self.inner is None or self.inner.mutable

    def encoder(self, topic: str) -> Callable[[Change[Any] | None], bytes | None]:
        """A function that writes changes of a topic."""
        encode, pack = self._given().encoder(topic), _LENGTH.pack

        def write(change: Change[Any] | None) -> bytes | None:
            if change is None:
                return None
            new = None if change.new is None else encode(change.new)
            old = None if change.old is None else encode(change.old)
            head = (b"\x00" if old is None else b"\x01") + pack(_ABSENT if new is None else len(new))
            return head + (new or b"") + (old or b"")

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], Change[Any] | None]:
        """A function that reads changes of a topic."""
        decode, unpack = self._given().decoder(topic), _LENGTH.unpack_from

        def read(data: bytes | None) -> Change[Any] | None:
            if data is None:
                return None
            if len(data) < 5 or len(data) - 5 < unpack(data, 1)[0]:
                raise SerdeError(f"{len(data)} bytes of topic {topic} are no table change")
            length = unpack(data, 1)[0]
            end = 5 if length == _ABSENT else 5 + length
            new = None if length == _ABSENT else decode(data[5:end])
            return Change(new, decode(data[end:]) if data[0] else None)

        return read

    def _given(self) -> Serde[Any]:
        if self.inner is None:
            raise SerdeError(
                "a table's group_by has no value serde and there is no default",
                hint='Give group_by(..., value_serde="json") or set default.value.serde.',
            )
        return self.inner
