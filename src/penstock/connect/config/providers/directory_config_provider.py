"""DirectoryConfigProvider: values from files of a folder, one value a file."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from pathlib import Path
from typing import Any

from penstock.connect.config.providers.provider import NO_DATA, AllowedPaths, ConfigData, ConfigProvider
from penstock.connect.errors import ConfigError

log = logging.getLogger("penstock.connect")


class DirectoryConfigProvider(ConfigProvider):
    """`${dir:/path/secrets:file-name}`: the content of the file, as it is. `allowed.paths` limits what may be read."""

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        super().__init__(params)
        self._allowed = AllowedPaths(self.params.get("allowed.paths"))

    def get(self, path: str, keys: AbstractSet[str] | None = None) -> ConfigData:
        if not path:
            return NO_DATA
        folder = Path(path)
        if not self._allowed.allow(folder):
            log.warning("The path %s is not allowed to be accessed by DirectoryConfigProvider", path)
            return NO_DATA
        if not folder.is_dir():
            log.warning("The path %s is not a directory", path)
            return NO_DATA
        files = [file for file in sorted(folder.iterdir()) if file.is_file() and (keys is None or file.name in keys)]
        # A link inside the folder may lead out of it.
        return ConfigData({file.name: _content(file) for file in files if self._allowed.allow(file)})


def _content(file: Path) -> str:
    try:
        # newline="" keeps line ends as they are.
        with file.open(encoding="utf-8", newline="") as opened:
            return opened.read()
    except (OSError, UnicodeDecodeError) as error:
        reason = error.strerror if isinstance(error, OSError) else "it is not UTF-8"
        raise ConfigError(f"Could not read file {file}: {reason}") from error
