"""From settings and topology to what Spark runs: look at the topics, lay the tasks out, make what is missing."""

from __future__ import annotations

import uuid
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from penstock.kafka.admin import Admin
from penstock.kafka.clients import check_clients
from penstock.runtime.as_run import as_run
from penstock.runtime.checkpoint import (
    OVERRIDE,
    Remembered,
    check_kinds,
    check_numbers,
    check_unchanged,
    recall,
    remember,
    write,
)
from penstock.runtime.client_roles import client_roles, start_policy
from penstock.runtime.commit_topics import make_commit_topics, refuse_lost_checkpoint
from penstock.runtime.reset_marker import refuse_unfinished_reset
from penstock.runtime.settings import Settings
from penstock.runtime.source_topics import Topics, partition_counts, refuse_unknown_starts, require_outputs
from penstock.topology.topology import Topology

if TYPE_CHECKING:
    from penstock.spark.job import Job
    from penstock.spark.layout import Layout


def make_job(
    topology: Topology, settings: Settings, *, checkpoint: str, local: str, cores: int, restore_listener: Any = None
) -> Job:
    """An application as Spark runs it; makes its commit topics and changelogs, and state that is lost.

    Args:
        topology: What to run.
        settings: The application's settings.
        checkpoint: Folder of positions and state.
        local: Folder of local state on each node.
        cores: How many tasks Spark can run at a time.
        restore_listener: Is told how lost state is rebuilt.

    Raises:
        ConfigError: A topic or partition that is to start somewhere is not read.
        MissingSourceTopicError: A topic that is read or written does not exist.
        TopologyError: Joined topics have different numbers of partitions, or the state is another topology's.
        StreamsError: The checkpoint is lost, or a reset of it did not get to its end.
    """
    from penstock.spark.changelogs import ensure_changelogs
    from penstock.spark.fencing import fence
    from penstock.spark.job import Job, Limits
    from penstock.spark.restore import restore_lost_state

    refuse_unfinished_reset(checkpoint, settings.required("application.id"))
    topology = as_run(topology, settings)
    clients = client_roles(settings)
    admin = Admin(clients["admin"])
    before = recall(checkpoint)
    layout = _lay_out(topology, settings, admin, checkpoint, before)
    check_clients(clients["consumer"], clients["producer"])  # or each task says it, as often as Spark tries again
    positions = settings["penstock.start.offsets"] or {}
    refuse_unknown_starts(topology, layout.partitions, positions)
    slots = settings["penstock.slots"] or cores
    used = [layout.slots(level, slots) for level in range(layout.levels)] if settings.exactly_once else []
    if before is not None and before.slots not in ([], used):
        fence(clients["producer"], settings.required("application.id"), before.slots)
    now = remember(topology, layout.partitions, slots=used, before=before)
    write(checkpoint, now)  # before anything else is: without it the rest counts as what a reset left
    if settings.exactly_once:
        make_commit_topics(
            admin,
            settings.required("application.id"),
            layout.tasks,
            replication_factor=settings["replication.factor"],
            configs=_topic_configs(settings),
        )
    job = Job(
        run=uuid.uuid4().hex,
        topology=topology,
        layout=layout,
        slots=slots,
        config=settings.task_config(state_dir=local),
        kafka=clients,
        exactly_once=settings.exactly_once,
        checkpoint=checkpoint,
        local=local,
        limits=Limits(
            max_records=settings["penstock.batch.max.records"],
            max_bytes=settings["penstock.batch.max.bytes"],
            target_ms=settings["penstock.batch.target.ms"],
            interval_ms=settings["commit.interval.ms"],
        ),
        start={
            **start_policy(settings),
            "positions": positions,
            "from_group": settings["penstock.start.from.group"],
        },
        fail_on_data_loss=settings["penstock.fail.on.data.loss"],
        history=now.history,
        crash=settings["penstock.crash"],
    )
    ensure_changelogs(admin, job)
    return restore_lost_state(job, admin, restore_listener)


def require_topics(topology: Topology, settings: Settings) -> None:
    """Refuse what can be known without Spark: a Kafka that does not answer, and topics that do not exist.

    Raises:
        KafkaClientError: Kafka does not answer.
        MissingSourceTopicError: A topic that is read or written does not exist.
    """
    existing = Admin(client_roles(settings)["admin"]).topics()
    partition_counts(topology, existing)
    _require_outputs(topology, settings, existing)


def _require_outputs(topology: Topology, settings: Settings, existing: Topics) -> None:
    dead_letters = settings["errors.dead.letter.queue.topic.name"]
    require_outputs(topology, existing, [(dead_letters, "the dead letter topic")] if dead_letters else [])


def _lay_out(
    topology: Topology, settings: Settings, admin: Admin, checkpoint: str, before: Remembered | None
) -> Layout:
    """Lay the tasks out as the checkpoint knows them: repartition topics keep the partitions they started with."""
    from penstock.spark.layout import lay_out
    from penstock.spark.query_log import is_cut_off

    existing = admin.topics()
    if before is None and settings.exactly_once and settings["penstock.restore"] != "changelog":
        refuse_lost_checkpoint(admin, settings.required("application.id"), checkpoint)
    layout = lay_out(topology, partition_counts(topology, existing), {} if before is None else before.internal_topics)
    _require_outputs(topology, settings, existing)
    if before is not None:
        now = remember(topology, layout.partitions)
        check_kinds(before, now, checkpoint)
        if settings.exactly_once and is_cut_off(checkpoint):
            check_numbers(before, now, checkpoint)
        if settings[OVERRIDE] != "allow":
            check_unchanged(before, now, checkpoint)
    return layout


def new_layout(topology: Topology, admin: Admin, running: Mapping[str, int]) -> Layout | None:
    """The layout over the topics as they are now; None if nothing changed.

    Args:
        topology: The topology.
        admin: Where topics are asked.
        running: Partition counts of the layout that runs.

    Raises:
        TopologyError: The topics no longer fit the topology.
    """
    from penstock.spark.layout import lay_out

    counts = partition_counts(topology, admin.topics())
    known = {name: running[name] for name in topology.internal_topics}
    if {topic: count for topic, count in running.items() if topic not in known} == counts:
        return None
    return lay_out(topology, counts, known)


def _topic_configs(settings: Settings) -> dict[str, str]:
    prefix = "topic."
    return {key[len(prefix) :]: str(value) for key, value in _with(settings, prefix).items()}


def _with(settings: Settings, prefix: str) -> dict[str, Any]:
    return {key: value for key, value in settings.given.items() if key.startswith(prefix)}
