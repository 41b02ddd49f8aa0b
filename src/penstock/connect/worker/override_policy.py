"""Which settings of Kafka clients connectors may change: `connector.client.config.override.policy`."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from penstock.connect.config import HIDDEN, ConfigValue
from penstock.connect.config.secrets import SECRET_NAMES
from penstock.connect.errors import invalid_value

KEY = "connector.client.config.override.policy"
PREFIXES = ("producer.override.", "consumer.override.", "admin.override.")
_PRINCIPAL = frozenset({"sasl.jaas.config", "sasl.mechanism", "security.protocol"})
_SUFFIX = "ConnectorClientConfigOverridePolicy"
_POLICIES = ("All", "None", "Principal", "Allowlist")


class OverridePolicy:
    """A policy by its short or its class name.

    >>> [value.errors for value in OverridePolicy("None").check({"producer.override.linger.ms": "5"})]
    [["The 'None' policy does not allow 'linger.ms' to be overridden in the connector configuration."]]

    Args:
        name: All, None, Principal, Allowlist, or the class of that.
        allowlist: What Allowlist lets through.

    Raises:
        ConfigError: There is no such policy.
    """

    __slots__ = ("_allowed", "name")

    def __init__(self, name: str, allowlist: Collection[str] = ()) -> None:
        self.name = name.rpartition(".")[2].removesuffix(_SUFFIX)
        if self.name not in _POLICIES:
            raise invalid_value(KEY, name, f"Policy must be one of: {', '.join(_POLICIES)}")
        allowed = {"None": frozenset[str](), "Principal": _PRINCIPAL, "Allowlist": frozenset(allowlist)}
        self._allowed = allowed.get(self.name)

    def check(self, settings: Mapping[str, Any]) -> list[ConfigValue]:
        """The overrides of a connector, each with what is wrong with it."""
        values = []
        for name, value in settings.items():
            prefix = next((prefix for prefix in PREFIXES if name.startswith(prefix)), None)
            if prefix is None:
                continue
            key = name[len(prefix) :]
            errors = []
            if self._allowed is not None and key not in self._allowed:
                errors.append(
                    f"The '{self.name}' policy does not allow '{key}' to be overridden in the connector configuration."
                )
            values.append(ConfigValue(name, HIDDEN if key.endswith(SECRET_NAMES) else value, errors=errors))
        return values
