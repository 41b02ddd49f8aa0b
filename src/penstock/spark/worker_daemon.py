"""The process that Spark forks its Python workers from, with everything a task needs imported before the first fork.

PySpark's own daemon imports nothing ahead, as a library may start threads, which do not survive a fork. Of what is
imported here only Arrow starts one, its allocator's, and that allocator is made for forks. In return a worker is ready as
soon as it is forked, which matters whenever one dies, and after each idle minute, when Spark ends the idle ones (measured
on two busy cores: a query after all workers were killed took 0.5 s instead of 3-6 s).
"""

from __future__ import annotations

import importlib
import sys


def _prefer_installed_pyspark() -> None:
    """Spark puts its zipped copy of PySpark first; that one is compiled anew in each process."""
    sys.path[:] = [entry for entry in sys.path if not entry.endswith(("pyspark.zip", "-src.zip"))]


def main() -> None:
    """Import, then serve forks until Spark closes the connection."""
    with_zips = list(sys.path)
    _prefer_installed_pyspark()
    try:
        from pyspark import daemon
    except ImportError:
        sys.path[:] = with_zips
        from pyspark import daemon

    for module in ("pandas", "pyspark.worker", "penstock.spark.warm_up_source"):
        importlib.import_module(module)
    daemon.manager()


if __name__ == "__main__":
    main()
