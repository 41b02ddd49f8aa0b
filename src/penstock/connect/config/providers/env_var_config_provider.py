"""EnvVarConfigProvider: values from environment variables."""

from __future__ import annotations

import os
import re
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from typing import Any

from penstock.connect.config.java_regex import compile_java
from penstock.connect.config.providers.provider import ConfigData, ConfigProvider, only
from penstock.connect.errors import ConfigError, invalid_value


class EnvVarConfigProvider(ConfigProvider):
    """`${env:NAME}`. The parameter `allowlist.pattern` limits which variables may be read.

    Args:
        params: Parameters of the provider.
        environment: The variables; the process's own if not given.
    """

    def __init__(self, params: Mapping[str, Any] | None = None, environment: Mapping[str, str] | None = None) -> None:
        super().__init__(params)
        pattern = self.params.get("allowlist.pattern")
        try:
            self._allowed = compile_java(pattern) if pattern is not None else None
        except re.error as error:
            raise invalid_value("allowlist.pattern", pattern, f"Invalid regex: {error}") from None
        self._environment = environment if environment is not None else os.environ

    def get(self, path: str, keys: AbstractSet[str] | None = None) -> ConfigData:
        if path:
            raise ConfigError(
                f"Path is not supported for EnvVarConfigProvider, invalid value '{path}'",
                hint="Write ${env:NAME}, with one colon.",
            )
        allowed = {
            name: value
            for name, value in self._environment.items()
            if self._allowed is None or self._allowed.fullmatch(name)
        }
        return ConfigData(only(allowed, keys))
