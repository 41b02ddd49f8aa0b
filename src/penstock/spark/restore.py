"""State from changelogs: what is done at start if the checkpoint's state is gone.

Runs in the application's own process before the query starts. Each lost task is rebuilt from partition n of its changelogs
and put into the checkpoint as a snapshot, where its task finds it like any other.
"""

from __future__ import annotations

import logging
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import pyarrow.fs as pafs

from penstock.errors import ProcessorStateError
from penstock.kafka.admin import Admin
from penstock.kafka.consumer_group import GroupOffset
from penstock.spark.changelogs import Changelog, changelogs
from penstock.spark.job import Job
from penstock.spark.layout import batch_of
from penstock.spark.offsets import PartitionId, unpack
from penstock.spark.query_log import is_cut_off, last_done
from penstock.spark.task_restore import RestoreListener, TaskRestore
from penstock.state.disk.segments import filesystem

log = logging.getLogger("penstock.restore")

_OPEN_TRANSACTION_SECONDS = 120.0  # Kafka gives up a transaction after one minute, if producers do not say otherwise


@dataclass(frozen=True, slots=True)
class _Lost:
    """Tasks without state: their changelogs by task, and whether nothing at all is left."""

    tasks: dict[tuple[int, int], list[Changelog]]
    everything: bool


def restore_lost_state(job: Job, admin: Admin, listener: RestoreListener | None = None) -> Job:
    """Rebuild the state of tasks that lost it, as `penstock.restore` says.

    Args:
        job: The application.
        admin: Kafka.
        listener: Is told of each store that is rebuilt.

    Returns:
        The job to start. If the whole checkpoint is gone it starts at the offsets of its consumer group.

    Raises:
        ProcessorStateError: State is lost and cannot be rebuilt.
    """
    mode = job.config.app_configs.get("penstock.restore", "auto")
    done = last_done(job.checkpoint)
    if mode == "empty" or (mode == "auto" and done is None) or not job.topology.stores:
        return job
    if done is None:
        job = _start_from_group(job, admin)
    lost = _find_lost(job, admin, done_before=done is not None)
    if mode == "auto" and lost.everything:
        _require_changelogs(job)
    if not lost.tasks:
        return job
    if done is None:
        _require_group(job, admin)
    log.warning("%s: rebuilding the state of %d tasks from changelogs", job.application_id, len(lost.tasks))
    batch = job.start["batch"] if done is None else done["batch"]
    restore = TaskRestore(job, listener or RestoreListener())
    try:
        for (subtopology, partition), logs in sorted(lost.tasks.items()):
            ranges = _ranges(admin, logs, partition, _positions(job, admin, done))
            restore.run(subtopology, partition, ranges, after_batch=batch, replays=is_cut_off(job.checkpoint))
    finally:
        restore.close()
    return job


def _find_lost(job: Job, admin: Admin, *, done_before: bool) -> _Lost:
    fs, root = filesystem(job.checkpoint)
    files = fs.get_file_info(pafs.FileSelector(f"{root}/state", recursive=True, allow_not_found=True))
    # Also a file that was not published yet counts: the batch it belongs to is settled at start.
    kept = {file.path.split("/")[-2] for file in files if file.type == pafs.FileType.File}
    candidates: dict[tuple[int, int], list[Changelog]] = {}
    for found in changelogs(job).values():
        for partition in range(found.partitions):
            if f"{found.subtopology}_{partition}" not in kept:
                candidates.setdefault((found.subtopology, partition), []).append(found)
    asked = {(found.topic, p) for (_, p), logs in candidates.items() for found in logs}
    starts, ends = admin.start_offsets(asked), admin.end_offsets(asked)
    tasks = {
        task: logs
        for task, logs in candidates.items()
        if any(ends[found.topic, task[1]] > starts[found.topic, task[1]] for found in logs)
    }
    return _Lost(tasks, done_before and not files)


def _require_changelogs(job: Job) -> None:
    """All state is gone: without a word only if every store comes back."""
    used = {name for part in job.layout.subtopologies.values() for name in part.stores}
    kept = {name for name in used if job.topology.stores[name].kind != "custom"}  # those live in memory alone
    missing = sorted(kept - set(changelogs(job)))
    if missing:
        raise ProcessorStateError(
            f"the state of {job.application_id} is gone: {job.checkpoint}/state is missing, and these stores have no "
            f"changelog: {', '.join(missing)}",
            hint="Restore the folder from a backup. Or set penstock.restore=changelog to start those stores empty and "
            "rebuild the others, or penstock.restore=empty to start all of them empty.",
        )


def _positions(job: Job, admin: Admin, done: Mapping[str, object] | None) -> dict[PartitionId, int]:
    """How far the state goes in the topics that are changelogs themselves."""
    if done is not None:
        return unpack(dict(done))
    topics = [log.topic for log in changelogs(job).values() if log.is_source]
    asked = [(topic, p) for topic in topics for p in range(job.layout.partitions[topic])]
    return {at: found.offset for at, found in admin.group_offsets(job.application_id, asked).items()}


def _ranges(
    admin: Admin, logs: Sequence[Changelog], partition: int, positions: Mapping[PartitionId, int]
) -> list[tuple[Changelog, int, int]]:
    """From where to where each changelog is read: to its end, or as far as the state goes in a source topic."""
    starts = admin.start_offsets([(found.topic, partition) for found in logs])
    ends = {**positions, **_decided_ends(admin, [(found.topic, partition) for found in logs if not found.is_source])}
    return [
        (found, start, max(ends.get((found.topic, partition), start), start))
        for found in logs
        for start in [starts[found.topic, partition]]
    ]


def _decided_ends(admin: Admin, partitions: Sequence[PartitionId]) -> dict[PartitionId, int]:
    """The ends of partitions when no transaction is open in them any more.

    A transaction is committed before its end is written to every partition; and one of a process that died stays open
    until the broker gives it up. Reading less than everything would lose changes without a word.
    """
    deadline = time.monotonic() + _OPEN_TRANSACTION_SECONDS
    while True:
        decided, written = admin.end_offsets(partitions, committed=True), admin.end_offsets(partitions)
        open_in = [
            f"{topic}-{partition}" for (topic, partition), end in written.items() if decided[topic, partition] < end
        ]
        if not open_in:
            return decided
        if time.monotonic() > deadline:
            raise ProcessorStateError(
                f"the changelog {open_in[0]} has had an open transaction for more than {_OPEN_TRANSACTION_SECONDS:g} seconds",
                hint="Stop whatever else writes to it, and start again.",
            )
        time.sleep(0.1)


def _start_from_group(job: Job, admin: Admin) -> Job:
    """The whole checkpoint is gone: the state of the changelogs belongs to the offsets of the consumer group.

    The setting of a first start, which may still be there, does not count for topics that the group has offsets of: they
    would be read again into state that has them. Batches are counted on from the last one that Kafka has a commit of, or
    that the checkpoint has state of.
    """
    batch = max(_last_commit(job, admin), _last_state(job), 0)
    positions, read = job.start.get("positions", {}), {topic for topic, _ in _group(job, admin)}
    passed_over = sorted(positions.keys() & read)
    if passed_over:
        log.warning(
            "penstock.start.offsets does not count for %s: the checkpoint of %s is gone, and with penstock.restore=changelog "
            "the offsets of its consumer group say how far it came",
            ", ".join(passed_over), job.application_id,
        )  # fmt: skip
    left = {topic: at for topic, at in positions.items() if topic not in read}
    return replace(job, start={**job.start, "positions": left, "from_group": True, "batch": batch})


def _group(job: Job, admin: Admin) -> dict[PartitionId, GroupOffset]:
    """How far the consumer group of the application came in the topics it reads."""
    internal = job.topology.internal_topics
    asked = [(t, p) for t, count in job.layout.partitions.items() if t not in internal for p in range(count)]
    return admin.group_offsets(job.application_id, asked)


def _require_group(job: Job, admin: Admin) -> None:
    """Rebuilt state without a position would count records twice."""
    if not _group(job, admin):
        raise ProcessorStateError(
            f"the state of {job.application_id} cannot be rebuilt: its checkpoint {job.checkpoint} is gone, and the consumer "
            "group of that name has no offsets that would say how far it came",
            hint="Restore the checkpoint from a backup, or reset the application.",
        )


def _last_commit(job: Job, admin: Admin) -> int:
    topics = [job.commits_topic(s) for s in job.layout.tasks]
    existing = admin.topics()
    asked = [(t, p) for t in topics if t in existing for p in range(existing[t].partitions)]
    found = admin.group_offsets(job.commits_group, asked)
    return max((batch_of(c.offset - 1) for c in found.values()), default=-1)


def _last_state(job: Job) -> int:
    fs, root = filesystem(job.checkpoint)
    files = fs.get_file_info(pafs.FileSelector(f"{root}/state", recursive=True, allow_not_found=True))
    found = [-1]
    for file in files:
        task, number = file.path.split("/")[-2], file.base_name.partition(".")[0].partition("-")[0]
        if number.isdigit() and task.partition("_")[0].isdigit():
            found.append(batch_of(int(number)))
    return max(found)
