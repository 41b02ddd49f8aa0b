"""The settings of the transforms, predicates and topic groups a configuration names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.connect.config import NO_DEFAULT, ConfigDef, ConfigKey, ConfigType, Importance
from penstock.connect.config.config_key import parse_type
from penstock.connect.config.validators import Range
from penstock.connect.errors import ConfigError
from penstock.connect.plugins import Plugins
from penstock.connect.transforms.registry import PREDICATES, TRANSFORMS
from penstock.connect.validation.connector_keys import TOPIC_CREATION, class_of


def enriched(definition: ConfigDef, settings: Mapping[str, Any]) -> ConfigDef:
    """The definition with what the configuration's own names add to it."""
    keys: list[ConfigKey] = []
    for alias in _names(settings, "transforms"):
        prefix, group = f"transforms.{alias}.", f"Transforms: {alias}"
        keys += _plugin_keys(settings, prefix, group, TRANSFORMS)
        keys.append(ConfigKey(name=f"{prefix}predicate", default="", doc="The predicate that decides.", group=group))
        keys.append(
            ConfigKey(
                name=f"{prefix}negate",
                type=ConfigType.BOOLEAN,
                default=False,
                doc="Whether the predicate is turned round.",
                group=group,
            )
        )
    for alias in _names(settings, "predicates"):
        keys += _plugin_keys(settings, f"predicates.{alias}.", f"Predicates: {alias}", PREDICATES)
    keys += _topic_creation_keys(settings)
    return definition.extended(*keys)


def _names(settings: Mapping[str, Any], key: str) -> list[str]:
    value = settings.get(key)
    return list(dict.fromkeys(parse_type(key, value, ConfigType.LIST))) if isinstance(value, str) else []


def _plugin_keys(settings: Mapping[str, Any], prefix: str, group: str, plugins: Plugins[Any]) -> list[ConfigKey]:
    type_key = ConfigKey(
        name=f"{prefix}type",
        type=ConfigType.CLASS,
        validator=class_of(plugins),
        importance=Importance.HIGH,
        doc=f"Class of the {plugins.kind}.",
        group=group,
    )
    given = settings.get(f"{prefix}type")
    try:
        found = plugins.find(given.strip()) if isinstance(given, str) else None
    except ConfigError:
        found = None  # the type's own check reports it
    return [type_key, *(found.CONFIG.prefixed(prefix, group) if found is not None else ())]


def _topic_creation_keys(settings: Mapping[str, Any]) -> list[ConfigKey]:
    """Settings below topic.creation.<group>; once there are any, those of the group `default` are needed."""
    used = any(name.startswith("topic.creation.") for name in settings)
    given = settings.get("topic.creation.groups")
    listed = parse_type("topic.creation.groups", given, ConfigType.LIST) if isinstance(given, str) else []
    if not used or len(set(listed)) != len(listed):
        return []  # a name that comes twice is reported with the list
    keys = _group_sizes("default", default=NO_DEFAULT)
    for group in listed:
        keys += [
            _topic_creation_key(f"{group}.include", ConfigType.LIST, NO_DEFAULT, "Topics of the group."),
            _topic_creation_key(f"{group}.exclude", ConfigType.LIST, "", "Topics that do not belong to the group."),
            *_group_sizes(group, default=None),
        ]
    return keys


def _group_sizes(group: str, *, default: Any) -> list[ConfigKey]:
    text = "of topics created for this group; -1 is the broker's default."
    return [
        _topic_creation_key(f"{group}.replication.factor", ConfigType.SHORT, default, f"Replication factor {text}"),
        _topic_creation_key(f"{group}.partitions", ConfigType.INT, default, f"Number of partitions {text}"),
    ]


def _topic_creation_key(name: str, kind: ConfigType, default: Any, doc: str) -> ConfigKey:
    return ConfigKey(
        name=f"topic.creation.{name}",
        type=kind,
        default=default,
        validator=_count_or_default if kind is not ConfigType.LIST else None,
        importance=Importance.LOW,
        doc=doc,
        group=TOPIC_CREATION,
    )


def _count_or_default(key: str, value: Any) -> None:
    if value is not None and value != -1:
        Range(at_least=1)(key, value)
