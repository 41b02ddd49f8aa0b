"""Checks of settings that depend on each other. Each adds to the errors of the settings it blames."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from penstock.connect.config import ConfigValue
from penstock.connect.config.java_regex import compile_java
from penstock.connect.converters.registry import CONVERTERS, HEADER_CONVERTERS
from penstock.connect.errors import ConfigError, DataError
from penstock.connect.plugins import Plugins, subset
from penstock.connect.validation.connector_keys import DLQ_TOPIC

Values = dict[str, ConfigValue]


def check_nulls(settings: Mapping[str, Any], values: Values) -> None:
    """Null is no value; only a patch may have it."""
    for name, value in settings.items():
        if value is None:
            result = values.setdefault(name, ConfigValue(name))
            result.errors[:] = ["Null value can not be supplied as the configuration value."]


def check_sink(settings: Mapping[str, Any], values: Values, worker_group: str | None) -> None:
    """Topics, dead letter topic and consumer group of a sink."""
    topics: list[str] = values["topics"].value or []
    regex: str = values["topics.regex"].value or ""
    if bool(topics) == bool(regex):
        reason = (
            "topics and topics.regex are mutually exclusive options, but both are set."
            if topics
            else "Must configure one of topics or topics.regex"
        )
        values["topics"].errors.append(reason)
        values["topics.regex"].errors.append(reason)
    _check_dead_letter_topic(values, topics, regex)
    _check_group(settings, values, worker_group)


def _check_dead_letter_topic(values: Values, topics: list[str], regex: str) -> None:
    dead_letters: str = values[DLQ_TOPIC].value or ""
    if not dead_letters:
        return
    if dead_letters in topics:
        listed = ",".join(topics)
        values["topics"].errors.append(
            f"The DLQ topic '{dead_letters}' may not be included in the list of topics ('topics={listed}') "
            "consumed by the connector"
        )
    try:
        matches = bool(regex) and compile_java(regex).fullmatch(dead_letters) is not None
    except re.error:
        return  # the regex's own check reports it
    if matches:
        values["topics.regex"].errors.append(
            f"The DLQ topic '{dead_letters}' may not be matched by the regex for the topics ('topics.regex={regex}') "
            "consumed by the connector"
        )


def _check_group(settings: Mapping[str, Any], values: Values, worker_group: str | None) -> None:
    override = "consumer.override.group.id"
    if worker_group is None:
        return
    if settings.get(override) == worker_group:
        values.setdefault(override, ConfigValue(override, worker_group)).errors.append(
            f"Consumer group {worker_group} conflicts with the Connect worker's group"
        )
    elif override not in settings and f"connect-{settings.get('name')}" == worker_group:
        values["name"].errors.append(
            f"Consumer group for sink connector named {settings.get('name')} conflicts with Connect worker group {worker_group}"
        )


def check_predicates(settings: Mapping[str, Any], values: Values) -> None:
    """Predicates that transforms ask for."""
    declared: list[str] = values["predicates"].value or []
    for alias in values["transforms"].value or []:
        prefix = f"transforms.{alias}."
        condition = str(settings.get(f"{prefix}predicate") or "").strip()
        if condition and condition not in declared:
            values[f"{prefix}predicate"].errors.append(
                f"Invalid value {condition} for configuration {prefix}predicate: No predicate of that name is declared"
            )
        if f"{prefix}negate" in settings and not condition:
            values[f"{prefix}type"].errors.append(
                f"{prefix}negate is set, but {prefix}predicate is not. Set both or neither."
            )


def check_converters(settings: Mapping[str, Any], values: Values) -> None:
    """Converters set on the connector, with the settings below them."""
    kinds: tuple[tuple[str, Plugins[Any]], ...] = (
        ("header.converter", HEADER_CONVERTERS),
        ("key.converter", CONVERTERS),
        ("value.converter", CONVERTERS),
    )
    for key, plugins in kinds:
        given = settings.get(key)
        if not isinstance(given, str) or values[key].errors:
            continue
        found = plugins.find(given.strip())
        own = subset(settings, f"{key}.")
        results = [
            ConfigValue(f"{key}.{one.name}", one.value, one.recommended_values, one.errors, one.visible)
            for one in found.CONFIG.validate(own)
        ]
        values.update({result.name: result for result in results})
        if not any(result.errors for result in results):
            _build(found, own, key, values)


def _build(found: Any, own: dict[str, Any], key: str, values: Values) -> None:
    try:
        found(own)
    except (ConfigError, DataError) as error:
        values[key].errors.append(f"Failed to create {found.__name__}: {error.message}")
