"""Config providers by name, as worker configurations declare them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from penstock.connect.config.config_key import ConfigType, parse_type
from penstock.connect.config.providers.provider import ConfigProvider
from penstock.connect.errors import missing_value
from penstock.connect.plugins import Plugin, Plugins, subset

_HERE = "penstock.connect.config.providers"
_JAVA = "org.apache.kafka.common.config.provider"

CONFIG_PROVIDERS: Plugins[ConfigProvider] = Plugins(
    "config provider",
    ConfigProvider,  # type: ignore[type-abstract]  # only compared with
    (
        Plugin(f"{_JAVA}.FileConfigProvider", f"{_HERE}.file_config_provider:FileConfigProvider"),
        Plugin(f"{_JAVA}.DirectoryConfigProvider", f"{_HERE}.directory_config_provider:DirectoryConfigProvider"),
        Plugin(f"{_JAVA}.EnvVarConfigProvider", f"{_HERE}.env_var_config_provider:EnvVarConfigProvider"),
    ),
    suffix="ConfigProvider",
    entry_point_group="penstock.connect.config_providers",
)


def configured_providers(settings: Mapping[str, Any]) -> dict[str, ConfigProvider]:
    """The providers `config.providers` of a worker declares, by name.

    >>> list(configured_providers({"config.providers": "env", "config.providers.env.class": "EnvVarConfigProvider"}))
    ['env']

    Raises:
        ConfigError: A class is missing or cannot be used.
    """
    providers: dict[str, ConfigProvider] = {}
    for name in parse_type("config.providers", settings.get("config.providers", ""), ConfigType.LIST):
        key = f"config.providers.{name}.class"
        if key not in settings:
            raise missing_value(key)
        params = subset(settings, f"config.providers.{name}.param.")
        providers[name] = CONFIG_PROVIDERS.find(settings[key].strip())(params)
    return providers
