"""Serdes of numbers: big-endian, as Kafka's Java serdes write them."""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from penstock.serde import messages
from penstock.serde.serde import CodecSerde

_INTEGER_FORMATS = {2: ">h", 4: ">i", 8: ">q"}
_FLOAT_FORMATS = {4: ">f", 8: ">d"}


@dataclass(frozen=True, slots=True)
class IntegerSerde(CodecSerde[int]):
    """A whole number of 2, 4 or 8 bytes. A bool is refused: it is not the same key as 0 or 1."""

    label: str
    fixed_size: int

    key_identity = True
    mutable = False
    topic_free = True

    @property
    def name(self) -> str:
        return self.label

    def encoder(self, topic: str) -> Callable[[int | None], bytes | None]:
        name, size = self.label, self.fixed_size
        pack = struct.Struct(_INTEGER_FORMATS[size]).pack

        def write(value: int | None) -> bytes | None:
            if value is None:
                return None
            if value.__class__ is not int and (isinstance(value, bool) or not isinstance(value, int)):
                raise messages.wrong_type(name, value, topic, "int")
            try:
                return pack(value)
            except struct.error:
                limit = 2 ** (8 * size - 1)
                wider = 'the "json" or "string" serde' if size == 8 else 'the "long" serde'
                raise messages.out_of_range(name, value, topic, f"{-limit} to {limit - 1}", wider) from None

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], int | None]:
        name, size = self.label, self.fixed_size
        unpack = struct.Struct(_INTEGER_FORMATS[size]).unpack

        def read(data: bytes | None) -> int | None:
            if data is None:
                return None
            try:
                number: int = unpack(data)[0]
            except (struct.error, TypeError):
                raise messages.wrong_size(name, data, topic, size) from None
            return number

        return read


@dataclass(frozen=True, slots=True)
class FloatSerde(CodecSerde[float]):
    """An IEEE 754 number of 4 or 8 bytes. An int is written if it has exactly that value as a float.

    Not usable as its own key: 0.0 and -0.0 are equal but have different bytes.
    """

    label: str
    fixed_size: int

    mutable = False
    topic_free = True

    @property
    def name(self) -> str:
        return self.label

    def encoder(self, topic: str) -> Callable[[float | None], bytes | None]:
        name, size = self.label, self.fixed_size
        pack = struct.Struct(_FLOAT_FORMATS[size]).pack

        def write(value: float | None) -> bytes | None:
            if value.__class__ is not float:
                if value is None:
                    return None
                _check_float(name, value, topic, size)
            try:
                return pack(value)
            except OverflowError:
                raise messages.out_of_range(name, value, topic, "32 bits", 'the "double" serde') from None

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], float | None]:
        name, size = self.label, self.fixed_size
        unpack = struct.Struct(_FLOAT_FORMATS[size]).unpack

        def read(data: bytes | None) -> float | None:
            if data is None:
                return None
            try:
                number: float = unpack(data)[0]
            except (struct.error, TypeError):
                raise messages.wrong_size(name, data, topic, size) from None
            return number

        return read


def _check_float(name: str, value: Any, topic: str, size: int) -> None:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise messages.wrong_type(name, value, topic, "float")
    if isinstance(value, int) and not _is_exact(value, _FLOAT_FORMATS[size]):
        why = f"no float of {8 * size} bits has exactly this value"
        raise messages.unwritable(name, value, topic, why, 'Use the "long" serde, or map it to float first.')


def _is_exact(value: int, layout: str) -> bool:
    try:
        return bool(struct.unpack(layout, struct.pack(layout, value))[0] == value)
    except (OverflowError, struct.error):
        return False
