from __future__ import annotations

from typing import Any

import pytest

from penstock import ConfigError, TopologyConfig
from penstock.optimizer.rules import OPTIONS
from penstock.runtime.settings import Settings
from penstock.topology.config import OPTIMIZATIONS, parse_optimization


def test_options_are_those_of_the_rules() -> None:
    assert OPTIMIZATIONS == OPTIONS


@pytest.mark.parametrize(
    ("given", "wanted"),
    [
        (None, set()),
        ("none", set()),
        ("all", set(OPTIMIZATIONS)),
        ("single.store.self.join", {"single.store.self.join"}),
        (["merge.repartition.topics"], {"merge.repartition.topics"}),
    ],
)
def test_optimization(given: Any, wanted: set[str]) -> None:
    assert parse_optimization(given) == wanted


@pytest.mark.parametrize("given", ["everything", "all,merge.repartition.topics", ["fuse"]])
def test_unknown_optimization(given: Any) -> None:
    with pytest.raises(ConfigError) as caught:
        parse_optimization(given)
    assert str(caught.value) == (
        f"topology.optimization is {given!r}. Give all, none, or some of: "
        "reuse.ktable.source.topics, merge.repartition.topics, single.store.self.join."
    )


def test_from_settings() -> None:
    config = TopologyConfig.of(
        {
            "topology.optimization": "all",
            "ensure.explicit.internal.resource.naming": True,
            "dsl.store.suppliers.class": "org.apache...BuiltInDslStoreSuppliers$InMemoryDslStoreSuppliers",
            "application.id": "not for the topology",
        }
    )
    assert config.optimization == set(OPTIMIZATIONS)
    assert (config.explicit_names, config.in_memory) == (True, True)
    assert TopologyConfig.of(config) is config
    assert TopologyConfig.of(None) == TopologyConfig()


def test_defaults_of_the_application_do_not_override_the_builders() -> None:
    builders = TopologyConfig.of({"topology.optimization": "all"})
    assert TopologyConfig.of(Settings({"application.id": "a"}), builders).optimization == set(OPTIMIZATIONS)
    assert TopologyConfig.of(Settings({"topology.optimization": "none"}), builders).optimization == set()
