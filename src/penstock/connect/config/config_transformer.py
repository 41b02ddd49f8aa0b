"""References to config providers in settings, `${file:/etc/secrets.properties:password}`, and what they stand for."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field

from penstock.connect.config.providers.provider import ConfigProvider
from penstock.connect.config.secrets import Secrets

REFERENCE = re.compile(r"\$\{([^}]*?):(([^}]*?):)?([^}]*?)\}")


@dataclass(frozen=True, slots=True, repr=False)
class TransformedConfig:
    """Settings with all references replaced.

    Attributes:
        settings: The settings. Never show them: `shown` is for that.
        original: The settings with their references.
        ttls: Milliseconds for which the values of a path are good, by path.
        resolved: What references were replaced by.
    """

    settings: dict[str, str | None]
    original: dict[str, str | None]
    ttls: dict[str, int] = field(default_factory=dict)
    resolved: frozenset[str] = frozenset()

    @property
    def shown(self) -> dict[str, str | None]:
        """The settings as they may be shown: references, not values."""
        return self.original

    @property
    def secrets(self) -> Secrets:
        """What must not appear in traces and messages."""
        return Secrets(self.resolved)

    @property
    def restart_after_ms(self) -> int | None:
        """When the first value is no longer good; None if all are good for ever."""
        return min(self.ttls.values(), default=None)

    def __repr__(self) -> str:
        return f"TransformedConfig({self.original!r})"


class ConfigTransformer:
    """Replaces references in settings.

    >>> from penstock.connect.config.providers.provider import ConfigData
    >>> class Vault(ConfigProvider):
    ...     def get(self, path, keys=None):
    ...         return ConfigData({"user": "ann"} if path == "db" else {})
    >>> ConfigTransformer({"vault": Vault()}).transform({"user": "${vault:db:user}"}).settings
    {'user': 'ann'}

    Args:
        providers: Providers by the name references use.
    """

    def __init__(self, providers: Mapping[str, ConfigProvider]) -> None:
        self._providers = providers

    def transform(self, settings: Mapping[str, str | None]) -> TransformedConfig:
        """The settings with references replaced, once: what a provider gives is not looked through again.

        A reference to an unknown provider or key stays as it is.

        Raises:
            ConfigError: A provider cannot read what a reference asks for.
        """
        values, ttls = self._look_up(settings)
        resolved: set[str] = set()

        def replace(match: re.Match[str]) -> str:
            found = values.get((match[1], match[3] or "", match[4]))
            if found is None:
                return match[0]
            resolved.add(found)
            return found

        replaced = {
            name: REFERENCE.sub(replace, value) if value is not None else None for name, value in settings.items()
        }
        return TransformedConfig(replaced, dict(settings), ttls, frozenset(resolved))

    def _look_up(self, settings: Mapping[str, str | None]) -> tuple[dict[tuple[str, str, str], str], dict[str, int]]:
        """Asks each provider once for each path."""
        wanted: dict[tuple[str, str], set[str]] = {}
        for value in settings.values():
            for match in REFERENCE.finditer(value or ""):
                wanted.setdefault((match[1], match[3] or ""), set()).add(match[4])
        found: dict[tuple[str, str, str], str] = {}
        ttls: dict[str, int] = {}
        for (name, path), keys in wanted.items():
            provider = self._providers.get(name)
            if provider is None:
                continue
            data = provider.get(path, keys)
            found.update({(name, path, key): data.data[key] for key in keys if key in data.data})
            if data.ttl_ms is not None and data.ttl_ms >= 0:
                ttls[path] = data.ttl_ms
        return found, ttls

    def close(self) -> None:
        """Closes all providers."""
        for provider in self._providers.values():
            provider.close()
