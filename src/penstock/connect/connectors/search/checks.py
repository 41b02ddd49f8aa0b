"""Settings of the search sink that depend on each other."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.connect.config import ConfigDef, ConfigValue
from penstock.connect.connectors.search import keys
from penstock.connect.connectors.search.naming import pairs
from penstock.connect.connectors.search.tls import check_stores
from penstock.connect.errors import ConfigError


def check(config: Mapping[str, str], definition: ConfigDef, tls_prefix: str = keys.TLS_PREFIX) -> list[ConfigValue]:
    """What is wrong with settings together; single settings that cannot be read are not looked at.

    Args:
        config: The connector's configuration.
        definition: Its settings.
        tls_prefix: What comes before the names of the settings of TLS.
    """
    parsed = {value.name: value.value for value in definition.validate(config)}
    found = [
        *_credentials(parsed),
        *_tls(parsed, tls_prefix),
        *_streams(parsed),
        *_resources(parsed, config),
    ]
    kerberos = sorted(name for name in config if name.startswith("kerberos."))
    found += [
        _wrong(name, f"{name}: Kerberos is not supported; use {keys.USERNAME} and {keys.PASSWORD}.")
        for name in kerberos
    ]
    return found


def _wrong(name: str, message: str) -> ConfigValue:
    return ConfigValue(name, errors=[message])


def _credentials(parsed: Mapping[str, Any]) -> list[ConfigValue]:
    user, password = parsed[keys.USERNAME], parsed[keys.PASSWORD]
    if (user is None) == (password is None):
        return []
    missing, given = (keys.USERNAME, keys.PASSWORD) if user is None else (keys.PASSWORD, keys.USERNAME)
    return [_wrong(missing, f"{given} is set, so {missing} must be set too.")]


def _tls(parsed: Mapping[str, Any], prefix: str) -> list[ConfigValue]:
    urls = parsed[keys.URL] or []
    secure = str(parsed.get(keys.SECURITY_PROTOCOL) or "").lower() == "ssl"
    plain = [url for url in urls if url.startswith("http:")]
    if secure and plain:
        return [_wrong(keys.URL, f"{keys.SECURITY_PROTOCOL} is ssl, but {plain[0]} is not a URL of https.")]
    try:
        check_stores(parsed, prefix)
    except ConfigError as error:
        return [_wrong(error.key or prefix, str(error))]
    return []


def _streams(parsed: Mapping[str, Any]) -> list[ConfigValue]:
    found = []
    is_stream = (parsed.get(keys.STREAM_TYPE) or "none").lower() != "none"
    dataset = parsed.get(keys.STREAM_DATASET)
    if is_stream and not dataset:
        found.append(
            _wrong(keys.STREAM_DATASET, f"{keys.STREAM_TYPE} is set, so {keys.STREAM_DATASET} must be set too.")
        )
    if dataset and not is_stream:
        found.append(_wrong(keys.STREAM_TYPE, f"{keys.STREAM_DATASET} is set, so {keys.STREAM_TYPE} must be set too."))
    external = (parsed.get(keys.RESOURCE_USAGE) or "disabled").lower()
    if is_stream and external != "disabled":
        found.append(_wrong(keys.RESOURCE_USAGE, f"{keys.RESOURCE_USAGE} and {keys.STREAM_TYPE} exclude each other."))
    if is_stream or external.endswith("datastream"):
        found += refused_for_streams(parsed)
    return found


def refused_for_streams(parsed: Mapping[str, Any]) -> list[ConfigValue]:
    """Settings that make no sense with data streams, to which documents are only ever added."""
    found = []
    if (parsed.get(keys.WRITE_METHOD) or "").lower() == "upsert":
        found.append(_wrong(keys.WRITE_METHOD, "Documents of a data stream cannot be updated: use insert."))
    if (parsed[keys.NULL_VALUES] or "").lower() == "delete":
        found.append(_wrong(keys.NULL_VALUES, "Documents of a data stream cannot be deleted: use ignore or fail."))
    return found


def _resources(parsed: Mapping[str, Any], config: Mapping[str, str]) -> list[ConfigValue]:
    usage, mapping = (parsed.get(keys.RESOURCE_USAGE) or "disabled").lower(), parsed.get(keys.RESOURCE_MAPPING) or []
    if usage == "disabled":
        if mapping:
            return [
                _wrong(
                    keys.RESOURCE_USAGE, f"{keys.RESOURCE_MAPPING} is set, so {keys.RESOURCE_USAGE} must be set too."
                )
            ]
        return []
    if not mapping:
        return [
            _wrong(keys.RESOURCE_MAPPING, f"{keys.RESOURCE_USAGE} is set, so {keys.RESOURCE_MAPPING} must be set too.")
        ]
    topics = [topic.strip() for topic in config.get("topics", "").split(",") if topic.strip()]
    missing = [topic for topic in topics if topic not in pairs(mapping)]
    return (
        [_wrong(keys.RESOURCE_MAPPING, f"{keys.RESOURCE_MAPPING} does not say where {', '.join(missing)} goes.")]
        if missing
        else []
    )
