"""What the connectors of storage sinks have in common: checks of settings that depend on each other."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from penstock.connect.api import SinkConnector
from penstock.connect.config import ConfigDef, ConfigValue
from penstock.connect.connectors.storage.partitioners.registry import PARTITIONERS
from penstock.connect.connectors.storage.record_parts import value_parts
from penstock.connect.connectors.storage.rotation import Rotation
from penstock.connect.connectors.storage.storage_task import storage_settings
from penstock.connect.errors import ConfigError


class StorageSinkConnector(SinkConnector):
    """A sink that writes files."""

    CONFIG: ClassVar[ConfigDef]

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> Iterable[ConfigValue]:
        try:
            settings = storage_settings(cls.CONFIG.parse(config))
        except ConfigError:
            return ()  # reported with the setting
        for key, make in (("partitioner.class", cls._partitioner), ("format.class", value_parts)):
            try:
                make(settings)
            except ConfigError as error:
                raise ConfigError(str(error), key=error.key or key) from error
        if settings["rotate.schedule.interval.ms"] > 0 and not settings["timezone"]:
            raise ConfigError("rotate.schedule.interval.ms needs timezone: where midnight is", key="timezone")
        Rotation.of(settings)
        if settings["behavior.on.null.values"] == "write" and not settings["store.kafka.keys"]:
            raise ConfigError(
                "behavior.on.null.values=write needs store.kafka.keys=true", key="behavior.on.null.values"
            )
        cls.check(settings)
        return ()

    @staticmethod
    def _partitioner(settings: Mapping[str, Any]) -> None:
        PARTITIONERS.find(settings["partitioner.class"])(settings)

    @classmethod
    def check(cls, settings: Mapping[str, Any]) -> None:
        """What a store's own settings need.

        Raises:
            ConfigError: They do not fit.
        """


def refused(settings: Mapping[str, Any], key: str, unsupported: object, reason: str) -> None:
    """Refuse a setting that Kafka Connect's sink has and this one has not."""
    if settings[key] == unsupported:
        raise ConfigError(f"Invalid value for configuration {key}: {reason}", key=key)
