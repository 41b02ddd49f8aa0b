"""Settings that decide how a topology is built."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from penstock.errors import ConfigError

OPTIMIZATIONS = ("reuse.ktable.source.topics", "merge.repartition.topics", "single.store.self.join")


@dataclass(frozen=True, slots=True)
class TopologyConfig:
    """What the builder takes from the application's settings.

    Attributes:
        optimization: Names of the optimizer rules to run.
        explicit_names: Refuse generated names of stores and internal topics.
        in_memory: Stores of the DSL live in memory.
        processor_wrapper: Wraps the suppliers of user processors.
        headers: Stores of the DSL keep the headers of the record that wrote a row.
    """

    optimization: frozenset[str] = frozenset()
    explicit_names: bool = False
    in_memory: bool = False
    processor_wrapper: Any = None
    headers: bool = False
    settings: Mapping[str, Any] = field(default_factory=dict, compare=False)

    @classmethod
    def of(
        cls, settings: Mapping[str, Any] | TopologyConfig | None, default: TopologyConfig | None = None
    ) -> TopologyConfig:
        """From a mapping with Kafka's keys; keys that do not concern the topology are ignored.

        Args:
            settings: What was given.
            default: Where to look for keys that were not.
        """
        if isinstance(settings, TopologyConfig):
            return settings
        # The application's settings fill in defaults for every key; what counts here is what the user gave.
        given = {**(default.settings if default else {}), **getattr(settings, "given", settings or {})}
        return cls(
            parse_optimization(given.get("topology.optimization")),
            _is_true(given.get("ensure.explicit.internal.resource.naming", False)),
            _is_in_memory(given),
            given.get("processor.wrapper.class"),
            given.get("dsl.store.format") == "HEADERS",
            given,
        )


def parse_optimization(value: Any) -> frozenset[str]:
    """The rules that `topology.optimization` names.

    >>> sorted(parse_optimization("merge.repartition.topics, single.store.self.join"))
    ['merge.repartition.topics', 'single.store.self.join']
    """
    if value is None:
        return frozenset()
    names = [part.strip() for part in value.split(",")] if isinstance(value, str) else list(value)
    if names == ["all"]:
        return frozenset(OPTIMIZATIONS)
    if names == ["none"]:
        return frozenset()
    for name in names:
        if name not in OPTIMIZATIONS:
            raise ConfigError(
                f"topology.optimization is {value!r}",
                hint=f"Give all, none, or some of: {', '.join(OPTIMIZATIONS)}.",
            )
    return frozenset(names)


def _is_true(value: Any) -> bool:
    return value is True or (isinstance(value, str) and value.strip().lower() == "true")


def _is_in_memory(given: Mapping[str, Any]) -> bool:
    kind = given.get("dsl.store.suppliers.class", given.get("default.dsl.store", ""))
    text = kind if isinstance(kind, str) else getattr(kind, "__name__", str(kind))
    return "memory" in text.lower().replace("_", "")
