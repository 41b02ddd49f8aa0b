"""Connectors beside plain loops of the drivers they use: the same rows, batches and server, in turn in the same run.

python -m bench.connectors [--only jdbc_sink,jdbc_source] [--runs 5] [--rows 60000] [--save]

Tasks are driven as a worker drives them, with their converters, in one process, without Spark and Kafka: what is measured is
what the connector adds. A module of this package is a table of its own; MODULES names them.
"""

from __future__ import annotations

import argparse
from contextlib import ExitStack
from importlib import import_module
from typing import Any

from bench.connectors.measure import Measure
from bench.machine import header
from bench.report import save, spread, table
from penstock.spark.tasks.garbage import Garbage

MODULES = {
    "jdbc_sink": "JDBC sink: records in Kafka's bytes to rows; the plain loop has the rows ready and runs executemany",
    "jdbc_source": "JDBC source: rows to records in Kafka's bytes; the plain loop fetches batches and makes JSON of each row",
    "storage_sink": "Storage sink: records to files of a folder; the plain loop has the rows ready, pyarrow and orjson write them",
}


def shown(measures: list[Measure]) -> str:
    """A table of measures."""
    rows = [
        [one.name, f"{one.rows:,}", spread(one.ours_rates), spread(one.plain_rates), f"{one.ratio:.2f}"]
        for one in measures
    ]
    return table(["measure", "rows", "penstock, rows/s", "plain loop, rows/s", "ratio"], rows)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--only", default=",".join(MODULES))
    parser.add_argument("--runs", type=int, default=5)
    parser.add_argument("--rows", type=int, default=60_000)
    parser.add_argument("--save", action="store_true", help="keep the result in bench/results")
    options = parser.parse_args()
    machine = header()
    print(f"{machine}\n", flush=True)
    garbage = Garbage()  # as in the process of a task
    texts: list[str] = []
    figures: dict[str, Any] = {}
    for name in options.only.split(","):
        with ExitStack() as resources:
            measures: list[Measure] = import_module(f"bench.connectors.{name}").measures(options.rows, resources)
            for one in measures:
                for _ in range(options.runs):
                    garbage.set_aside()
                    one.run()
            texts.append(f"### {MODULES[name]}\n\n{shown(measures)}")
            figures[name] = [one.figures() for one in measures]
        print(texts[-1], "\n", flush=True)
    if options.save:
        save("connectors", machine, "\n\n".join(texts), figures)


if __name__ == "__main__":
    main()
