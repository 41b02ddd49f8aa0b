"""Serdes of windowed keys: the bytes of the inner key, then the window's bounds as 8-byte big-endian numbers."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.durations import MAX_LONG, Duration, duration_ms
from penstock.errors import TopologyError
from penstock.records import Window, Windowed
from penstock.serde import messages
from penstock.serde.names import resolve_serde
from penstock.serde.serde import CodecSerde, Serde

_START = struct.Struct(">q")
_END_START = struct.Struct(">qq")


class _WindowedSerde(CodecSerde[Windowed[Any]]):
    """What the two kinds share: `inner` writes the key; records are partitioned by the inner key alone."""

    __slots__ = ()

    inner: Serde[Any]
    windowed: ClassVar[bool] = True

    @property
    def key_identity(self) -> bool:  # type: ignore[override]
        return self.inner.key_identity

    @property
    def mutable(self) -> bool:  # type: ignore[override]
        return self.inner.mutable

    def _key_encoder(self, topic: str) -> Callable[[Any], bytes]:
        name, encode = self.name, self.inner.encoder(topic)

        def write(value: Any) -> bytes:
            if not isinstance(value, Windowed):
                raise messages.wrong_type(name, value, topic, "penstock.Windowed")
            key = encode(value.key)
            if key is None:
                raise messages.unwritable(name, value, topic, "its key is null", "A windowed key needs an inner key.")
            return key

        return write

    def _bounds(self, pack: Callable[..., bytes], topic: str, value: Windowed[Any], *bounds: int) -> bytes:
        try:
            return pack(*bounds)
        except struct.error:
            raise messages.unwritable(self.name, value, topic, "its window does not fit into 64 bits") from None


@dataclass(frozen=True, slots=True)
class TimeWindowedSerde(_WindowedSerde):
    """Key and window start; the end is start + `window_size`, which both sides must agree on."""

    inner: Serde[Any]
    window_size: int

    @property
    def name(self) -> str:
        return f"time_windowed({self.inner.name})"

    def encoder(self, topic: str) -> Callable[[Windowed[Any] | None], bytes | None]:
        key_of, bounds, pack = self._key_encoder(topic), self._bounds, _START.pack

        def write(value: Windowed[Any] | None) -> bytes | None:
            if value is None:
                return None
            return key_of(value) + bounds(pack, topic, value, value.window.start)

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], Windowed[Any] | None]:
        name, decode, size = self.name, self.inner.decoder(topic), self.window_size

        def read(data: bytes | None) -> Windowed[Any] | None:
            if not data:  # Java reads empty bytes as null too
                return None
            if len(data) < 8:
                raise messages.unreadable(name, data, topic, "it is too short for a window start of 8 bytes")
            (start,) = _START.unpack_from(data, len(data) - 8)
            return Windowed(decode(data[:-8]), Window(start, min(start + size, MAX_LONG)))

        return read


@dataclass(frozen=True, slots=True)
class SessionWindowedSerde(_WindowedSerde):
    """Key, then end and start of the session."""

    inner: Serde[Any]

    @property
    def name(self) -> str:
        return f"session_windowed({self.inner.name})"

    def encoder(self, topic: str) -> Callable[[Windowed[Any] | None], bytes | None]:
        key_of, bounds, pack = self._key_encoder(topic), self._bounds, _END_START.pack

        def write(value: Windowed[Any] | None) -> bytes | None:
            if value is None:
                return None
            return key_of(value) + bounds(pack, topic, value, value.window.end, value.window.start)

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], Windowed[Any] | None]:
        name, decode = self.name, self.inner.decoder(topic)

        def read(data: bytes | None) -> Windowed[Any] | None:
            if not data:
                return None
            if len(data) < 16:
                raise messages.unreadable(
                    name, data, topic, "it is too short for a session's end and start of 16 bytes"
                )
            end, start = _END_START.unpack_from(data, len(data) - 16)
            return Windowed(decode(data[:-16]), Window(start, end))

        return read


class WindowedSerdes:
    """Serdes of windowed keys, byte for byte as Kafka Streams writes them."""

    @staticmethod
    def time_windowed(inner: Serde[Any] | str, window_size: Duration) -> Serde[Windowed[Any]]:
        r"""Keys of time and sliding windows. `window_size` is the window's size, or the difference of sliding ones.

        >>> from penstock.records import Window, Windowed
        >>> serde = WindowedSerdes.time_windowed("string", "5m")
        >>> serde.serialize("t", Windowed("a", Window(0, 300_000)))
        b'a\x00\x00\x00\x00\x00\x00\x00\x00'
        """
        size = duration_ms(window_size, "window_size")
        if size == 0:
            raise TopologyError("window_size is 0", hint="Give the size of the windows, for example '5m'.")
        return TimeWindowedSerde(resolve_serde(inner), size)

    @staticmethod
    def session_windowed(inner: Serde[Any] | str) -> Serde[Windowed[Any]]:
        """Keys of session windows."""
        return SessionWindowedSerde(resolve_serde(inner))
