from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import pytest

from penstock.connect.config import (
    HIDDEN,
    ConfigDef,
    ConfigKey,
    ConfigType,
    Importance,
    Password,
    Width,
    config_infos,
    config_table,
    key_infos,
)
from penstock.connect.config.validators import (
    AllOf,
    Check,
    NoControlCharacters,
    NonEmpty,
    NonEmptyList,
    OneOf,
    Range,
    Regex,
)
from penstock.connect.errors import ConfigError


class _Tables:
    def valid_values(self, key: str, parsed: Mapping[str, Any]) -> Sequence[Any]:
        return ["a", "b"] if parsed.get("mode") == "list" else []

    def visible(self, key: str, parsed: Mapping[str, Any]) -> bool:
        return parsed.get("mode") == "list"


SETTINGS = ConfigDef(
    ConfigKey(
        name="mode",
        validator=OneOf("list", "all"),
        importance=Importance.HIGH,
        doc="Which tables | all or some.",
        group="Tables",
        dependents=("tables",),
    ),
    ConfigKey(name="tables", type=ConfigType.LIST, default="", group="Tables", recommender=_Tables(), width=Width.LONG),
    ConfigKey(name="batch", type=ConfigType.INT, default=100, validator=Range(at_least=1, at_most=5000), group="Other"),
    ConfigKey(name="password", type=ConfigType.PASSWORD, default=None, group="Other", display_name="Secret"),
    ConfigKey(name="ratio", type=ConfigType.DOUBLE, default="0.5"),
    ConfigKey(name="on", type=ConfigType.BOOLEAN, default=False, internal=True),
)


def test_values_have_their_types() -> None:
    parsed = SETTINGS.parse({
        "mode": " list ", "tables": "a , b,c", "batch": "7", "password": "s3cret", "ratio": "1e-1", "on": "TRUE", "x": "y",
    })  # fmt: skip
    assert parsed == {
        "mode": "list", "tables": ["a", "b", "c"], "batch": 7, "password": Password("s3cret"), "ratio": 0.1, "on": True,
    }  # fmt: skip
    assert SETTINGS.parse({"mode": "all"}) == {
        "mode": "all", "tables": [], "batch": 100, "password": None, "ratio": 0.5, "on": False,
    }  # fmt: skip
    assert SETTINGS.parse({"mode": "all", "batch": 9, "tables": ["x"], "ratio": 2})["batch"] == 9


@pytest.mark.parametrize(
    ("key", "value", "message"),
    [
        ("batch", "x", "Invalid value x for configuration batch: Not a number of type INT"),
        ("batch", "99999999999", "Invalid value 99999999999 for configuration batch: Not a number of type INT"),
        ("batch", True, "Invalid value true for configuration batch: Not a number of type INT"),
        ("batch", "0", "Invalid value 0 for configuration batch: Value must be at least 1"),
        ("batch", "5001", "Invalid value 5001 for configuration batch: Value must be no more than 5000"),
        ("ratio", "x", "Invalid value x for configuration ratio: Not a number of type DOUBLE"),
        ("on", "yes", "Invalid value yes for configuration on: Expected value to be either true or false"),
        ("on", 1, "Invalid value 1 for configuration on: Expected value to be either true or false"),
        ("mode", "some", "Invalid value some for configuration mode: String must be one of: list, all"),
        ("mode", None, 'Missing required configuration "mode" which has no default value.'),
        ("mode", 5, "Invalid value 5 for configuration mode: Expected value to be a string, but it was a int"),
        ("tables", 5, "Invalid value 5 for configuration tables: Expected a comma separated list."),
        ("password", 5, "Invalid value [hidden] for configuration password: Expected value to be a string"),
    ],
)
def test_wrong_values_have_kafkas_messages(key: str, value: Any, message: str) -> None:
    with pytest.raises(ConfigError) as caught:
        SETTINGS.parse({"mode": "all", key: value})
    assert (caught.value.message, caught.value.key) == (message, key)


def test_a_missing_setting_is_named() -> None:
    with pytest.raises(ConfigError, match='Missing required configuration "mode" which has no default value'):
        SETTINGS.parse({})


def test_validation_tells_everything_at_once() -> None:
    values = {value.name: value for value in SETTINGS.validate({"mode": "list", "batch": "0", "ratio": "x"})}
    assert values["batch"].errors == ["Invalid value 0 for configuration batch: Value must be at least 1"]
    assert values["ratio"].errors == ["Invalid value x for configuration ratio: Not a number of type DOUBLE"]
    assert (values["tables"].recommended_values, values["tables"].visible) == (["a", "b"], True)
    assert SETTINGS.validate({"mode": "all"})[1].visible is False
    assert SETTINGS.validate({})[0].errors == ['Missing required configuration "mode" which has no default value.']


def test_results_have_the_shape_of_the_rest_api() -> None:
    infos = config_infos(
        "Class", SETTINGS, SETTINGS.validate({"mode": "list", "tables": "a,b", "password": "s3cret", "batch": "0"})
    )
    assert (infos["name"], infos["error_count"], infos["groups"]) == ("Class", 1, ["Tables", "Other"])
    by_name = {config["value"]["name"]: config for config in infos["configs"]}
    assert by_name["tables"] == {
        "definition": {
            "name": "tables", "type": "LIST", "required": False, "default_value": "", "importance": "MEDIUM",
            "documentation": "", "group": "Tables", "order_in_group": 2, "width": "LONG", "display_name": "tables",
            "dependents": [],
        },
        "value": {"name": "tables", "value": "a,b", "recommended_values": ["a", "b"], "errors": [], "visible": True},
    }  # fmt: skip
    assert by_name["password"]["value"]["value"] == HIDDEN
    assert by_name["on"]["value"]["value"] == "false"
    assert by_name["batch"]["value"]["value"] is None
    mode = key_infos(SETTINGS)[0]
    assert (mode["required"], mode["default_value"], mode["dependents"]) == (True, None, ["tables"])
    assert "s3cret" not in repr(infos)


def test_the_docs_are_made_from_declarations() -> None:
    assert config_table(SETTINGS) == '### Tables\n\n| setting | type | default | valid values | importance | meaning |\n|---|---|---|---|---|---|\n| `mode` | string | **required** | [list, all] | high | Which tables \\| all or some. |\n| `tables` | list | "" | | medium | |\n\n### Other\n\n| setting | type | default | valid values | importance | meaning |\n|---|---|---|---|---|---|\n| `batch` | int | 100 | [1,5000] | medium | |\n| `password` | password | null | | medium | |\n\n| setting | type | default | valid values | importance | meaning |\n|---|---|---|---|---|---|\n| `ratio` | double | 0.5 | | medium | |'  # fmt: skip


def test_unknown_settings_name_the_nearest() -> None:
    unknown = SETTINGS.unknown(["tabels", "mode", "producer.override.acks", "zzz"], prefixes=("producer.override.",))
    assert [str(one) for one in unknown] == [
        "The setting tabels is not known and has no effect; did you mean tables?",
        "The setting zzz is not known and has no effect",
    ]


def test_declarations_go_together() -> None:
    with pytest.raises(ConfigError, match="Configuration a is defined twice"):
        ConfigDef(ConfigKey(name="a"), ConfigKey(name="a"))
    with pytest.raises(ConfigError, match="referred in the dependents, but not defined: b"):
        ConfigDef(ConfigKey(name="a", dependents=("b",)))
    with pytest.raises(ConfigError, match="a has no default"):
        _ = ConfigKey(name="a").default_value
    longer = SETTINGS.prefixed("p.", "Group").extended(ConfigKey(name="p.mode", default="all"))
    assert (longer["p.mode"].default, longer["p.tables"].group, len(longer)) == ("all", "Group", 6)
    assert "mode" not in longer
    assert longer.get("mode") is None


@pytest.mark.parametrize(
    ("validator", "good", "bad", "text"),
    [
        (Range(at_least=1), [1, 5], [0, None], "[1,...]"),
        (OneOf("A", "b", ignore_case=True), ["a", "B"], ["c", None], "[A, b]"),
        (NonEmpty(), ["a", None], [""], "non-empty string"),
        (NonEmptyList(), [["a", "a"]], [[], None], "non-empty list"),
        (NonEmptyList(unique=True), [["a"]], [["a", "a"]], "non-empty list without duplicates"),
        (Regex(), ["a.*", r"\Q[\E", None], ["["], "valid regex"),
        (NoControlCharacters(), ["a b", None], ["", "a\nb", "\x7f"], "non-empty string without ISO control characters"),
        (AllOf(NonEmpty(), Regex()), ["a"], ["", "["], "non-empty string, valid regex"),
        (Check(Range(at_least=1), "a count"), [1], [0], "a count"),
    ],
)
def test_validators(validator: Any, good: list[Any], bad: list[Any], text: str) -> None:
    for value in good:
        validator("key", value)
    for value in bad:
        with pytest.raises(ConfigError, match="for configuration key"):
            validator("key", value)
    assert str(validator) == text


def test_control_characters_are_listed() -> None:
    with pytest.raises(ConfigError, match="had the following ASCII chars: 10, 0"):
        NoControlCharacters()("name", "a\nb\x00")


def test_passwords_are_never_shown() -> None:
    secret = Password("s3cret")
    assert f"{secret} {secret!r} {secret:>10}" == "[hidden] [hidden]   [hidden]"
    assert secret.value == "s3cret"
    assert secret == Password("s3cret")
    assert secret != "s3cret"
    assert hash(secret) == hash(Password("s3cret"))
    with pytest.raises(ConfigError) as caught:
        OneOf("a")("key", secret)
    assert "s3cret" not in str(caught.value)


def test_an_unknown_name_cannot_forge_lines_of_the_log() -> None:
    from penstock.connect.config import UnknownKey

    assert str(UnknownKey("a\nb", None)) == r"The setting 'a\nb' is not known and has no effect"
