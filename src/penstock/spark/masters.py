"""What a master says about where tasks run, and how many of them at a time."""

from __future__ import annotations

import re
from collections.abc import Mapping

_LOCAL_CLUSTER = re.compile(r"local-cluster\[\s*(\d+)\s*,\s*(\d+)\s*,\s*\d+\s*\]")


def is_local(master: str) -> bool:
    """True if one process is driver and executor.

    >>> is_local("local[2,4]"), is_local("local-cluster[2,1,1024]"), is_local("spark://host:7077")
    (True, False, False)
    """
    return is_one_machine(master) and not master.startswith("local-cluster")


def is_one_machine(master: str) -> bool:
    """True if driver and executors share one machine.

    >>> is_one_machine("local"), is_one_machine("local-cluster[2,1,1024]"), is_one_machine("yarn")
    (True, True, False)
    """
    return master.startswith("local")


def promised_cores(settings: Mapping[str, str]) -> int | None:
    """How many tasks run at a time once all executors are there, as far as the settings say so.

    Spark counts the executors that have come so far, and an application is laid out once, at its start.

    >>> promised_cores({"spark.master": "local-cluster[2,3,1024]"})
    6
    >>> promised_cores({"spark.master": "yarn", "spark.executor.instances": "5", "spark.executor.cores": "2"})
    10
    >>> promised_cores({"spark.master": "spark://host:7077", "spark.cores.max": "8"})
    8
    >>> promised_cores({"spark.master": "spark://host:7077"}), promised_cores({"spark.master": "local[4]"})
    (None, None)
    """
    master = settings["spark.master"]
    if (found := _LOCAL_CLUSTER.fullmatch(master)) is not None:
        return int(found[1]) * int(found[2])
    if is_local(master) or settings.get("spark.dynamicAllocation.enabled", "").lower() == "true":
        return None
    if master.startswith("spark://"):
        return _number(settings.get("spark.cores.max"))
    instances = _number(settings.get("spark.executor.instances"))
    # YARN and Kubernetes give an executor one core unless told otherwise.
    return None if instances is None else instances * (_number(settings.get("spark.executor.cores")) or 1)


def _number(text: str | None) -> int | None:
    return int(text) if text is not None and text.strip().isdigit() else None
