"""`penstock topics`: list, create, delete and describe topics."""

from __future__ import annotations

import sys
from collections.abc import Iterable
from typing import TYPE_CHECKING, Annotated

import typer

from penstock.cli.connection import (
    DEFAULT,
    REACHABLE_SECONDS,
    BootstrapServers,
    ClientSettings,
    connection_settings,
    key_values,
)
from penstock.cli.errors import clean_end
from penstock.cli.tables import count, print_rows
from penstock.kafka.errors import TopicExists

if TYPE_CHECKING:
    from penstock.kafka.admin import Admin, TopicDescription

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="List, create, delete and describe topics.",
)


@app.command("list")
def list_topics(
    internal: Annotated[bool, typer.Option("--internal", help="Show Kafka's own topics, too.")] = False,
    bootstrap_servers: BootstrapServers = DEFAULT,
    setting: ClientSettings = None,
) -> None:
    """List topics with their partitions and records.

    Piped, it prints lines with tabs: name, partitions, replication, records.

    \b
    Examples:
      penstock topics list
      penstock topics list | cut -f1
    """  # noqa: D301 - \b keeps the examples' lines
    with clean_end():
        admin = _admin(bootstrap_servers, setting)
        topics = [topic for topic in admin.topics().values() if internal or not topic.is_internal]
        partitions = [(topic.name, partition) for topic in topics for partition in range(topic.partitions)]
        starts, ends = admin.start_offsets(partitions), admin.end_offsets(partitions)
        records = dict.fromkeys((topic.name for topic in topics), 0)
        for name, partition in partitions:
            records[name] += ends[name, partition] - starts[name, partition]
        rows = [(t.name, t.partitions, t.replication_factor, records[t.name]) for t in topics]
        if not rows:
            print("No topics. `penstock topics create NAME` makes one.", file=sys.stderr)
            return
        print_rows(("topic", "partitions", "replication", "records"), rows)


@app.command()
def create(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Its name.")],
    partitions: Annotated[int, typer.Option("--partitions", "-p", min=1, help="How many partitions.")] = 1,
    replication_factor: Annotated[
        int | None, typer.Option(min=1, help="Copies of each partition.", show_default="the broker's default")
    ] = None,
    config: Annotated[
        list[str] | None,
        typer.Option("--config", "-c", metavar="KEY=VALUE", help="A topic setting. May be repeated."),
    ] = None,
    if_not_exists: Annotated[bool, typer.Option("--if-not-exists", help="Be content if it is there already.")] = False,
    bootstrap_servers: BootstrapServers = DEFAULT,
    setting: ClientSettings = None,
) -> None:
    """Create a topic.

    \b
    Examples:
      penstock topics create orders --partitions 4
      penstock topics create prices -p 4 --config cleanup.policy=compact
    """  # noqa: D301 - \b keeps the examples' lines
    with clean_end():
        admin = _admin(bootstrap_servers, setting)
        try:
            admin.create_topic(
                topic,
                partitions=partitions,
                replication_factor=-1 if replication_factor is None else replication_factor,
                configs=key_values(config, "--config"),
            )
        except TopicExists:
            if not if_not_exists:
                raise
            print(f"Topic {topic} exists already.")
        else:
            print(f"Created topic {topic} with {count(partitions, 'partition')}.")


@app.command()
def delete(
    topics: Annotated[list[str], typer.Argument(metavar="TOPIC...", help="One or more topics.")],
    bootstrap_servers: BootstrapServers = DEFAULT,
    setting: ClientSettings = None,
) -> None:
    """Delete topics with all their records; none, if one does not exist.

    \b
    Examples:
      penstock topics delete orders prices
    """  # noqa: D301 - \b keeps the examples' lines
    with clean_end():
        _admin(bootstrap_servers, setting).delete_topics(topics)
        print(f"Deleted {count(len(topics), 'topic')}: {', '.join(topics)}.")


@app.command()
def describe(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Its name.")],
    bootstrap_servers: BootstrapServers = DEFAULT,
    setting: ClientSettings = None,
) -> None:
    """Show a topic's partitions, offsets and settings.

    "records" counts offsets; after compaction or with transactions some of
    them hold no record.

    \b
    Examples:
      penstock topics describe orders
    """  # noqa: D301 - \b keeps the examples' lines
    with clean_end():
        found = _admin(bootstrap_servers, setting).describe_topic(topic)
        print(f"{found.name}: {count(len(found.partitions), 'partition')}, {count(found.offsets, 'record')}")
        for key, value in found.configs.items():
            print(f"  {key}={value}")
        print_rows(
            ("partition", "leader", "replicas", "in sync", "first offset", "end offset", "records"), _rows(found)
        )


def _rows(topic: TopicDescription) -> list[tuple[object, ...]]:
    return [
        (p.partition, p.leader, _numbers(p.replicas), _numbers(p.in_sync), p.start, p.end, p.offsets)
        for p in topic.partitions
    ]


def _admin(bootstrap_servers: str, setting: list[str] | None) -> Admin:
    from penstock.kafka.admin import Admin  # `penstock --help` loads this module, but needs no Kafka client

    return Admin(connection_settings(bootstrap_servers, setting), reachable_seconds=REACHABLE_SECONDS)


def _numbers(ids: Iterable[int]) -> str:
    return ",".join(map(str, ids))
