"""Counting what matched, and telling what did not."""

from __future__ import annotations

import json
from collections import Counter, defaultdict
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from tests.differential.compare import Checks, difference, shrink
from tests.differential.departures import departure

Request = dict[str, Any]
Answer = dict[str, Any]
Ask = Callable[[Request], Answer]


@dataclass(slots=True)
class Report:
    """Counts by topology, and the first difference of each."""

    checks: Checks
    counts: dict[str, Counter[str]] = field(default_factory=lambda: defaultdict(Counter))
    reasons: dict[str, str] = field(default_factory=dict)
    first: dict[str, tuple[Request, str]] = field(default_factory=dict)

    def add(self, request: Request, kafka: Answer, penstock: Answer) -> None:
        """Compare one pair of answers."""
        name = request["topology"]
        found = difference(kafka, penstock, self.checks)
        known = departure(request) if found else None
        self.counts[name]["matched" if found is None else "accepted" if known else "differing"] += 1
        if known:
            self.reasons[name] = known.reason
        elif found:
            self.first.setdefault(name, (request, found))

    @property
    def totals(self) -> Counter[str]:
        """The counts of all topologies together."""
        return sum(self.counts.values(), Counter())

    def table(self) -> str:
        """One line a topology."""
        lines = [f"{'topology':28} matched differing accepted"]
        for name, counts in sorted(self.counts.items()):
            lines.append(_line(name, counts) + (f"   {self.reasons[name]}" if name in self.reasons else ""))
        return "\n".join([*lines, _line("total", self.totals)])

    def differences(self, kafka: Ask, penstock: Ask, *, shrinking: bool) -> str:
        """The first difference of each topology, made small, with the request that shows it."""
        return "\n".join(
            _difference_text(name, request, found, kafka, penstock, self.checks, shrinking=shrinking)
            for name, (request, found) in sorted(self.first.items())
        )


def _line(name: str, counts: Counter[str]) -> str:
    return f"{name:28} {counts['matched']:7} {counts['differing']:9} {counts['accepted']:8}"


def _difference_text(
    name: str, request: Request, found: str, kafka: Ask, penstock: Ask, checks: Checks, *, shrinking: bool
) -> str:
    def difference_of(candidate: Request) -> str | None:
        return difference(kafka(candidate), penstock(candidate), checks)

    if shrinking and difference_of(request) is None:
        return f"\n{name}: {request['id']}\n  {found}\n  but not when asked again"
    if shrinking:
        # a smaller input must not turn a bug into an accepted departure
        request = shrink(request, lambda smaller: departure(smaller) is None and difference_of(smaller) is not None)
        found = difference_of(request) or found
    one, other = kafka(request), penstock(request)
    lines = [f"\n{name}: {request['id']}", f"  {found}"]
    lines += [
        f"  {side:9}{a['error'] or a['outputs']} {a['stores']}" for side, a in (("kafka", one), ("penstock", other))
    ]
    if other.get("traceback"):
        lines.append("  " + other["traceback"].replace("\n", "\n  "))
    return "\n".join([*lines, f"  {json.dumps(request)}"])
