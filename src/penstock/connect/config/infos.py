"""Validation results and declarations in the shape of the REST API."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from penstock.connect.config.config_def import ConfigDef, ConfigValue
from penstock.connect.config.config_key import ConfigKey, value_as_text


def key_info(key: ConfigKey, order: int) -> dict[str, Any]:
    """A declaration: what `GET /connector-plugins/{plugin}/config` lists."""
    return {
        "name": key.name,
        "type": key.type.name,
        "required": key.required,
        "default_value": None if key.required else value_as_text(key.default_value, key.type),
        "importance": key.importance.name,
        "documentation": key.doc,
        "group": key.group,
        "order_in_group": key.order or order,
        "width": key.width.name,
        "display_name": key.display_name or key.name,
        "dependents": list(key.dependents),
    }


def key_infos(definition: ConfigDef) -> list[dict[str, Any]]:
    """All declarations, each with its place in its group."""
    counts: dict[str | None, int] = {}
    infos = []
    for key in definition:
        counts[key.group] = counts.get(key.group, 0) + 1
        infos.append(key_info(key, counts[key.group]))
    return infos


def value_info(value: ConfigValue, key: ConfigKey | None) -> dict[str, Any]:
    """What became of one setting."""
    kind = key.type if key is not None else None
    return {
        "name": value.name,
        "value": value_as_text(value.value, kind),
        "recommended_values": [value_as_text(one, kind) for one in value.recommended_values],
        "errors": list(value.errors),
        "visible": value.visible,
    }


def config_infos(name: str, definition: ConfigDef, values: Iterable[ConfigValue]) -> dict[str, Any]:
    """The answer of `PUT /connector-plugins/{plugin}/config/validate`.

    Args:
        name: The connector class, as it was given.
        definition: Declarations of all settings.
        values: What became of them; those without declaration have the definition null.
    """
    declared = {info["name"]: info for info in key_infos(definition)}
    configs = []
    error_count = 0
    for value in values:
        key = definition.get(value.name)
        configs.append({"definition": declared.get(value.name), "value": value_info(value, key)})
        error_count += len(value.errors)
    return {"name": name, "error_count": error_count, "groups": definition.groups(), "configs": configs}
