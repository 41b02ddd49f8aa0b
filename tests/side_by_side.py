"""How tests are dealt out to the sides that run at the same time (`pytest -n 3`): by file, the long ones first, so that no
side is left with a long one at the end.
"""

from __future__ import annotations

from typing import Any

import pytest

# Share what takes long to start, a server or a query over many topologies: they stay together.
TOGETHER = (
    "tests/connect/search/",
    "tests/connect/storage/test_documented_configs.py",
    "tests/connect/storage/test_hdfs.py",
    "tests/matrix/test_operators.py",
    "tests/matrix/test_operators_cached.py",
    "tests/matrix/test_recorded_cases.py",
)
# Take a minute each and share nothing: they are dealt out one by one.
ALONE = (
    "tests/chaos/test_chaos.py",
    "tests/cluster/test_on_clusters.py",
    "tests/connect/worker/test_lost_jvm.py",
    "tests/examples/test_on_spark.py",
    "tests/examples/test_with_databases.py",
)


def scope(nodeid: str) -> str:
    """What a test stays together with.

    >>> scope("tests/connect/search/test_writing.py::test_a")
    'tests/connect/search/'
    >>> scope("tests/chaos/test_chaos.py::test_a[b]")
    'tests/chaos/test_chaos.py::test_a[b]'
    >>> scope("tests/serde/test_json.py::test_a")
    'tests/serde/test_json.py'
    """
    if nodeid.startswith(ALONE):
        return nodeid
    return next((start for start in TOGETHER if nodeid.startswith(start)), nodeid.partition("::")[0])


def place(item: pytest.Item) -> int:
    """How late a test comes."""
    if item.nodeid.startswith(TOGETHER):
        return 0
    return 1 if item.get_closest_marker("slow") else 2


def scheduler(config: pytest.Config, log: Any) -> Any:
    """Deals out scopes in the order in which they were collected."""
    from xdist.scheduler import LoadScopeScheduling

    class Dealing(LoadScopeScheduling):  # type: ignore[misc]
        def _split_scope(self, nodeid: str) -> str:
            return scope(nodeid)

    return Dealing(config, log)
