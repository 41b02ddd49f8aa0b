"""What config providers have in common."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from dataclasses import dataclass
from pathlib import Path
from typing import Any


@dataclass(frozen=True, slots=True, repr=False)
class ConfigData:
    """Values a provider found.

    Attributes:
        data: Values by key.
        ttl_ms: Milliseconds for which they are good; None is for ever.
    """

    data: Mapping[str, str]
    ttl_ms: int | None = None

    def __repr__(self) -> str:
        # Values are secrets.
        return f"ConfigData(keys={sorted(self.data)}, ttl_ms={self.ttl_ms})"


NO_DATA = ConfigData({})


class ConfigProvider(ABC):
    """Gives the values references in settings stand for.

    Args:
        params: What `config.providers.<name>.param.*` says.
    """

    def __init__(self, params: Mapping[str, Any] | None = None) -> None:
        self.params = dict(params or {})

    @abstractmethod
    def get(self, path: str, keys: AbstractSet[str] | None = None) -> ConfigData:
        """Values below a path.

        Args:
            path: The path of a reference; empty if it has none.
            keys: The keys wanted; None is all.

        Raises:
            ConfigError: The path cannot be read.
        """

    def close(self) -> None:  # noqa: B027 - most providers hold nothing
        """Called when the worker stops."""


def only(data: Mapping[str, str], keys: AbstractSet[str] | None) -> dict[str, str]:
    """The values of some keys; all for None."""
    return dict(data) if keys is None else {key: data[key] for key in keys if key in data}


class AllowedPaths:
    """Folders and files a provider may read; everything if none are named."""

    def __init__(self, text: str | None) -> None:
        names = [name.strip() for name in (text or "").split(",") if name.strip()]
        self._paths = [Path(name).resolve() for name in names]

    def allow(self, path: Path) -> bool:
        """Whether a path, with links followed, is one of them or below."""
        real = path.resolve()
        return not self._paths or any(real == allowed or allowed in real.parents for allowed in self._paths)
