"""Runs the component a Connect case is about and compares what it gives."""

from __future__ import annotations

import json
import math
from collections.abc import Callable
from typing import Any

from penstock.connect.config.config_transformer import ConfigTransformer
from penstock.connect.config.providers.provider import ConfigData, ConfigProvider
from penstock.connect.converters.json_converter import JsonConverter
from penstock.connect.converters.simple_header_converter import SimpleHeaderConverter
from penstock.connect.data import (
    ConnectHeaders,
    ConnectRecord,
    Header,
    Schema,
    SchemaAndValue,
    SinkRecord,
    infer_schema,
    parse_string,
)
from penstock.connect.transforms.field_path import FieldPath
from penstock.connect.transforms.registry import PREDICATES, TRANSFORMS
from penstock.errors import PenstockError
from tests.cases import connect_rest
from tests.cases.connect_case import ConnectCase, decoded, schema_of
from tests.cases.connect_judge import RecordJudge, Verdict, differs, judge_error

TOPIC = "topic"
_PREDICATE_NAMES = {plugin.simple_name for plugin in PREDICATES}


def failure(case: ConnectCase) -> Verdict:
    """Why a case fails, or None."""
    expects_error = isinstance(case.expected, dict) and "error" in case.expected
    try:
        verdict = _player(case.component)(case)
    except PenstockError as error:
        return judge_error(case.expected, error) if expects_error else f"{type(error).__name__}: {error}"
    except Exception as error:  # noqa: BLE001 - a case that cannot run has failed
        return f"{type(error).__name__}: {error}"
    return f"expected {case.expected['error']}, got no error" if expects_error else verdict


def _player(component: str) -> Callable[[ConnectCase], Verdict]:
    players: dict[str, Callable[[ConnectCase], Verdict]] = {
        "FieldPath": _field_path,
        "JsonConverter.toConnectData": _json_to_connect,
        "JsonConverter.fromConnectData": _json_from_connect,
        "Values.parseString": _parse_string,
        "SimpleHeaderConverter.toConnectHeader": _to_header,
        "SimpleHeaderConverter.fromConnectHeader": _from_header,
        "SimpleHeaderConverter.roundTrip": _header_round_trip,
        "ConfigTransformer": _config_transformer,
        **connect_rest.PLAYERS,
    }
    if component in players:
        return players[component]
    if component.startswith("REST validate"):
        return connect_rest.validate
    return _predicate if component in _PREDICATE_NAMES else _transform


def _transform(case: ConnectCase) -> Verdict:
    found = TRANSFORMS.find(case.component)
    if case.input == "validate":
        return _validated(found, case)
    transform = found(case.config)
    if case.input == "configure":
        return None
    before = _record(case.input)
    after = transform.apply(before)
    if after is None:
        return differs("record", None, case.expected)
    is_key = case.component.endswith("$Key") or case.component == "ValueToKey"
    return RecordJudge(before, after, is_key=is_key).verdict(case.expected)


def _validated(found: Any, case: ConnectCase) -> Verdict:
    errors = [error for value in found.CONFIG.validate(case.config) for error in value.errors]
    return differs("errors", errors, case.expected["errors"])


def _record(fields: dict[str, Any]) -> ConnectRecord:
    key_schema, value_schema = schema_of(fields.get("key_schema")), schema_of(fields.get("value_schema"))
    headers = []
    for name, literal in fields.get("headers", ()):
        value = decoded(None, literal)
        headers.append(Header(name, value, infer_schema(value)))
    return SinkRecord(
        topic=fields.get("topic"),
        partition=fields.get("partition"),
        key_schema=key_schema,
        key=decoded(key_schema, fields.get("key")),
        value_schema=value_schema,
        value=decoded(value_schema, fields.get("value")),
        timestamp=fields.get("timestamp"),
        headers=ConnectHeaders(headers),
    )


def _predicate(case: ConnectCase) -> Verdict:
    found = PREDICATES.find(case.component)
    if case.input == "validate":
        return _validated(found, case)
    predicate = found(case.config)
    if case.input == "configure":
        return None
    headers = ConnectHeaders(Header(name, None) for name in case.input.get("headers", ()))
    fields = {name: one for name, one in case.input.items() if name != "headers"}
    return differs("answer", predicate.test(_record(fields).new_record(headers=headers)), case.expected)


def _field_path(case: ConnectCase) -> Verdict:
    steps = FieldPath.parse(case.input, case.config["field.syntax.version"]).steps
    return differs("steps", list(steps), case.expected)


def _json_to_connect(case: ConnectCase) -> Verdict:
    converter = JsonConverter(case.config)
    schema, value = converter.to_connect_data(TOPIC, None if case.input is None else case.input.encode())
    if "value_without_default" in case.expected:
        record = SinkRecord(TOPIC, value_schema=schema, value=value)
        return RecordJudge(record, record, is_key=False).verdict(case.expected)
    wanted = schema_of(case.expected["schema"]) if "schema" in case.expected else schema
    return differs("schema", schema, wanted) or differs("value", value, decoded(wanted, case.expected["value"]))


def _json_from_connect(case: ConnectCase) -> Verdict:
    schema = schema_of(case.input["schema"])
    converter = JsonConverter(case.config)
    data = converter.from_connect_data(TOPIC, schema, decoded(schema, case.input["value"]))
    if "bytes" in case.expected:
        return differs("bytes", data, case.expected["bytes"])
    if data is None:
        return "got null bytes"
    if "json_text_payload" in case.expected:
        text = data.decode().partition('"payload":')[2].removesuffix("}")
        return differs("payload", text, case.expected["json_text_payload"])
    return _compare_json(json.loads(data), case.expected)


def _compare_json(actual: Any, expected: dict[str, Any]) -> Verdict:
    wanted = expected["json"]
    if expected.get("payload_unordered"):
        payload = actual["payload"]
        if len(payload) != len(wanted["payload"]) or not all(one in payload for one in wanted["payload"]):
            return f"payload: expected {wanted['payload']} in any order, got {payload}"
        return differs("schema", actual["schema"], wanted["schema"])
    if "tolerance" in expected:
        if not math.isclose(actual["payload"], wanted["payload"], abs_tol=expected["tolerance"]):
            return f"payload: expected about {wanted['payload']}, got {actual['payload']}"
        return differs("schema", actual["schema"], wanted["schema"])
    return differs("JSON", actual, wanted)


def _typed(found: SchemaAndValue, expected: dict[str, Any] | None) -> Verdict:
    """Compares a value whose type was found by looking at text."""
    schema, value = found
    if expected is None:
        return differs("value", value, None)
    if schema is None:
        return f"expected {expected}, got a value without schema: {value!r}"
    verdict = differs("type", schema.type.value, expected["type"])
    parts: dict[str, Schema | None] = {
        "items": schema.value_schema, "keys": schema.key_schema, "values": schema.value_schema
    }  # fmt: skip
    for key, part in parts.items():
        if verdict is None and key in expected:
            verdict = differs(key, None if part is None else part.type.value, expected[key])
    if verdict is None and "name" in expected:
        verdict = differs("name", schema.name, expected["name"])
    if verdict is not None or "value" not in expected:
        return verdict
    return differs("value", value, decoded(schema, expected["value"]))


def _parse_string(case: ConnectCase) -> Verdict:
    return _typed(parse_string(case.input), case.expected)


def _to_header(case: ConnectCase) -> Verdict:
    data = None if case.input is None else case.input.encode()
    return _typed(SimpleHeaderConverter().to_connect_header(TOPIC, "header", data), case.expected)


def _header_bytes(case: ConnectCase) -> bytes | None:
    schema = schema_of(case.input["schema"])
    value = decoded(schema, case.input["value"])
    return SimpleHeaderConverter().from_connect_header(TOPIC, "header", schema, value)


def _from_header(case: ConnectCase) -> Verdict:
    data, wanted = _header_bytes(case), case.expected["bytes"]
    return differs("bytes", data, wanted.encode() if isinstance(wanted, str) else decoded(None, wanted))


def _header_round_trip(case: ConnectCase) -> Verdict:
    found = SimpleHeaderConverter().to_connect_header(TOPIC, "header", _header_bytes(case))
    return _typed(found, case.expected)


class _FixedProvider(ConfigProvider):
    def __init__(self, data: dict[str, dict[str, str]], ttls: dict[str, int]) -> None:
        super().__init__()
        self._data = data
        self._ttls = ttls

    def get(self, path: str, keys: Any = None) -> ConfigData:
        found = {key: value for key, value in self._data.get(path, {}).items() if keys is None or key in keys}
        ttl = min((self._ttls[name] for key in found if (name := f"{path}/{key}") in self._ttls), default=None)
        return ConfigData(found, ttl)


def _config_transformer(case: ConnectCase) -> Verdict:
    provider = _FixedProvider(case.config.get("data", {}), case.config.get("ttl_ms", {}))
    transformed = ConfigTransformer({case.config["provider"]: provider}).transform({"key": case.input})
    expected = case.expected
    if isinstance(expected, dict):
        ttl = differs("ttls", transformed.ttls, expected["ttls"]) if "ttls" in expected else None
        return ttl or differs("text", transformed.settings["key"], expected["text"])
    return differs("text", transformed.settings["key"], expected)
