"""Cutting a case's input into phases that Spark processes in the order of the case.

A task takes the records of a batch by head timestamp. Where the case has another order between its topics, the rest goes
into a later batch; every phase is waited for before the next one is sent.
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import replace

from tests.cases.case import Case
from tests.cases.judge import Outcome, Row
from tests.cases.play import FLUSHED_ONCE
from tests.matrix.reference import Record, merged

Input = tuple[str, object, object, int]


def is_cached(case: Case) -> bool:
    """Whether the case was recorded with caches: they are flushed once at its end, or after each input."""
    return FLUSHED_ONCE in case.topology or _flushed_each_time(case)


def _flushed_each_time(case: Case) -> bool:
    return "caching on" in case.topology


def phases(case: Case) -> list[int]:
    """The number of inputs sent at the end of each phase."""
    if FLUSHED_ONCE in case.topology:
        return [len(case.inputs)]
    if case.order == "per_step_map" or "fk =" in case.topology or _flushed_each_time(case):
        # Answers of a foreign-key join come after everything else of a batch: one record at a time.
        return list(range(1, len(case.inputs) + 1))
    ends = []
    start = 0
    for end in range(1, len(case.inputs) + 1):
        if not _in_order(case, case.inputs[start:end]):
            ends.append(end - 1)
            start = end - 1
    return [*ends, len(case.inputs)]


def _in_order(case: Case, inputs: Sequence[Input]) -> bool:
    everybody = [f"globalTable({topic})" in case.topology for topic, *_ in inputs]
    if any(later and not earlier for earlier, later in itertools.pairwise(everybody)):
        return False  # a global table is brought up to date before the batch
    topics = sorted({topic for topic, *_ in inputs})
    numbered = list(enumerate(inputs))
    lanes = [
        (topic, [Record(None, str(i).encode(), given[3]) for i, given in numbered if given[0] == topic])
        for topic in topics
    ]
    order = [int(record.value or b"") for _, record in merged(lanes)]
    return order == list(range(len(inputs)))


def judged(case: Case, ends: Sequence[int], rows: Sequence[Sequence[Row]]) -> tuple[Case, Outcome]:
    """The case and its outcome by phases: what a phase gave counts for its last input."""
    outcome = Outcome([[] for _ in case.inputs], [0] * len(case.inputs))
    for end, found in zip(ends, rows, strict=True):
        outcome.outputs[end - 1] = list(found)
    # Drops are counted for the whole application only.
    return replace(case, steps=_steps(case, ends), dropped=None, dropped_total=None), outcome


def _steps(case: Case, ends: Sequence[int]) -> tuple[tuple[int, int], ...]:
    """The steps of a case as far as phases show them."""
    steps = []
    count = 0
    for end, more in case.steps:
        count += more
        if end in ends:
            steps.append((end, count))
            count = 0
    return tuple(steps)
