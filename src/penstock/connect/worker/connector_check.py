"""Validation of connector configurations on a worker: class, references, policies, and what the class itself checks."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from penstock.connect.config import ConfigDef, ConfigValue
from penstock.connect.config.config_transformer import TransformedConfig
from penstock.connect.config.secrets import Secrets
from penstock.connect.errors import BadRequestError, ConfigError
from penstock.connect.validation import ConnectorKind, invalid_config_message, validate_connector
from penstock.connect.validation.connector_keys import connector_keys
from penstock.connect.validation.enrich import enriched
from penstock.connect.worker.connector_types import ConnectorType, ConnectorTypes
from penstock.connect.worker.override_policy import PREFIXES, OverridePolicy
from penstock.connect.worker.redacted_errors import redacted_errors
from penstock.connect.worker.worker_config import WorkerConfig

CLASS = "connector.class"
_CONVERTERS = ("key.converter.", "value.converter.", "header.converter.")


@dataclass(frozen=True, slots=True)
class ConnectorCheck:
    """Checks configurations for one worker.

    Args:
        worker: The worker's settings.
        types: The connectors it can run.
    """

    worker: WorkerConfig
    types: ConnectorTypes

    def kind(self, config: Mapping[str, str | None]) -> str:
        """`source`, `sink`, or `unknown` if the class cannot be found."""
        try:
            return self.types.find((config.get(CLASS) or "").strip()).kind.value
        except ConfigError:
            return "unknown"

    def version(self, config: Mapping[str, str | None]) -> str | None:
        """The version of the class, if it can be found."""
        try:
            return self.types.find((config.get(CLASS) or "").strip()).version
        except ConfigError:
            return None

    def infos(self, config: Mapping[str, str | None]) -> dict[str, Any]:
        """Everything that is wrong with a configuration, in the shape of the REST API.

        Raises:
            BadRequestError: It names no class, or one that cannot be found.
        """
        found = self._type(config)
        transformed = self._transformed(config)
        given = {name: value for name, value in transformed.settings.items() if value is not None}
        policy = OverridePolicy(
            self.worker.values["connector.client.config.override.policy"],
            self.worker.values["connector.client.config.override.allowlist"],
        )
        with redacted_errors(self.secrets(transformed)):
            return validate_connector(
                found.kind,
                transformed,
                found.config,
                worker_group=self.worker.group_id,
                further=[*self._own_checks(found, given), *self._exactly_once(found, given), *policy.check(given)],
            )

    def secrets(self, config: TransformedConfig) -> Secrets:
        """What must not appear in anything a connector says: what came from config providers, and passwords."""
        try:
            found = self.types.find((config.settings.get(CLASS) or "").strip())
            definition = enriched(connector_keys(found.kind).extended(*found.config), config.settings)
        except ConfigError:
            definition = ConfigDef()
        return self.worker.secrets.union(Secrets.of(config.settings, definition, config.resolved))

    @contextmanager
    def resolved(self, config: Mapping[str, str | None]) -> Iterator[dict[str, str]]:
        """The settings a connector is run with; what goes wrong in the block is told without its secrets."""
        transformed = self.worker.transformer.transform(config)
        with redacted_errors(self.secrets(transformed)):
            yield {name: value for name, value in transformed.settings.items() if value is not None}

    def require_valid(self, config: Mapping[str, str | None]) -> None:
        """Raises BadRequestError with all that is wrong with a configuration."""
        message = invalid_config_message(self.infos(config))
        if message is not None:
            raise BadRequestError(message)
        self._warn_unknown(config)

    def _type(self, config: Mapping[str, str | None]) -> ConnectorType:
        given = (config.get(CLASS) or "").strip()
        if not given:
            raise BadRequestError("Connector config contains no connector type")
        try:
            return self.types.find(given)
        except ConfigError as error:
            known = ", ".join(sorted(one.java_name for one in self.types))
            raise BadRequestError(
                f"Failed to find any class that implements Connector and which name matches {given}, "
                f"available connectors are: {known}",
                hint=error.hint,
            ) from None

    def _transformed(self, config: Mapping[str, str | None]) -> TransformedConfig:
        try:
            return self.worker.transformer.transform(config)
        except ConfigError as error:
            raise BadRequestError(error.message, hint=error.hint) from None

    @staticmethod
    def _own_checks(found: ConnectorType, given: Mapping[str, str]) -> list[ConfigValue]:
        """What the class itself checks, once its single settings are in order."""
        if any(value.errors for value in found.config.validate(given)):
            return []
        try:
            return list(found.validate(given))
        except ConfigError as error:
            key = error.key or CLASS
            return [ConfigValue(key, given.get(key), errors=[error.message])]

    def _exactly_once(self, found: ConnectorType, given: Mapping[str, str]) -> list[ConfigValue]:
        """A connector that insists on exactly once needs a worker and a class that can."""
        key = "exactly.once.support"
        if found.kind is not ConnectorKind.SOURCE or given.get(key, "").strip().lower() != "required":
            return []
        if self.worker.values["exactly.once.source.support"].lower() != "enabled":
            reason = "This worker does not have exactly-once source support enabled."
        elif not found.exactly_once(given):
            reason = "The connector does not support exactly-once semantics with the provided configuration."
        else:
            return []
        return [ConfigValue(key, given[key], errors=[reason])]

    def _warn_unknown(self, config: Mapping[str, str | None]) -> None:
        found = self._type(config)
        known = enriched(connector_keys(found.kind).extended(*found.config), config)
        # A topic group may have any setting of a topic.
        prefixes = (*PREFIXES, *_CONVERTERS, "topic.creation.")
        known.warn_unknown(config, f"connector {config.get('name')}", prefixes=prefixes)


def matches_plugin(plugin: str, connector_class: str) -> bool:
    """Whether a class in a configuration is the one the path of a request names.

    >>> matches_plugin("FileStreamSink", "org.apache.kafka.connect.file.FileStreamSinkConnector")
    True
    """
    return _short(connector_class).endswith(_short(plugin)) or _short(plugin).endswith(_short(connector_class))


def _short(name: str) -> str:
    return name.strip().removesuffix("Connector")
