"""What the generators share: their options, and records that are sent when their time has come."""

from __future__ import annotations

import argparse
import itertools
import os
import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import NamedTuple

from penstock.kafka.admin import Admin
from penstock.kafka.producing import RecordProducer


class Generated(NamedTuple):
    """A record to send; its timestamp is also the time to send it."""

    topic: str
    key: str | None
    value: str
    timestamp: int


Generator = Callable[[int, int, float], Iterator[Generated]]  # of seed, start (ms) and records a second; endless


def generate(description: str | None, topics: Mapping[str, int], records: Generator) -> None:
    """The main function of a generator.

    Args:
        description: For `--help`.
        topics: All topics of the example with their partitions; those that do not exist are created.
        records: The same seed and start always give the same records.
    """
    given = _options(description)
    settings = {"bootstrap.servers": given.bootstrap_servers}
    admin = Admin(settings)
    for topic in topics.keys() - admin.topics().keys():
        admin.create_topic(topic, partitions=topics[topic])
    start = int(time.time() * 1000) if given.start is None else given.start
    wanted = itertools.islice(records(given.seed, start, given.rate), given.count)
    producer = RecordProducer(settings)
    try:
        print(f"sending to Kafka at {given.bootstrap_servers}; Ctrl-C ends it")
        _send(producer, wanted, None if given.at_once else start)
    except KeyboardInterrupt:
        pass
    producer.flush()


def _send(producer: RecordProducer, records: Iterable[Generated], start: int | None) -> None:
    """Send records; those of the time `start` now, later ones later. Without a start all now."""
    began = time.monotonic()
    for record in records:
        early = 0.0 if start is None else (record.timestamp - start) / 1000 - (time.monotonic() - began)
        if early > 0:
            time.sleep(early)
        key = None if record.key is None else record.key.encode()
        producer.produce(record.topic, record.value.encode(), key, timestamp=record.timestamp)


def _options(description: str | None) -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=description)
    servers = os.environ.get("PENSTOCK_BOOTSTRAP_SERVERS") or "localhost:9092"
    parser.add_argument("--bootstrap-servers", default=servers, metavar="HOST:PORT", help="Kafka (%(default)s)")
    parser.add_argument("--rate", type=float, default=20, help="records a second (%(default)s)")
    parser.add_argument("--count", type=int, help="stop after so many records")
    parser.add_argument("--seed", type=int, default=1, help="another seed gives other records (%(default)s)")
    parser.add_argument("--start", type=int, metavar="MS", help="timestamp of the first record (now)")
    parser.add_argument("--at-once", action="store_true", help="do not wait until a record's time has come")
    return parser.parse_args()
