"""python -m tests.differential --seed S --count N: the same random inputs through Kafka Streams and penstock."""

from __future__ import annotations

import argparse
import json
import logging
import sys
import time
from collections.abc import Callable, Iterable, Iterator
from concurrent.futures import ProcessPoolExecutor
from pathlib import Path
from typing import Any

from tests.differential import descriptions
from tests.differential.compare import Checks
from tests.differential.generate import Plan, names, requests
from tests.differential.oracle import Oracle
from tests.differential.penstock_side import answer
from tests.differential.report import Report

Request = dict[str, Any]
Answer = dict[str, Any]
_TELL_SECONDS = 10.0


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    logging.getLogger("penstock").setLevel(logging.ERROR)  # the inputs are full of records to drop
    only = tuple(filter(None, (options.only or "").split(",")))
    if options.list:
        print(*names(only), sep="\n")
        return 0
    if options.describe or options.update_snapshots:
        return 1 if descriptions.compare(names(only), update=options.update_snapshots) else 0
    asked = _asked(options, only)
    checks = Checks(options.stores, options.dropped)
    report, text = run(asked, checks, jobs=options.jobs, shrinking=options.shrink, progress=_Progress())
    print(report.table())
    print(text)
    return 1 if report.totals["differing"] else 0


def run(
    asked: list[Request],
    checks: Checks,
    *,
    jobs: int = 1,
    shrinking: bool = True,
    progress: Callable[[int, int, Report], None] = lambda *_: None,
) -> tuple[Report, str]:
    """Ask both sides, compare, and describe the differences; `progress` gets how many are done, of how many, and the report."""
    report = Report(checks)
    with Oracle() as oracle:
        answers = zip(asked, oracle.answers(asked), _answers(asked, jobs), strict=True)
        for number, (request, kafka, ours) in enumerate(answers, 1):
            report.add(request, kafka, ours)
            progress(number, len(asked), report)
        return report, report.differences(oracle.ask, answer, shrinking=shrinking)


class _Progress:
    """A line every ten seconds, to standard error: twenty thousand inputs take a quarter of an hour."""

    def __init__(self) -> None:
        self._begun = self._told = time.monotonic()

    def __call__(self, done: int, of: int, report: Report) -> None:
        now = time.monotonic()
        if now - self._told < _TELL_SECONDS:
            return
        self._told = now
        left = (now - self._begun) / done * (of - done)
        differing = report.totals["differing"]
        print(f"{done:,} of {of:,} compared, {differing} differing, {left:.0f} s left", file=sys.stderr, flush=True)


def _answers(asked: list[Request], jobs: int) -> Iterator[Answer]:
    if jobs == 1:
        yield from map(answer, asked)
        return
    with ProcessPoolExecutor(jobs) as pool:
        yield from pool.map(answer, asked, chunksize=10)


def _asked(options: argparse.Namespace, only: tuple[str, ...]) -> list[Request]:
    if options.requests is not None:
        return list(_read(options.requests))
    caching = {"on": True, "off": False, "mixed": None}[options.caching]
    return list(requests(Plan(options.seed, options.count, only, options.store, caching, options.quirks)))


def _read(path: Path) -> Iterable[Request]:
    for line in path.read_text(encoding="utf-8").splitlines():
        if line.strip():
            yield json.loads(line)


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m tests.differential", description=__doc__)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--count", type=int, default=2000, help="requests; at least one for each topology")
    parser.add_argument("--only", help="comma list of topology names or patterns such as 'ss_*'")
    parser.add_argument("--store", choices=("memory", "rocksdb"), default="rocksdb", help="Kafka's kind of store")
    parser.add_argument("--caching", choices=("on", "off", "mixed"), default="mixed")
    parser.add_argument("--jobs", type=int, default=1, help="processes for penstock's side")
    parser.add_argument(
        "--requests", type=Path, help="a file of requests, one JSON object a line, instead of random ones"
    )
    parser.add_argument("--quirks", action="store_true", help="also inputs on which Kafka itself fails")
    parser.add_argument("--no-dropped", dest="dropped", action="store_false", help="do not compare dropped records")
    parser.add_argument("--no-stores", dest="stores", action="store_false", help="do not compare the stores")
    parser.add_argument("--no-shrink", dest="shrink", action="store_false", help="show differences as found")
    parser.add_argument("--describe", action="store_true", help="compare describe() instead of results")
    parser.add_argument("--update-snapshots", action="store_true", help="write Kafka's describe() texts, then compare")
    parser.add_argument("--list", action="store_true", help="print the names of the topologies")
    return parser


if __name__ == "__main__":
    sys.exit(main())
