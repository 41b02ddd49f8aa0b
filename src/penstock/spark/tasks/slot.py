"""A slot: one Spark partition of a level, and the tasks it hosts in a batch, committed together.

    for each task:  bring its state to the batch's start, process, write its segment
    commit once:    all records of all its tasks, and the number of each task's batch, in one transaction
    for each task:  publish the segment

Whatever dies in between leaves either a batch that is not committed, and is done again, or one that is, and whose segment
the commit names.
"""

from __future__ import annotations

import pickle
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from penstock.kafka.ranges import OffsetRange
from penstock.spark.job import Job
from penstock.spark.layout import Pass
from penstock.spark.punctuation import may_punctuate
from penstock.spark.rows import METRICS, PLAN, RECORDS, Row, unpack
from penstock.spark.tasks.commits import Commit, committed
from penstock.spark.tasks.host import Done, TaskHost, Work, host
from penstock.spark.tasks.inputs import Inbound
from penstock.spark.tasks.outputs import SlotOutput, take_over

_seen: set[tuple[str, int, int]] = set()  # (run, level, slot) whose last batch this process hosted to its end


@dataclass(frozen=True, slots=True)
class SlotPlan:
    """What the planner decided for a slot: batch, clock and the ranges of each task.

    Attributes:
        tasks: (sub-topology, partition, ranges) of each task of the slot.
    """

    batch: int
    clock: int
    level: int
    slot: int
    tasks: tuple[tuple[int, int, tuple[OffsetRange, ...]], ...]
    globals_to: tuple[tuple[str, int, int], ...] = ()
    tick: bool = False

    def pack(self) -> Row:
        """As a row, for slots of deeper levels."""
        return {"slot": self.slot, "level": self.level, "kind": PLAN, "payload": pickle.dumps(self)}

    @staticmethod
    def unpack(payload: bytes) -> SlotPlan:
        """From a row's payload."""
        return pickle.loads(payload)  # type: ignore[no-any-return]


def run_slot(job: Job, plan: SlotPlan, inbound: Sequence[Row] = (), *, again: bool = False) -> Iterator[Row]:
    """Run a batch's pass for all tasks of a slot; its rows are for deeper levels and for the metrics.

    Args:
        job: The application.
        plan: What to do.
        inbound: Rows of upstream tasks.
        again: Spark runs this for the second time: the first attempt may have committed.
    """
    passes = {p.subtopology: p for p in job.layout.at_level(plan.level)}
    sent = _by_task(inbound)
    todo = [
        (passes[s], p, Work(plan.batch, plan.clock, ranges, sent.get((s, p), ()), plan.globals_to))
        for s, p, ranges in plan.tasks
        if s in passes
        and (sent.get((s, p)) or any(r.start < r.end for r in ranges) or (plan.tick and may_punctuate(job, s)))
    ]
    if not todo:
        return
    hosts = [host(job, pass_.subtopology, partition) for pass_, partition, _ in todo]
    before = _committed_before(job, plan, hosts, again=again) if job.exactly_once else {}
    output = SlotOutput(job, plan.level, plan.slot)
    done: list[tuple[TaskHost, Done | None, Commit | None]] = []
    try:
        for h, (pass_, _, work) in zip(hosts, todo, strict=True):
            earlier = before.get((h.subtopology, h.partition))
            if earlier is not None and earlier.sequence < h.sequence(work.batch, pass_.index):
                earlier = None
            done.append((h, _run(h, pass_, work, None if earlier else output, job), earlier))
        output.commit(
            {
                (h.subtopology, h.partition): d.commit
                or Commit(h.sequence(plan.batch, passes[h.subtopology].index), "")
                for h, d, earlier in done
                if d is not None and earlier is None
            }
        )
    except BaseException:
        output.abort()
        for h in hosts:
            h.forget()
        raise
    try:
        for h, d, earlier in done:
            if earlier is not None:
                h.adopt(earlier)
            elif d is not None:
                d.dropped = h.dropped  # with what Kafka refused
                h.publish(d.commit)
    except BaseException:
        for h in hosts:
            h.forget()
        raise
    _seen.add((job.run, plan.level, plan.slot))
    for _, d, _ in done:
        if d is not None:
            yield from d.rows
    yield _metrics([d for _, d, _ in done if d is not None])


def _run(h: TaskHost, pass_: Pass, work: Work, output: SlotOutput | None, job: Job) -> Done | None:
    if output is None and pass_.level == job.layout.levels - 1:
        return None  # committed before, and nobody downstream needs its rows
    return h.run(pass_, work, output)


def _committed_before(
    job: Job, plan: SlotPlan, hosts: Sequence[TaskHost], *, again: bool
) -> dict[tuple[int, int], Commit]:
    """What earlier attempts of this batch committed.

    Asking costs a round trip, so it is done only where there may have been an attempt: when this process takes the slot
    over from another one, or runs it again.
    """
    key = (job.run, plan.level, plan.slot)
    first = key not in _seen
    _seen.discard(key)  # until the batch is done
    # Taking over ends the transaction of whoever held the slot, so that what is read next is final.
    taken = take_over(job, plan.level, plan.slot)
    if not (first or again or taken):
        return {}
    return committed(job, [(h.subtopology, h.partition) for h in hosts])


def _by_task(rows: Sequence[Row]) -> dict[tuple[int, int], list[Inbound]]:
    found: dict[tuple[int, int], list[Inbound]] = {}
    joined: dict[tuple[int, int, str, str], list[Any]] = {}
    for row in rows:
        if row["kind"] == RECORDS:
            key = (row["subtopology"], row["partition"], row["topic"], row["source"])
            joined.setdefault(key, []).append(unpack(row["payload"]))
    for (s, p, topic, source), parts in joined.items():
        records = parts[0] if len(parts) == 1 else _concat(parts)
        found.setdefault((s, p), []).append(Inbound(topic, source, records))
    return found


def _concat(parts: list[Any]) -> Any:
    """Several blobs of one upstream task, in the order they were sent."""
    any_headers = any(part[3] is not None for part in parts)
    headers = [h for part in parts for h in (part[3] or [None] * len(part[0]))] if any_headers else None
    columns = ([x for part in parts for x in part[i]] for i in range(3))
    return (*columns, headers)


def _metrics(done: Sequence[Done]) -> Row:
    return {
        "slot": 0,
        "level": -1,
        "kind": METRICS,
        "records_in": sum(d.records_in for d in done),
        "records_out": sum(d.records_out for d in done),
        "dropped": sum(d.dropped for d in done),
        "state_rows": sum(d.state_rows for d in done),
        "state_bytes": sum(d.state_bytes for d in done),
        "segment_bytes": sum(d.segment_bytes for d in done),
        "elapsed_us": sum(d.elapsed_us for d in done),
        "tasks": len(done),
    }
