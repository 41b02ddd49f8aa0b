"""The search sink under the settings of Aiven's OpenSearch connector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from penstock.connect.api import SinkConnector, SinkTask
from penstock.connect.config import ConfigDef, ConfigKey, ConfigType, ConfigValue, Importance
from penstock.connect.config.validators import NonEmpty, OneOf
from penstock.connect.connectors.search import keys
from penstock.connect.connectors.search.checks import check, refused_for_streams
from penstock.connect.connectors.search.naming import Naming, PrefixedStreams
from penstock.connect.connectors.search.sink import SearchSinkTask
from penstock.connect.connectors.search.tls import tls_keys

STREAM_ENABLED = "data.stream.enabled"
STREAM_PREFIX = "data.stream.prefix"
INDEX_WRITE_METHOD = "index.write.method"
_TLS_PREFIX = "connection."
_NOT_HERE = {keys.WRITE_METHOD, keys.STREAM_TYPE, keys.STREAM_DATASET, keys.STREAM_NAMESPACE, keys.SECURITY_PROTOCOL}
_LOW = Importance.LOW

CONFIG = ConfigDef(
    *(key for key in keys.CONFIG if key.name not in _NOT_HERE and not key.name.startswith(keys.TLS_PREFIX)),
    ConfigKey(name=INDEX_WRITE_METHOD, default="insert", validator=OneOf("insert", "upsert", ignore_case=True), importance=_LOW, group="Documents", doc="insert: a record replaces the document. upsert: its fields are merged into it."),
    ConfigKey(name=STREAM_ENABLED, type=ConfigType.BOOLEAN, default=False, group="Data streams", doc="Whether data streams are written instead of indices."),
    ConfigKey(name=STREAM_PREFIX, default=None, validator=NonEmpty(), group="Data streams", doc="What their names begin with: {prefix}-{topic}; the topic alone if it is not set."),
    *tls_keys(_TLS_PREFIX, "Security"),
).extended(
    ConfigKey(name=keys.STREAM_TIMESTAMP, type=ConfigType.LIST, default="@timestamp", importance=_LOW, group="Data streams", doc=keys.CONFIG[keys.STREAM_TIMESTAMP].doc),
    ConfigKey(name=keys.NULL_VALUES, default="ignore", validator=OneOf("ignore", "delete", "fail", ignore_case=True), importance=_LOW, group="Documents", doc=keys.CONFIG[keys.NULL_VALUES].doc),
)  # fmt: skip


class OpensearchSinkTask(SearchSinkTask):
    """The same task, by other settings."""

    @classmethod
    def settings(cls, config: Mapping[str, str]) -> dict[str, Any]:
        return translated(CONFIG.parse(config))

    def naming(self, settings: Mapping[str, Any]) -> Naming:
        return PrefixedStreams(settings, settings[STREAM_PREFIX]) if settings[STREAM_ENABLED] else Naming(settings)


def translated(settings: Mapping[str, Any]) -> dict[str, Any]:
    """Settings under the names the rest of the sink knows."""
    defaults = {name: keys.CONFIG[name].default_value for name in _NOT_HERE}
    tls = {
        keys.TLS_PREFIX + name.removeprefix(_TLS_PREFIX): value
        for name, value in settings.items()
        if name.startswith(f"{_TLS_PREFIX}ssl.")
    }
    return {**defaults, **settings, **tls, keys.WRITE_METHOD: settings[INDEX_WRITE_METHOD]}


class OpensearchSinkConnector(SinkConnector):
    """Writes records as documents to OpenSearch or Elasticsearch, by the settings of Aiven's connector."""

    CONFIG: ClassVar[ConfigDef] = CONFIG
    TASK: ClassVar[type[SinkTask]] = OpensearchSinkTask

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> Iterable[ConfigValue]:
        parsed = {value.name: value.value for value in cls.CONFIG.validate(config)}
        found = check(config, cls.CONFIG, _TLS_PREFIX)
        if parsed[STREAM_ENABLED]:
            # What is wrong is known here under another name.
            names = {keys.WRITE_METHOD: INDEX_WRITE_METHOD}
            for value in refused_for_streams({**parsed, keys.WRITE_METHOD: parsed[INDEX_WRITE_METHOD]}):
                found.append(ConfigValue(names.get(value.name, value.name), errors=value.errors))
        return found
