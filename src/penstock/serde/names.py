"""Short names of serdes: `key_serde="string"`."""

from __future__ import annotations

from collections.abc import Callable
from difflib import get_close_matches
from typing import Any, overload

from penstock.errors import SerdeError
from penstock.serde.json_serde import JsonSerde
from penstock.serde.numbers import FloatSerde, IntegerSerde
from penstock.serde.primitives import BooleanSerde, ByteBufferSerde, BytesSerde, StringSerde, UuidSerde, VoidSerde
from penstock.serde.serde import Serde

SerdeFactory = Callable[[], Serde[Any]]


def _not_available(name: str) -> SerdeFactory:
    def refuse() -> Serde[Any]:
        raise SerdeError(
            f"the {name} serde is not available in this version",
            hint=f'Use "json" or Serdes.from_functions(...), or add one with register_serde("{name}", factory).',
        )

    return refuse


_FACTORIES: dict[str, SerdeFactory] = {
    "string": StringSerde,
    "bytes": BytesSerde,
    "long": lambda: IntegerSerde("long", 8),
    "int": lambda: IntegerSerde("int", 4),
    "short": lambda: IntegerSerde("short", 2),
    "double": lambda: FloatSerde("double", 8),
    "float": lambda: FloatSerde("float", 4),
    "bool": BooleanSerde,
    "uuid": UuidSerde,
    "json": JsonSerde,
    "avro": _not_available("avro"),
    "protobuf": _not_available("protobuf"),
    "void": VoidSerde,
    "byte_buffer": ByteBufferSerde,
}

_ALIASES = {"integer": "int", "boolean": "bool", "byte_array": "bytes", "str": "string"}

# Settings files written for the Java library name its classes.
_JAVA_PREFIX = "org.apache.kafka.common.serialization.Serdes$"
_JAVA_CLASSES = {
    "StringSerde": "string",
    "BytesSerde": "bytes",
    "ByteArraySerde": "bytes",
    "ByteBufferSerde": "byte_buffer",
    "LongSerde": "long",
    "IntegerSerde": "int",
    "ShortSerde": "short",
    "DoubleSerde": "double",
    "FloatSerde": "float",
    "BooleanSerde": "bool",
    "UUIDSerde": "uuid",
    "VoidSerde": "void",
}


def register_serde(name: str, factory: SerdeFactory) -> None:
    """Make a serde known under a short name in this process; an existing name is replaced.

    Args:
        name: What users will write, for example `key_serde="avro"`.
        factory: Called without arguments each time the name is resolved.
    """
    if not name or not callable(factory):
        raise SerdeError(
            f"register_serde needs a name and a factory, not {name!r} and {factory!r}",
            hint='For example register_serde("avro", make_avro_serde).',
        )
    _FACTORIES[name] = factory


@overload
def resolve_serde(spec: None) -> None: ...
@overload
def resolve_serde(spec: Serde[Any] | str) -> Serde[Any]: ...
def resolve_serde(spec: Any) -> Serde[Any] | None:
    r"""The serde that a user named or gave; None stays None ("not given").

    >>> resolve_serde("long").serialize("t", 1)
    b'\x00\x00\x00\x00\x00\x00\x00\x01'
    """
    if spec is None or isinstance(spec, Serde):
        return spec
    if isinstance(spec, str):
        return _by_name(spec)
    if isinstance(spec, type) and issubclass(spec, Serde):
        raise SerdeError(f"{spec.__name__} is a class, not a serde", hint=f"Call it: {spec.__name__}().")
    raise SerdeError(
        f"{spec!r} is no serde",
        hint='Give a Serde, a name such as "string" or "json", or wrap functions with Serdes.from_functions.',
    )


def _by_name(name: str) -> Serde[Any]:
    if name.startswith(_JAVA_PREFIX):
        name = _JAVA_CLASSES.get(name[len(_JAVA_PREFIX) :], name)
    factory = _FACTORIES.get(_ALIASES.get(name, name))
    if factory is not None:
        return factory()
    known = sorted(_FACTORIES)
    near = get_close_matches(name.lower(), [*known, *_ALIASES], n=1)
    did_you_mean = f'Did you mean "{near[0]}"? ' if near else ""
    raise SerdeError(f'no serde is called "{name}"', hint=f"{did_you_mean}Known names: {', '.join(known)}.")
