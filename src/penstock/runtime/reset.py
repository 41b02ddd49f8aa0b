"""Starting an application over: what a reset would change, and doing it."""

from __future__ import annotations

import shutil
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path

import pyarrow.fs as pafs

from penstock.errors import StreamsError
from penstock.kafka.admin import REQUEST_SECONDS, Admin, TopicSummary
from penstock.kafka.consumer_group import GroupOffset
from penstock.kafka.errors import KafkaClientError, TopicMissing
from penstock.runtime.checkpoint import FILE as APPLICATION_FILE
from penstock.runtime.checkpoint import Remembered, recall
from penstock.runtime.commit_topics import commits_group, existing_commit_topics
from penstock.runtime.internal_topics import InternalTopics, find_internal_topics
from penstock.runtime.presence import owner
from penstock.runtime.reset_marker import FOLDERS, BegunReset, begin, begun, finish
from penstock.runtime.reset_target import Held, PartitionId, ResetTarget
from penstock.spark.failures import is_transient
from penstock.spark.offsets import unpack
from penstock.spark.query_log import last_done
from penstock.state.disk.checkpoint_files import START_FILE, read_json, write_json
from penstock.state.disk.segments import filesystem
from penstock.topology.topology import Topology

# What is removed of a checkpoint, in this order; start.json is written anew. Without application.json nothing starts as
# long as there is a part of the rest.
_REMOVED = (APPLICATION_FILE, *FOLDERS, START_FILE, "running.json")


@dataclass(frozen=True, slots=True)
class PositionChange:
    """A partition and where the application will start in it.

    Attributes:
        current: Where it is now; None if nowhere.
        new: Where it will start.
        start: First offset that the partition holds.
        end: Offset behind the last one.
        wanted: What was asked for, if the partition does not hold that.
    """

    topic: str
    partition: int
    current: int | None
    new: int
    start: int
    end: int
    wanted: int | None = None

    @property
    def to_process(self) -> int:
        """How many offsets will be processed."""
        return self.end - self.new


@dataclass(frozen=True, slots=True)
class ResetPlan:
    """Everything a reset changes.

    Attributes:
        topics: Topics to delete.
        guessed: Some of them were found by their names alone, and may be another application's.
        unknown: Topics that carry the application's name and stay, since nothing known of it says that they are its own.
    """

    application_id: str
    checkpoint: str
    changes: tuple[PositionChange, ...]
    topics: tuple[str, ...]
    group: str | None
    folders: tuple[str, ...]
    local: tuple[Path, ...]
    guessed: bool = False
    unknown: tuple[str, ...] = ()


def plan_reset(
    admin: Admin,
    application_id: str,
    checkpoint: str,
    target: ResetTarget,
    *,
    local: Iterable[Path] = (),
    input_topics: Iterable[str] = (),
    internal_topics: Iterable[str] = (),
    topology: Topology | None = None,
    force: bool = False,
) -> ResetPlan:
    """Find out what a reset would change. Changes nothing.

    Args:
        admin: Kafka.
        application_id: The application.
        checkpoint: Its checkpoint.
        target: Where it is to start.
        local: Folders of its local state on this machine.
        input_topics: Topics to set positions of; all it has read, if none are given.
        internal_topics: Internal topics to delete; all its own, if none are given.
        topology: Its topology, which says what topics are its own; so does its checkpoint.
        force: Even if it seems to run.

    Raises:
        StreamsError: It runs, or a topic to delete is none of its own.
        TopicMissing: A topic does not exist.
    """
    running = owner(checkpoint)
    if running is not None and not force:
        raise StreamsError(f"the application {application_id} runs ({running})", hint="Stop it first.")
    known = admin.topics()
    unfinished = begun(checkpoint)
    current = _current(admin, application_id, checkpoint, known, unfinished)
    named = tuple(internal_topics)
    for topic in (*input_topics, *(named if unfinished is None else ())):  # one that began may have deleted some
        if topic not in known:
            raise TopicMissing(topic, known=known)
    for topic in named:
        if not topic.startswith(f"{application_id}-"):  # it would be deleted with all its records
            raise StreamsError(
                f"the topic {topic} is no internal topic of {application_id}: those begin with {application_id}-",
                hint="Without --internal-topic its own are shown.",
            )
    chosen = set(input_topics) or {topic for topic, _ in current}
    changes = _changes(admin, target, chosen, current, known)
    commits = existing_commit_topics(application_id, known)
    if named:
        internal = InternalTopics(tuple(topic for topic in named if topic in known))
    else:
        remembered = _remembered(checkpoint) if unfinished is None else unfinished.remembered
        internal = find_internal_topics(application_id, known, remembered=remembered, topology=topology)
    return ResetPlan(
        application_id,
        checkpoint,
        changes,
        tuple(sorted({topic.name for topic in commits} | set(internal.own))),
        commits_group(application_id) if commits else None,
        _existing(checkpoint),
        tuple(folder for folder in local if folder.exists()),
        internal.guessed,
        internal.unknown,
    )


def _remembered(checkpoint: str) -> Remembered | None:
    """What the checkpoint knows of the application; None if nothing."""
    try:
        remembered = recall(checkpoint)
    except (TypeError, ValueError):
        return None  # damaged: a reset removes it
    if remembered is None and read_json(checkpoint, START_FILE) is not None:
        return Remembered({}, {})  # it was reset before and did not run since: its topics are gone
    return remembered


def _current(
    admin: Admin,
    application_id: str,
    checkpoint: str,
    known: Mapping[str, TopicSummary],
    unfinished: BegunReset | None,
) -> dict[PartitionId, int]:
    """Where the application is: the checkpoint knows; without one, what it published for Kafka's tools.

    A reset that began knows best: Spark's log may be there in part, and what is published is already what it wanted.
    """
    positions = unpack(last_done(checkpoint) or {}) if unfinished is None else unfinished.positions
    if not positions:
        asked = [(t.name, p) for t in known.values() if not t.is_internal for p in range(t.partitions)]
        positions = {at: committed.offset for at, committed in admin.group_offsets(application_id, asked).items()}
    return {(t, p): offset for (t, p), offset in positions.items() if t in known and p < known[t].partitions}


def _changes(
    admin: Admin,
    target: ResetTarget,
    chosen: Iterable[str],
    current: Mapping[PartitionId, int],
    known: Mapping[str, TopicSummary],
) -> tuple[PositionChange, ...]:
    partitions = {(topic, p) for topic in chosen for p in range(known[topic].partitions)}
    everything = sorted(partitions | set(current))
    starts, ends = admin.start_offsets(everything), admin.end_offsets(everything)
    held = {at: Held(starts[at], ends[at], current.get(at)) for at in everything}
    wanted = target.choose({at: held[at] for at in sorted(partitions)}, admin)
    changes = []
    for at in everything:
        h = held[at]
        ask = wanted.get(at, h.current if h.current is not None else h.start)
        new = min(max(ask, h.start), h.end)
        changes.append(PositionChange(*at, h.current, new, h.start, h.end, None if ask == new else ask))
    return tuple(changes)


def _existing(checkpoint: str) -> tuple[str, ...]:
    fs, root = filesystem(checkpoint)
    found = fs.get_file_info([f"{root}/{name}" for name in _REMOVED])
    return tuple(info.path for info in found if info.type != pafs.FileType.NotFound)


def carry_out(plan: ResetPlan, admin: Admin) -> None:
    """Do it. What is interrupted can be repeated, and has to be: the application does not start until then."""
    current = {(c.topic, c.partition): c.current for c in plan.changes if c.current is not None}
    begin(plan.checkpoint, BegunReset(_remembered(plan.checkpoint), current))
    fs, _ = filesystem(plan.checkpoint)
    for path in plan.folders:
        _remove(fs, path)
    positions: dict[str, dict[str, int]] = {}
    for change in plan.changes:
        positions.setdefault(change.topic, {})[str(change.partition)] = change.new
    if positions:
        write_json(plan.checkpoint, START_FILE, positions)
    for folder in plan.local:
        shutil.rmtree(folder, ignore_errors=True)
    if plan.group is not None:
        admin.delete_group(plan.group)
    admin.delete_topics(plan.topics)
    publish_positions(admin, plan.application_id, {(c.topic, c.partition): GroupOffset(c.new) for c in plan.changes})
    finish(plan.checkpoint)


def _remove(fs: pafs.FileSystem, path: str) -> None:
    kind = fs.get_file_info(path).type
    if kind == pafs.FileType.Directory:
        fs.delete_dir(path)
    elif kind == pafs.FileType.File:
        fs.delete_file(path)


def publish_positions(admin: Admin, group: str, offsets: Mapping[PartitionId, GroupOffset]) -> None:
    """Commit offsets of a group, patiently: its coordinator may be on the move, or not even there yet."""
    deadline = time.monotonic() + REQUEST_SECONDS
    while True:
        try:
            admin.set_group_offsets(group, offsets)
            return
        except KafkaClientError as error:
            if not is_transient(type(error).__name__, str(error)) or time.monotonic() > deadline:
                raise
            time.sleep(0.05)
