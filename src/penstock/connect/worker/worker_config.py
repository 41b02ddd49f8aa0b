"""The settings of a worker, read, checked, and with references to config providers replaced."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from penstock.connect.config import ConfigDef
from penstock.connect.config.config_transformer import ConfigTransformer
from penstock.connect.config.properties import parse_properties
from penstock.connect.config.providers.registry import configured_providers
from penstock.connect.config.secrets import Secrets
from penstock.connect.config.settings_file import read_settings_file
from penstock.connect.converters.registry import CONVERTERS, HEADER_CONVERTERS
from penstock.connect.errors import ConfigError
from penstock.connect.plugins import subset
from penstock.connect.worker.listener import Listener, parse_listeners
from penstock.connect.worker.worker_keys import DISTRIBUTED, PREFIXES, STANDALONE

# Settings every client of the worker needs to reach Kafka, whatever it is for.
_SECURITY = ("security.", "ssl.", "sasl.")


class Mode(Enum):
    """How a worker is run."""

    STANDALONE = "standalone"
    DISTRIBUTED = "distributed"

    @property
    def definition(self) -> ConfigDef:
        """The settings it has."""
        return STANDALONE if self is Mode.STANDALONE else DISTRIBUTED


@dataclass(frozen=True, slots=True, repr=False)
class WorkerConfig:
    """The settings of a worker.

    Attributes:
        mode: How it is run.
        settings: All settings as texts, references to config providers replaced. Never show them.
        values: The declared settings with their types and defaults.
        transformer: Replaces references in connector configurations.
        secrets: What must not appear in messages.
    """

    mode: Mode
    settings: Mapping[str, str]
    values: Mapping[str, Any]
    transformer: ConfigTransformer
    secrets: Secrets

    @classmethod
    def parse(cls, settings: Mapping[str, str], mode: Mode) -> WorkerConfig:
        """Checked settings.

        Raises:
            ConfigError: A setting is missing or cannot be used.
        """
        transformer = ConfigTransformer(configured_providers(settings))
        transformed = transformer.transform(settings)
        resolved = {name: value for name, value in transformed.settings.items() if value is not None}
        definition = mode.definition
        definition.warn_unknown(resolved, f"{mode.value} worker", prefixes=PREFIXES)
        _warn_of_converters(resolved, mode)
        secrets = Secrets.of(resolved, definition, transformed.resolved)
        try:
            config = cls(mode, resolved, definition.parse(resolved), transformer, secrets)
            config.listeners  # noqa: B018 - a bad address is told at the start
            config.admin_listeners  # noqa: B018
        except ConfigError as error:
            raise ConfigError(secrets.redact(error.message), key=error.key, hint=secrets.redact(error.hint)) from None
        return config

    def __repr__(self) -> str:
        return f"WorkerConfig({self.mode.value}, {sorted(self.settings)})"

    @property
    def listeners(self) -> list[Listener]:
        """Addresses of the REST API."""
        return parse_listeners("listeners", self.values["listeners"])

    @property
    def admin_listeners(self) -> list[Listener] | None:
        """Addresses of /admin alone; None is those of the REST API, an empty list is nowhere."""
        given = self.values["admin.listeners"]
        return None if given is None else parse_listeners("admin.listeners", given)

    @property
    def group_id(self) -> str | None:
        """The group of a distributed worker."""
        return self.values.get("group.id")

    @property
    def state_dir(self) -> Path:
        """Folder for the offsets of sources; a worker of a group has them in a topic and writes nothing there."""
        beside = self.values.get("offset.storage.file.filename", "connect.offsets")
        return Path(self.values["state.dir"] or f"{beside}.d").expanduser()

    def internal_client(self) -> dict[str, str]:
        """Settings of the clients for the worker's own topics."""
        shared = {name: value for name, value in self.settings.items() if name.startswith(_SECURITY)}
        return {"bootstrap.servers": ",".join(self.values["bootstrap.servers"]), **shared}

    def client(self, role: str) -> dict[str, str]:
        """Settings of a Kafka client: what all clients share, and what has the role's prefix.

        >>> worker = {
        ...     "bootstrap.servers": "k:1",
        ...     "key.converter": "StringConverter",
        ...     "value.converter": "StringConverter",
        ...     "offset.storage.file.filename": "x",
        ...     "producer.linger.ms": "9",
        ...     "sasl.username": "u",
        ... }
        >>> WorkerConfig.parse(worker, Mode.STANDALONE).client("producer")
        {'bootstrap.servers': 'k:1', 'sasl.username': 'u', 'linger.ms': '9'}
        """
        prefix = f"{role}."
        own = {name[len(prefix) :]: value for name, value in self.settings.items() if name.startswith(prefix)}
        own.pop("listeners", None)  # admin.listeners is an address of the REST API
        return {**self.internal_client(), **own}


def _warn_of_converters(settings: Mapping[str, str], mode: Mode) -> None:
    for key, plugins in (("key", CONVERTERS), ("value", CONVERTERS), ("header", HEADER_CONVERTERS)):
        try:
            found: Any = plugins.find(settings.get(f"{key}.converter", "").strip())
        except ConfigError:
            continue  # told with the setting, or not set
        own = subset(settings, f"{key}.converter.")
        found.CONFIG.warn_unknown(own, f"{mode.value} worker, {key}.converter", prefixes=("plugin.version",))


def read_worker_config(path: Path, mode: Mode) -> WorkerConfig:
    """The settings in a properties file.

    Raises:
        ConfigError: The file cannot be read, or a setting is missing or wrong; the message names the file.
    """
    hint = "Give a .properties file with at least bootstrap.servers, key.converter and value.converter."
    text = read_settings_file(path, "worker", hint=hint)
    try:
        return WorkerConfig.parse(parse_properties(text), mode)
    except ConfigError as error:
        raise ConfigError(f"{path}: {error.message}", key=error.key, hint=error.hint) from None
