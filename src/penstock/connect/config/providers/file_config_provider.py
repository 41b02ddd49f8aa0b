"""FileConfigProvider: values from properties files."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from penstock.connect.config.properties import parse_properties
from penstock.connect.config.providers.provider import NO_DATA, AllowedPaths, ConfigData, ConfigProvider, only
from penstock.connect.errors import ConfigError

log = logging.getLogger("penstock.connect")


class FileConfigProvider(ConfigProvider):
    """`${file:/path/secrets.properties:key}`. The parameter `allowed.paths` limits what may be read."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        super().__init__(params)
        self._allowed = AllowedPaths(self.params.get("allowed.paths"))

    def get(self, path: str, keys: AbstractSet[str] | None = None) -> ConfigData:
        if not path:
            return NO_DATA
        file = Path(path)
        if not self._allowed.allow(file):
            log.warning("The path %s is not allowed to be accessed by FileConfigProvider", path)
            return NO_DATA
        try:
            text = file.read_text(encoding="utf-8")
        except (OSError, UnicodeDecodeError) as error:
            reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
            raise ConfigError(f"Could not read properties from file {path}: {reason}") from error
        return ConfigData(only(parse_properties(text), keys))
