"""What cannot travel to Spark's workers: which node's functions, and why."""

from __future__ import annotations

from typing import Any

from pyspark import cloudpickle

from penstock.errors import TopologyError
from penstock.topology.topology import Topology

_HINT = (
    "A function travels to the workers with everything it refers to. Keep plain values there; open connections, files and "
    "locks in a processor's init(), which runs in the worker."
)


def cannot_travel(topology: Topology) -> TopologyError | None:
    """The error for a topology that cannot be pickled; None if something else cannot."""
    for node in topology.nodes.values():
        if (reason := _refusal(node)) is not None:
            return TopologyError(
                f"the functions of {node.name} cannot be sent to Spark's workers: {reason}",
                node=node.name,
                line=node.line,
                hint=_HINT,
            )
    for name, builder in topology.stores.items():
        if (reason := _refusal(builder)) is not None:
            return TopologyError(f"the store {name} cannot be sent to Spark's workers: {reason}", hint=_HINT)
    return None


def _refusal(part: Any) -> str | None:
    try:
        cloudpickle.dumps(part)  # type: ignore[no-untyped-call]
    except Exception as error:  # noqa: BLE001 - pickling runs code of any class
        return str(error)
    return None
