"""Validation of a connector configuration: what `PUT /connector-plugins/{plugin}/config/validate` answers."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from penstock.connect.config import ConfigDef, ConfigValue, config_infos
from penstock.connect.config.config_transformer import TransformedConfig
from penstock.connect.config.secrets import Secrets
from penstock.connect.converters.registry import CONVERTERS, HEADER_CONVERTERS
from penstock.connect.errors import ConfigError
from penstock.connect.validation.checks import check_converters, check_nulls, check_predicates, check_sink
from penstock.connect.validation.connector_keys import ConnectorKind, connector_keys
from penstock.connect.validation.enrich import enriched

_ORDER = (
    "producer.override.", "consumer.override.", "admin.override.",
    "header.converter.", "key.converter.", "value.converter.",
)  # fmt: skip


def validate_connector(
    kind: ConnectorKind,
    config: Mapping[str, Any] | TransformedConfig,
    connector: ConfigDef | None = None,
    *,
    worker_group: str | None = None,
    further: Iterable[ConfigValue] = (),
) -> dict[str, Any]:
    """Everything that is wrong with a configuration, in the shape of the REST API.

    Args:
        kind: Source or sink.
        config: The configuration. What came from config providers is shown by its reference, never by its value.
        connector: What the connector's class declares.
        worker_group: The worker's `group.id`, which a sink's consumers must not use.
        further: What the connector's own checks found.
    """
    settings = config.settings if isinstance(config, TransformedConfig) else config
    declared = connector_keys(kind).extended(*(connector or ()))
    definition = enriched(declared, settings)
    given = {name: value for name, value in settings.items() if value is not None}
    values = {value.name: value for value in definition.validate(given)}
    if kind is ConnectorKind.SINK:
        check_sink(given, values, worker_group)
    check_predicates(given, values)
    check_converters(given, values)
    for value in further:
        values.setdefault(value.name, ConfigValue(value.name, value.value)).errors.extend(value.errors)
    check_nulls(settings, values)
    # Readers go by the order: what connector and framework declare, then client settings, then those of converters.
    values = {name: values[name] for name in sorted(values, key=lambda name: _place(name, definition))}
    definition = _with_converters(definition, given)
    resolved = config.resolved if isinstance(config, TransformedConfig) else ()
    secrets = Secrets.of(settings, definition, resolved)
    for value in values.values():
        value.errors[:] = map(secrets.redact, value.errors)
    if isinstance(config, TransformedConfig):
        _show_references(config, values.values())
    infos = config_infos(str(settings.get("connector.class") or ""), definition, values.values())
    return _without_secret_names(infos, {*settings, *(key.name for key in declared)}, declared.groups(), secrets)


def _place(name: str, declared: ConfigDef) -> int:
    return 0 if name in declared else next((i for i, one in enumerate(_ORDER, 1) if name.startswith(one)), 0)


def _show_references(config: TransformedConfig, values: Iterable[ConfigValue]) -> None:
    """References instead of what they stand for."""
    for value in values:
        if value.name in config.settings and config.settings[value.name] != config.shown[value.name]:
            value.value = config.shown[value.name]


def _without_secret_names(
    infos: dict[str, Any], known: Collection[str], groups: Collection[str], secrets: Secrets
) -> dict[str, Any]:
    """Transforms and groups of topics give names to settings, and may have theirs from config providers."""
    return {
        **infos,
        "groups": [one if one in groups else secrets.redact(one) for one in infos["groups"]],
        "configs": [
            one if one["value"]["name"] in known else _redacted(one, secrets.redact) for one in infos["configs"]
        ],
    }


def _redacted(value: Any, redact: Callable[[str], str]) -> Any:
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, dict):
        return {key: _redacted(one, redact) for key, one in value.items()}
    return [_redacted(one, redact) for one in value] if isinstance(value, list) else value


def _with_converters(definition: ConfigDef, settings: Mapping[str, Any]) -> ConfigDef:
    """The definition with the settings of the connector's converters."""
    for key, plugins in (
        ("header.converter", HEADER_CONVERTERS),
        ("key.converter", CONVERTERS),
        ("value.converter", CONVERTERS),
    ):
        given = settings.get(key)
        if isinstance(given, str):
            try:
                found = plugins.find(given.strip())
            except ConfigError:
                continue  # reported with the setting
            definition = definition.extended(*found.CONFIG.prefixed(f"{key}."))
    return definition


def invalid_config_message(infos: Mapping[str, Any]) -> str | None:
    """The message of the 400 that refuses an invalid configuration; None if it is valid."""
    errors = [error for config in infos["configs"] for error in config["value"]["errors"]]
    if not errors:
        return None
    return (
        f"Connector configuration is invalid and contains the following {len(errors)} error(s):\n"
        + "\n".join(errors)
        + "\nYou can also find the above list of errors at the endpoint `/connector-plugins/{connectorType}/config/validate`"
    )
