"""Compares what a component gave with what a case expects. Each function returns what is wrong, or None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from penstock.connect.data import ConnectRecord, Schema, Struct
from penstock.errors import PenstockError
from tests.cases.connect_case import decoded, schema_of

Verdict = str | None


def same(actual: Any, expected: Any) -> bool:
    """Equality that keeps numbers, booleans and floats apart."""
    if isinstance(expected, dict) and isinstance(actual, dict):
        return actual.keys() == expected.keys() and all(same(actual[key], one) for key, one in expected.items())
    if isinstance(expected, list) and isinstance(actual, (list, tuple)):
        return len(actual) == len(expected) and all(map(same, actual, expected))
    if isinstance(expected, Struct) and isinstance(actual, Struct):
        names = [field.name for field in expected.schema.fields]
        return [field.name for field in actual.schema.fields] == names and all(
            same(actual.get(name), expected.get(name)) for name in names
        )
    return type(actual) is type(expected) and bool(actual == expected)


def differs(what: str, actual: Any, expected: Any) -> Verdict:
    """None if both are the same."""
    return None if same(actual, expected) else f"{what}: expected {expected!r}, got {actual!r}"


def judge_error(expected: dict[str, Any], error: Exception) -> Verdict:
    """Whether an error is the expected one: its Java class, or one above it, and its text."""
    names = [getattr(cls, "java_name", cls.__name__).rpartition(".")[2] for cls in type(error).__mro__]
    if expected["error"] not in names:
        return f"expected {expected['error']}, got {type(error).__name__}: {error}"
    message = error.message if isinstance(error, PenstockError) else str(error)
    if "message" in expected and message != expected["message"]:
        return f"expected the message {expected['message']!r}, got {message!r}"
    parts = expected.get("message_contains", [])
    for part in [parts] if isinstance(parts, str) else parts:
        if part not in message:
            return f"expected {part!r} in the message, got {message!r}"
    return None


class RecordJudge:
    """Compares the record a transform gave.

    Args:
        before: The record that went in.
        after: The record that came out.
        is_key: Whether the transform works on keys.
    """

    def __init__(self, before: ConnectRecord, after: ConnectRecord, *, is_key: bool) -> None:
        self._before = before
        self._after = after
        self._schema = after.key_schema if is_key else after.value_schema
        self._value = after.key if is_key else after.value
        self._checks: dict[str, Callable[[Any], Verdict]] = {
            "unchanged": lambda _: differs("record", self._after, self._before),
            "topic": lambda topic: differs("topic", self._after.topic, topic),
            "headers": self._headers,
            "key_schema": lambda one: differs("key schema", self._after.key_schema, schema_of(one)),
            "value_schema": lambda one: differs("value schema", self._after.value_schema, schema_of(one)),
            "key_type": lambda one: differs("key type", _type_name(self._after.key_schema), one),
            "value_type": lambda one: differs("value type", _type_name(self._after.value_schema), one),
            "key_without_default": lambda one: _stored("key", self._after.key, one),
            "value_without_default": lambda one: _stored("value", self._after.value, one),
            "key_absent": self._absent,
            "field_type": lambda one: self._fields(one, "type", lambda schema: schema.type.value),
            "field_optional": lambda one: self._fields(one, "optional", lambda schema: schema.optional),
            "field_schema": self._field_schemas,
            "field_default": self._field_defaults,
            "schema_default": self._default,
        }

    def verdict(self, expected: dict[str, Any]) -> Verdict:
        """What is wrong first."""
        partial = expected.get("partial", False)
        for key, wanted in expected.items():
            if key == "partial":
                continue
            if key == "key":
                found = _compared("key", self._after.key_schema, self._after.key, wanted, partial=partial)
            elif key == "value":
                found = _compared("value", self._after.value_schema, self._after.value, wanted, partial=partial)
            elif key in self._checks:
                found = self._checks[key](wanted)
            else:
                return f"the expectation {key!r} is not known"
            if found is not None:
                return found
        return None

    def _headers(self, expected: list[Any]) -> Verdict:
        headers = self._after.headers
        wanted = [(name, decoded(None, literal)) for name, literal in expected]
        found = differs("headers", [(header.key, header.value) for header in headers], wanted)
        if found is not None:
            return found
        for header, (_, literal) in zip(headers, expected, strict=True):
            if isinstance(literal, dict) and "$type" in literal and header.schema is not None:
                return differs("header type", header.schema.type.value, literal["$type"])
        return None

    def _absent(self, names: list[str]) -> Verdict:
        found = [name for name in names if name in self._value]
        return f"{found} should be missing" if found else None

    def _fields(self, expected: dict[str, Any], what: str, look: Callable[[Schema], Any]) -> Verdict:
        for name, wanted in expected.items():
            found = differs(f"{what} of field {name}", look(_field_schema(self._schema, name)), wanted)
            if found is not None:
                return found
        return None

    def _field_schemas(self, expected: dict[str, Any]) -> Verdict:
        return self._fields({name: schema_of(one) for name, one in expected.items()}, "schema", lambda schema: schema)

    def _field_defaults(self, expected: dict[str, Any]) -> Verdict:
        literals = {name: decoded(_field_schema(self._schema, name), one) for name, one in expected.items()}
        return self._fields(literals, "default", lambda schema: schema.default)

    def _default(self, expected: Any) -> Verdict:
        assert self._schema is not None
        return differs("default", self._schema.default, decoded(self._schema, expected))


def _type_name(schema: Schema | None) -> str | None:
    return None if schema is None else schema.type.value


def _field_schema(schema: Schema | None, name: str) -> Schema:
    field = schema.field(name) if schema is not None else None
    if field is None:
        raise ValueError(f"there is no field {name}")
    return field.schema


def _compared(what: str, schema: Schema | None, actual: Any, literal: Any, *, partial: bool) -> Verdict:
    if not partial:
        return differs(what, actual, decoded(schema, literal))
    for name, one in literal.items():
        found = differs(f"{what}[{name}]", actual[name], decoded(_part(schema, name), one))
        if found is not None:
            return found
    return None


def _part(schema: Schema | None, name: str) -> Schema | None:
    return None if schema is None else _field_schema(schema, name)


def _stored(what: str, actual: Any, literal: Any) -> Verdict:
    """Compares the values of a struct as they are stored, without defaults."""
    if not isinstance(actual, Struct) or not isinstance(literal, dict):
        return differs(what, actual, decoded(None, literal))
    for name, one in literal.items():
        wanted = decoded(_field_schema(actual.schema, name), one)
        found = differs(f"{what}[{name}]", actual.get_without_default(name), wanted)
        if found is not None:
            return found
    return None
