"""What can be named in configurations: connectors, transforms, predicates, converters."""

from __future__ import annotations

from importlib.metadata import version
from typing import Any

from penstock.connect.config import ConfigDef, key_infos
from penstock.connect.converters.registry import CONVERTERS, HEADER_CONVERTERS
from penstock.connect.errors import ConfigError, NotFoundError
from penstock.connect.plugins import Plugins
from penstock.connect.transforms.registry import PREDICATES, TRANSFORMS
from penstock.connect.validation import ConnectorKind
from penstock.connect.validation.connector_keys import connector_keys
from penstock.connect.worker.connector_types import ConnectorTypes

_OTHERS: tuple[tuple[str, Plugins[Any]], ...] = (
    ("transformation", TRANSFORMS),
    ("predicate", PREDICATES),
    ("converter", CONVERTERS),
    ("header_converter", HEADER_CONVERTERS),
)


def plugin_list(types: ConnectorTypes, *, connectors_only: bool = True) -> list[dict[str, str]]:
    """`GET /connector-plugins`: sinks, sources, then the others."""
    found = []
    for kind in (ConnectorKind.SINK, ConnectorKind.SOURCE):
        listed = sorted((one for one in types if one.kind is kind), key=lambda one: one.java_name)
        found += [{"class": one.java_name, "type": kind.value, "version": one.version} for one in listed]
    if not connectors_only:
        ours = version("penstock")
        for name, plugins in _OTHERS:
            found += [{"class": plugin.java_name, "type": name, "version": ours} for plugin in plugins]
    return found


def plugin_config(types: ConnectorTypes, name: str) -> list[dict[str, Any]]:
    """`GET /connector-plugins/{plugin}/config`: the settings of a connector, transform, predicate or converter.

    Raises:
        NotFoundError: There is nothing of that name.
    """
    try:
        found = types.find(name)
    except ConfigError:
        return key_infos(_other_config(name))
    common = [key for key in connector_keys(found.kind) if key.name not in found.config]
    return key_infos(ConfigDef(*found.config, *common))


def _other_config(name: str) -> ConfigDef:
    for _, plugins in _OTHERS:
        try:
            found: Any = plugins.find(name)
        except ConfigError:
            continue
        config: ConfigDef = found.CONFIG
        return config
    raise NotFoundError(f"Unknown plugin {name}.")
