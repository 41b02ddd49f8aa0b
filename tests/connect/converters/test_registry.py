from __future__ import annotations

import pytest

from penstock.connect.converters import (
    CONVERTERS,
    HEADER_CONVERTERS,
    configured_converter,
    configured_header_converter,
)
from penstock.connect.converters.json_converter import JsonConverter
from penstock.connect.converters.simple_header_converter import SimpleHeaderConverter
from penstock.connect.converters.string_converter import StringConverter
from penstock.connect.errors import ConfigError
from penstock.connect.plugins import Plugin, Plugins


@pytest.mark.parametrize(
    "name",
    [
        "org.apache.kafka.connect.json.JsonConverter",
        "JsonConverter",
        "Json",
        "penstock.connect.converters.json_converter:JsonConverter",
        "penstock.connect.converters.json_converter.JsonConverter",
    ],
)
def test_a_converter_has_many_names(name: str) -> None:
    assert CONVERTERS.find(name) is JsonConverter


@pytest.mark.parametrize("plugin", [*CONVERTERS, *HEADER_CONVERTERS], ids=lambda plugin: plugin.simple_name)
def test_every_built_in_converter_can_be_made(plugin: Plugin) -> None:
    assert HEADER_CONVERTERS.find(plugin.java_name)({}).settings is not None


def test_an_unknown_class_names_the_nearest() -> None:
    with pytest.raises(ConfigError, match=r"Class JsonConvertor could not be found. Did you mean JsonConverter\?"):
        CONVERTERS.find("JsonConvertor")
    with pytest.raises(ConfigError, match=r"Known are JsonConverter, StringConverter"):
        CONVERTERS.find("Zzz")
    with pytest.raises(ConfigError, match="No module named 'no_such'"):
        CONVERTERS.find("no_such.module.Zzz")


def test_a_class_of_another_kind_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"is not a converter. It must be a Converter"):
        CONVERTERS.find("collections:OrderedDict")
    with pytest.raises(ConfigError, match="is not a converter"):
        CONVERTERS.find("penstock.connect.converters.simple_header_converter:SimpleHeaderConverter")
    with pytest.raises(ConfigError, match="is not a converter"):
        CONVERTERS.find("penstock.connect.converters.converter:Converter")


def test_settings_below_the_class_belong_to_it() -> None:
    settings = {
        "key.converter": " StringConverter ",
        "value.converter": "JsonConverter",
        "value.converter.schemas.enable": "false",
    }
    key, value = configured_converter(settings, "key.converter"), configured_converter(settings, "value.converter")
    assert isinstance(key, StringConverter)
    assert (key.is_key, value.is_key) == (True, False)
    assert value.settings["schemas.enable"] is False
    assert isinstance(configured_header_converter(settings), SimpleHeaderConverter)
    assert isinstance(configured_header_converter({"header.converter": "StringConverter"}), StringConverter)


def test_other_converters_can_be_added() -> None:
    plugins = Plugins("converter", StringConverter, (), suffix="Converter", entry_point_group="none")
    plugins.register("io.example.AvroConverter", "penstock.connect.converters.string_converter:StringConverter")
    assert plugins.find("Avro") is plugins.find("io.example.AvroConverter") is StringConverter
    plugins.register("io.example.BrokenConverter", "no_such_module:X")
    with pytest.raises(ConfigError, match="could not be found"):
        plugins.find("BrokenConverter")
    assert [plugin.simple_name for plugin in plugins] == ["AvroConverter", "BrokenConverter"]
