"""`Serdes`: one factory for each serde, as in Kafka."""

from __future__ import annotations

import uuid as uuid_module
from collections.abc import Callable
from typing import Any, TypeAlias

from penstock.errors import SerdeError
from penstock.serde.functions import FunctionSerde
from penstock.serde.json_serde import JsonSerde
from penstock.serde.lists import ListSerde
from penstock.serde.names import resolve_serde
from penstock.serde.numbers import FloatSerde, IntegerSerde
from penstock.serde.primitives import BooleanSerde, ByteBufferSerde, BytesSerde, StringSerde, UuidSerde, VoidSerde
from penstock.serde.serde import Serde

# Inside the class the names bytes, float and list are its methods.
_Bytes: TypeAlias = bytes
_Float: TypeAlias = float
_List: TypeAlias = list


class Serdes:
    """Factories of serdes. Each has a short name for `key_serde=` and `value_serde=` too, such as `"string"`."""

    @staticmethod
    def string() -> Serde[str]:
        """Text as UTF-8."""
        return StringSerde()

    @staticmethod
    def long() -> Serde[int]:
        """A whole number as 8 bytes, big-endian."""
        return IntegerSerde("long", 8)

    @staticmethod
    def integer() -> Serde[int]:
        """A whole number as 4 bytes, big-endian."""
        return IntegerSerde("int", 4)

    @staticmethod
    def short() -> Serde[int]:
        """A whole number as 2 bytes, big-endian."""
        return IntegerSerde("short", 2)

    @staticmethod
    def double() -> Serde[_Float]:
        """A float as 8 bytes IEEE 754."""
        return FloatSerde("double", 8)

    @staticmethod
    def float() -> Serde[_Float]:
        """A float as 4 bytes IEEE 754: about 7 decimal digits."""
        return FloatSerde("float", 4)

    @staticmethod
    def boolean() -> Serde[bool]:
        """True or False as one byte."""
        return BooleanSerde()

    @staticmethod
    def bytes() -> Serde[_Bytes]:
        """Bytes as they are."""
        return BytesSerde()

    @staticmethod
    def byte_array() -> Serde[_Bytes]:
        """Bytes as they are: Java's two types for them are one in Python."""
        return BytesSerde()

    @staticmethod
    def byte_buffer() -> Serde[memoryview]:
        """A memoryview."""
        return ByteBufferSerde()

    @staticmethod
    def uuid() -> Serde[uuid_module.UUID]:
        """A UUID as text."""
        return UuidSerde()

    @staticmethod
    def void() -> Serde[None]:
        """Null only."""
        return VoidSerde()

    @staticmethod
    def list(inner: Serde[Any] | str) -> Serde[_List[Any]]:
        r"""A list of values of one serde, as Kafka's ListSerde writes it.

        >>> Serdes.list("short").serialize("t", [1, None])
        b'\x00\x00\x00\x00\x01\x00\x00\x00\x01\x00\x00\x00\x02\x00\x01'
        """
        return ListSerde(resolve_serde(inner))

    @staticmethod
    def json(type: Any = None, *, sort_keys: bool = True) -> Serde[Any]:  # noqa: A002 - the name users expect
        """Any JSON value; with `type`, values of that type, checked when they are read.

        Args:
            type: A dataclass, TypedDict, NamedTuple, msgspec Struct, pydantic model, or a container of those.
            sort_keys: Write object members in the order of their names, so that equal dicts give equal bytes, as
                record keys need. False keeps the order of insertion.

        >>> Serdes.json().serialize("t", {"b": 1, "a": [True, None]})
        b'{"a":[true,null],"b":1}'
        """
        return JsonSerde(type, sort_keys)

    @staticmethod
    def from_functions(
        serialize: Callable[[Any], _Bytes], deserialize: Callable[[_Bytes], Any], *, name: str = "custom"
    ) -> Serde[Any]:
        """A serde of two functions of one argument; they never see null.

        >>> serde = Serdes.from_functions(str.encode, bytes.decode, name="text")
        >>> serde.deserialize("t", b"abc")
        'abc'
        """
        for what, given in (("serialize", serialize), ("deserialize", deserialize)):
            if not callable(given):
                raise SerdeError(f"{what} is {given!r}, not a function", hint="Give a function of one argument.")
        return FunctionSerde(serialize, deserialize, name)
