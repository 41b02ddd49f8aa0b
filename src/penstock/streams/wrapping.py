"""Wrapping the user processors of a topology, as `processor.wrapper.class` asks."""

from __future__ import annotations

import importlib
from dataclasses import replace
from typing import Any

from penstock.errors import ConfigError
from penstock.topology.nodes import ProcessorNode
from penstock.topology.operators import Process
from penstock.topology.suppliers import check_supplier, stores_of
from penstock.topology.topology import Topology


def wrap_processors(topology: Topology, wrapper: Any) -> None:
    """Replace the suppliers of all user processors by what the wrapper makes of them."""
    if wrapper is None:
        return
    instance = _instance(wrapper)
    for node in list(topology.nodes.values()):
        if not isinstance(node, ProcessorNode) or not isinstance(node.operator, Process):
            continue
        operator = node.operator
        wrap = instance.wrap_fixed_key_processor if operator.fixed_key else instance.wrap_processor
        supplier = check_supplier(wrap(node.name, operator.supplier), node.name, node.line)
        topology.nodes[node.name] = replace(node, operator=replace(operator, supplier=supplier))
        for builder in stores_of(supplier):
            topology.add_store(builder, node.name, line=node.line)


def _instance(wrapper: Any) -> Any:
    if isinstance(wrapper, str):
        module, _, name = wrapper.rpartition(".")
        try:
            wrapper = getattr(importlib.import_module(module), name)
        except (ImportError, AttributeError, ValueError) as error:
            raise ConfigError(
                f"processor.wrapper.class {wrapper!r} cannot be imported: {error}", hint="Give package.module.Class."
            ) from None
    instance = wrapper() if isinstance(wrapper, type) else wrapper
    for method in ("wrap_processor", "wrap_fixed_key_processor"):
        if not callable(getattr(instance, method, None)):
            raise ConfigError(
                f"the processor wrapper {instance!r} has no {method}(name, supplier)",
                hint="Subclass penstock.ProcessorWrapper.",
            )
    return instance
