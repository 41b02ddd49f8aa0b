"""Converters by name.

Converters that need a schema registry (Avro, Protobuf, JSON Schema) are plugins like any other: an installed package
declares them as entry points, or `CONVERTERS.register` adds them under the names configurations use.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.connect.converters.converter import Converter, HeaderConverter
from penstock.connect.plugins import Plugin, Plugins, subset

_HERE = "penstock.connect.converters"

_BUILTIN = (
    Plugin("org.apache.kafka.connect.json.JsonConverter", f"{_HERE}.json_converter:JsonConverter"),
    Plugin("org.apache.kafka.connect.storage.StringConverter", f"{_HERE}.string_converter:StringConverter"),
    Plugin(
        "org.apache.kafka.connect.converters.ByteArrayConverter", f"{_HERE}.byte_array_converter:ByteArrayConverter"
    ),
    Plugin("org.apache.kafka.connect.converters.LongConverter", f"{_HERE}.number_converters:LongConverter"),
    Plugin("org.apache.kafka.connect.converters.IntegerConverter", f"{_HERE}.number_converters:IntegerConverter"),
    Plugin("org.apache.kafka.connect.converters.ShortConverter", f"{_HERE}.number_converters:ShortConverter"),
    Plugin("org.apache.kafka.connect.converters.DoubleConverter", f"{_HERE}.number_converters:DoubleConverter"),
    Plugin("org.apache.kafka.connect.converters.FloatConverter", f"{_HERE}.number_converters:FloatConverter"),
    Plugin("org.apache.kafka.connect.converters.BooleanConverter", f"{_HERE}.boolean_converter:BooleanConverter"),
)
_SIMPLE_HEADERS = Plugin(
    "org.apache.kafka.connect.storage.SimpleHeaderConverter", f"{_HERE}.simple_header_converter:SimpleHeaderConverter"
)

CONVERTERS: Plugins[Converter] = Plugins(
    "converter",
    Converter,  # type: ignore[type-abstract]  # only compared with
    _BUILTIN,
    suffix="Converter",
    entry_point_group="penstock.connect.converters",
)
HEADER_CONVERTERS: Plugins[HeaderConverter] = Plugins(
    "header converter",
    HeaderConverter,  # type: ignore[type-abstract]  # only compared with
    (_SIMPLE_HEADERS, *_BUILTIN),
    suffix="Converter",
    entry_point_group="penstock.connect.converters",
)


def configured_converter(settings: Mapping[str, Any], key: str) -> Converter:
    """The converter that `key.converter` or `value.converter` names, with the settings below it.

    >>> configured_converter({"key.converter": "StringConverter"}, "key.converter").is_key
    True

    Raises:
        ConfigError: There is no such class, or its settings cannot be used.
    """
    found = CONVERTERS.find(settings[key].strip())
    return found(subset(settings, f"{key}."), is_key=key.startswith("key."))


def configured_header_converter(settings: Mapping[str, Any], key: str = "header.converter") -> HeaderConverter:
    """The converter that `header.converter` names, with the settings below it; SimpleHeaderConverter if none is named."""
    name = settings.get(key, _SIMPLE_HEADERS.java_name)
    return HEADER_CONVERTERS.find(name.strip())(subset(settings, f"{key}."))
