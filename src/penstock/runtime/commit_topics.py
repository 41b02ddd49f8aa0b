"""The topics whose group offsets carry the committed batch of each task; nothing is ever written to them."""

from __future__ import annotations

from collections.abc import Mapping

from penstock.errors import StreamsError
from penstock.kafka.admin import Admin, TopicSummary, partitions_of
from penstock.kafka.errors import TopicExists


def commits_topic(application_id: str, subtopology: int) -> str:
    """Name of a sub-topology's topic."""
    return f"{application_id}-commits-{subtopology}"


def commits_group(application_id: str) -> str:
    """The consumer group of those offsets."""
    return f"{application_id}-commits"


def existing_commit_topics(application_id: str, topics: Mapping[str, TopicSummary]) -> list[TopicSummary]:
    """Those of an application that are there."""
    prefix = f"{application_id}-commits-"
    return [topic for name, topic in topics.items() if name.startswith(prefix) and name[len(prefix) :].isdigit()]


def make_commit_topics(
    admin: Admin,
    application_id: str,
    tasks: Mapping[int, int],
    *,
    replication_factor: int = -1,
    configs: Mapping[str, str] | None = None,
) -> None:
    """Create what is missing, and grow what has fewer partitions than its sub-topology has tasks."""
    known = admin.topics()
    for subtopology, count in tasks.items():
        name = commits_topic(application_id, subtopology)
        if name not in known:
            try:
                admin.create_topic(
                    name, partitions=count, replication_factor=replication_factor, configs=dict(configs or {})
                )
            except TopicExists:
                pass  # another start of the same application was faster
        elif known[name].partitions < count:
            admin.add_partitions(name, count)


def refuse_lost_checkpoint(admin: Admin, application_id: str, checkpoint: str) -> None:
    """Refuse a new checkpoint while Kafka has commits of an earlier one: their batches would count as done already.

    Raises:
        StreamsError: There are such commits.
    """
    topics = existing_commit_topics(application_id, admin.topics())
    partitions = [partition for topic in topics for partition in partitions_of(topic)]
    if admin.group_offsets(commits_group(application_id), partitions):
        raise StreamsError(
            f"the checkpoint {checkpoint} is new, but Kafka has commits of {application_id} from an earlier one",
            hint="Set penstock.checkpoint to the folder of the earlier one, or start over with "
            f"`penstock reset --application-id {application_id} --execute`.",
        )
