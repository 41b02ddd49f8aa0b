"""Typed JSON: msgspec reads and writes dataclasses, TypedDicts, NamedTuples and Structs; pydantic its own models.

Neither is imported before a serde with a type asks for it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, get_args

import orjson
from typing_extensions import is_typeddict

from penstock.errors import SerdeError
from penstock.serde.json_values import OPTIONS, OPTIONS_SORTED, to_json_value


@dataclass(frozen=True, slots=True)
class TypeCodec:
    """How values of one type are written and read.

    Attributes:
        encode: Value to bytes; raises TypeError, ValueError or OverflowError.
        decode: Bytes to value; raises ValueError.
        expected: What values must be instances of, or None if that cannot be checked.
    """

    encode: Callable[[Any], bytes]
    decode: Callable[[bytes], Any]
    expected: type | None


def type_codec(kind: Any, *, sort_keys: bool) -> TypeCodec:
    """The codec of a type.

    Raises:
        SerdeError: If the library it needs is not installed, or the type has no JSON form.
    """
    expected = kind if isinstance(kind, type) and not is_typeddict(kind) and not get_args(kind) else None
    if _holds_pydantic(kind):
        return _pydantic_codec(kind, expected, sort_keys=sort_keys)
    return _msgspec_codec(kind, expected, sort_keys=sort_keys)


def _holds_pydantic(kind: Any) -> bool:
    return hasattr(kind, "__pydantic_validator__") or any(_holds_pydantic(inner) for inner in get_args(kind))


def _pydantic_codec(kind: Any, expected: type | None, *, sort_keys: bool) -> TypeCodec:
    from pydantic import TypeAdapter

    adapter = TypeAdapter(kind)
    to_python = adapter.dump_python
    options = OPTIONS_SORTED if sort_keys else OPTIONS

    def encode(value: Any) -> bytes:
        return orjson.dumps(to_python(value, mode="json", by_alias=True), to_json_value, options)

    return TypeCodec(encode, adapter.validate_json, expected)


def _msgspec_codec(kind: Any, expected: type | None, *, sort_keys: bool) -> TypeCodec:
    try:
        import msgspec
    except ImportError:
        raise SerdeError(
            f"Serdes.json(type={_name(kind)}) needs msgspec, which is not installed",
            hint='Install it with: pip install "penstock[msgspec]".',
        ) from None
    try:
        decode = msgspec.json.Decoder(kind).decode
    except TypeError as error:
        raise SerdeError(
            f"Serdes.json(type={_name(kind)}): {error}",
            hint="Use a dataclass, TypedDict, NamedTuple, msgspec Struct or pydantic model of JSON types.",
        ) from None
    return TypeCodec(msgspec.json.Encoder(order="sorted" if sort_keys else None).encode, decode, expected)


def _name(kind: Any) -> str:
    return getattr(kind, "__name__", None) or repr(kind)
