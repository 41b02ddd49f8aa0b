from __future__ import annotations

from typing import Any

import pytest

from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, ConfigValue
from penstock.connect.config.config_transformer import TransformedConfig
from penstock.connect.validation import ConnectorKind, invalid_config_message, validate_connector

SINK = {"name": "c", "connector.class": "FileStreamSinkConnector", "topics": "a,b"}
SOURCE = {"name": "c", "connector.class": "FileStreamSourceConnector"}


def _errors(infos: dict[str, Any]) -> dict[str, list[str]]:
    return {c["value"]["name"]: c["value"]["errors"] for c in infos["configs"] if c["value"]["errors"]}


def _sink(changes: dict[str, Any], **options: Any) -> dict[str, list[str]]:
    settings = {name: value for name, value in {**SINK, **changes}.items() if value != "-"}
    return _errors(validate_connector(ConnectorKind.SINK, settings, **options))


def test_a_good_configuration_has_no_errors() -> None:
    infos = validate_connector(ConnectorKind.SINK, SINK)
    assert (infos["error_count"], infos["name"]) == (0, "FileStreamSinkConnector")
    assert infos["groups"][:4] == ["Common", "Transforms", "Predicates", "Error Handling"]
    assert invalid_config_message(infos) is None
    assert validate_connector(ConnectorKind.SOURCE, SOURCE)["error_count"] == 0


NO_TOPICS = "Must configure one of topics or topics.regex"
BOTH_TOPICS = "topics and topics.regex are mutually exclusive options, but both are set."
NULL = "Null value can not be supplied as the configuration value."
FILTER = {"transforms": "t", "transforms.t.type": "Filter"}


@pytest.mark.parametrize(
    ("changes", "errors"),
    [
        ({"name": "-"}, {"name": 'Missing required configuration "name" which has no default value.'}),
        ({"name": ""}, {"name": "Invalid value  for configuration name: String may not be empty"}),
        ({"tasks.max": "0"}, {"tasks.max": "Invalid value 0 for configuration tasks.max: Value must be at least 1"}),
        ({"topics": "-"}, {"topics": NO_TOPICS, "topics.regex": NO_TOPICS}),
        ({"topics.regex": "x"}, {"topics": BOTH_TOPICS, "topics.regex": BOTH_TOPICS}),
        (
            {"errors.deadletterqueue.topic.name": "a"},
            {
                "topics": "The DLQ topic 'a' may not be included in the list of topics ('topics=a,b') consumed by the connector"
            },
        ),
        (
            {"topics": "-", "topics.regex": "d.*", "errors.deadletterqueue.topic.name": "dlq"},
            {
                "topics.regex": "The DLQ topic 'dlq' may not be matched by the regex for the topics ('topics.regex=d.*') consumed by the connector"
            },
        ),
        (
            {"transforms": "t,t", "transforms.t.type": "Filter"},
            {"transforms": "Invalid value [t, t] for configuration transforms: Duplicate alias provided."},
        ),
        (
            {"transforms": "t"},
            {"transforms.t.type": 'Missing required configuration "transforms.t.type" which has no default value.'},
        ),
        (
            {**FILTER, "transforms.t.negate": "true"},
            {
                "transforms.t.type": "transforms.t.negate is set, but transforms.t.predicate is not. Set both or neither."
            },
        ),
        (
            {**FILTER, "transforms.t.predicate": "p"},
            {
                "transforms.t.predicate": "Invalid value p for configuration transforms.t.predicate: No predicate of that name is declared"
            },
        ),
        (
            {"transforms": "t", "transforms.t.type": "MaskField$Value", "transforms.t.fields": ""},
            {"transforms.t.fields": "Invalid value [] for configuration transforms.t.fields: Empty list"},
        ),
        (
            {"predicates": "p", "predicates.p.type": "HasHeaderKey", "predicates.p.name": ""},
            {"predicates.p.name": "Invalid value  for configuration predicates.p.name: String must be non-empty"},
        ),
        (
            {"value.converter": "JsonConverter", "value.converter.schemas.enable": "maybe"},
            {
                "value.converter.schemas.enable": "Invalid value maybe for configuration schemas.enable: Expected value to be either true or false"
            },
        ),
        ({"errors.tolerance": None}, {"errors.tolerance": NULL}),
        ({"name": None}, {"name": NULL}),
        ({"custom": None}, {"custom": NULL}),
    ],
)
def test_what_is_wrong_is_said_where_it_is(changes: dict[str, Any], errors: dict[str, str]) -> None:
    assert _sink(changes) == {name: [error] for name, error in errors.items()}


def test_a_wrong_pattern_is_reported_once() -> None:
    errors = _sink({"topics": "-", "topics.regex": "[", "errors.deadletterqueue.topic.name": "dlq"})
    assert errors["topics"] == [NO_TOPICS]
    assert errors["topics.regex"][0].startswith("Invalid value [ for configuration topics.regex: Invalid regex")


def test_a_converter_is_built_to_see_whether_it_can_be() -> None:
    errors = _sink({"value.converter": "JsonConverter", "value.converter.schema.content": "{"})
    assert list(errors) == ["value.converter"]
    assert errors["value.converter"][0].startswith("Failed to create JsonConverter: Failed to parse schema")


def test_classes_that_cannot_be_found() -> None:
    for key in ("key.converter", "value.converter", "header.converter"):
        assert _sink({key: "WheresTheFruit"})[key][0].startswith(
            f"Invalid value WheresTheFruit for configuration {key}: Class WheresTheFruit could not be found."
        )
    for settings in (
        {"transforms": "t", "transforms.t.type": "WheresTheFruit"},
        {"predicates": "p", "predicates.p.type": "WheresTheFruit"},
    ):
        assert [len(errors) for errors in _sink(settings).values()] == [1]


def test_a_sink_has_a_group_of_its_own() -> None:
    assert "conflicts with Connect worker group connect-c" in _sink({}, worker_group="connect-c")["name"][0]
    override = _sink({"consumer.override.group.id": "g"}, worker_group="g")
    assert list(override) == ["consumer.override.group.id"]
    assert _sink({"consumer.override.group.id": "g"}, worker_group="connect-c") == {}
    assert _sink({}, worker_group="other") == {}


def test_topic_groups_of_sources() -> None:
    def errors(**changes: str) -> dict[str, list[str]]:
        settings = {name.replace("_", "."): value for name, value in changes.items()}
        return _errors(validate_connector(ConnectorKind.SOURCE, {**SOURCE, **settings}))

    assert list(errors(topic_creation_groups="g")) == [
        "topic.creation.default.replication.factor",
        "topic.creation.default.partitions",
        "topic.creation.g.include",
    ]
    assert list(errors(topic_creation_groups="g,h,g")) == ["topic.creation.groups"]
    default = {"topic_creation_default_replication_factor": "-1", "topic_creation_default_partitions": "1"}
    assert errors(**default) == {}
    assert list(errors(**{**default, "topic_creation_default_partitions": "0"})) == [
        "topic.creation.default.partitions"
    ]


def test_a_connectors_own_settings_and_checks() -> None:
    own = ConfigDef(ConfigKey(name="file"), ConfigKey(name="secret", type=ConfigType.PASSWORD, default=None))
    infos = validate_connector(
        ConnectorKind.SINK, {**SINK, "secret": "s3cret"}, own, further=[ConfigValue("topics", errors=["too many"])]
    )
    assert set(_errors(infos)) == {"file", "topics"}
    assert "s3cret" not in repr(infos)
    message = invalid_config_message(infos)
    assert message == (
        "Connector configuration is invalid and contains the following 2 error(s):\n"
        "too many\n"
        'Missing required configuration "file" which has no default value.\n'
        "You can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`"
    )


def test_converter_settings_are_part_of_the_answer() -> None:
    infos = validate_connector(ConnectorKind.SINK, {**SINK, "key.converter": "StringConverter"})
    names = [config["value"]["name"] for config in infos["configs"]]
    assert "key.converter.converter.encoding" in names
    assert next(c for c in infos["configs"] if c["value"]["name"] == names[-1])["definition"]["type"] == "STRING"


def test_values_of_config_providers_are_shown_as_references() -> None:
    config = TransformedConfig(
        settings={**SINK, "tasks.max": "s3cret", "topics": "hidden-topic"},
        original={**SINK, "tasks.max": "${vault:a:b}", "topics": "${vault:a:c}"},
        resolved=frozenset({"s3cret", "hidden-topic"}),
    )
    infos = validate_connector(ConnectorKind.SINK, config)
    assert "s3cret" not in repr(infos)
    assert "hidden-topic" not in repr(infos)
    assert _errors(infos) == {
        "tasks.max": ["Invalid value [hidden] for configuration tasks.max: Not a number of type INT"]
    }


def test_the_order_of_settings() -> None:
    config = {
        "name": "c",
        "connector.class": "x",
        "topics": "t",
        "value.converter": "JsonConverter",
        "header.converter": "JsonConverter",
        "key.converter": "JsonConverter",
    }
    overrides = [ConfigValue(f"{one}.override.client.id", "x") for one in ("admin", "producer", "consumer")]
    infos = validate_connector(ConnectorKind.SINK, config, further=[*overrides, ConfigValue("topics", "t")])
    names = [one["value"]["name"] for one in infos["configs"]]
    later = [name for name in names if ".override." in name or name.endswith("converter.schemas.enable")]
    assert later == [
        "producer.override.client.id", "consumer.override.client.id", "admin.override.client.id",
        "header.converter.schemas.enable", "key.converter.schemas.enable", "value.converter.schemas.enable",
    ]  # fmt: skip
    assert names.index("producer.override.client.id") > max(
        map(names.index, ("topics", "errors.tolerance", "tasks.max"))
    )
