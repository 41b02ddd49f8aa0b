"""What came out of the connectors: the records of a topic and of files, and what is wrong with them."""

from __future__ import annotations

import collections
import json
from collections.abc import Mapping, Sequence
from pathlib import Path

import pyarrow.parquet as pq
from confluent_kafka import Consumer, TopicPartition

from penstock.broker import LocalBroker

Record = tuple[int, int, str | None]
"""A state of a row: id, version and note."""


class Topic:
    """What was committed to a topic so far.

    Attributes:
        records: In the order of each partition.
    """

    def __init__(self, broker: LocalBroker, name: str, partitions: int) -> None:
        self._consumer = Consumer({
            "bootstrap.servers": broker.bootstrap_servers, "group.id": f"{name}-reader", "isolation.level": "read_committed",
            "enable.auto.commit": False,
        })  # fmt: skip
        self._consumer.assign([TopicPartition(name, number, 0) for number in range(partitions)])
        self.records: list[Record] = []

    def read(self) -> int:
        """Read on to the end; the number of records."""
        while messages := self._consumer.consume(10_000, timeout=2):
            for message in messages:
                error = message.error()
                if error is not None:
                    raise RuntimeError(f"The topic cannot be read: {error}")
                row = json.loads(message.value() or b"null")["payload"]
                self.records.append((row["id"], row["version"], row["note"]))
        return len(self.records)

    def close(self) -> None:
        """Leave the broker."""
        self._consumer.close()


class Files:
    """The complete files of a topic.

    Args:
        folder: The topic's folder.
    """

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._counts: dict[Path, int] = {}

    def paths(self) -> list[Path]:
        """All of them."""
        return [path for path in sorted(self._folder.rglob("*")) if path.suffix in (".json", ".parquet")]

    def count(self) -> int:
        """How many records they have; a file that was seen before is not read again."""
        paths = self.paths()
        self._counts |= {path: len(_records(path)) for path in paths if path not in self._counts}
        return sum(self._counts[path] for path in paths)

    def read(self) -> list[Record]:
        """All records."""
        return [record for path in self.paths() for record in _records(path)]


def _records(path: Path) -> list[Record]:
    if path.suffix == ".parquet":
        rows = pq.read_table(path, columns=["id", "version", "note"], partitioning=None).to_pylist()
    else:
        rows = [json.loads(line) for line in path.read_text(encoding="utf-8").splitlines()]
    return [(row["id"], row["version"], row["note"]) for row in rows]


def wrong_records(records: Sequence[Record], final: Mapping[int, int]) -> list[str]:
    """What is wrong with the records of the topic.

    A state may be missing if the next one came before it was read, but never the last one; so a row that was never updated is there
    exactly once.

    Args:
        records: Those of the topic.
        final: The last version of each row.
    """
    last: dict[int, int] = {}
    twice: list[Record] = []
    for record in records:
        number, version, _ = record
        if version <= last.get(number, -1):  # the same again, or an older one behind a newer
            twice.append(record)
        last[number] = max(version, last.get(number, -1))
    missing = [number for number, version in final.items() if last.get(number) != version]
    unknown = last.keys() - final.keys()
    return _said("records come again in the topic", twice) + _said(
        "rows have not their last state in the topic", [*missing, *unknown]
    )


def wrong_files(written: Sequence[Record], records: Sequence[Record]) -> list[str]:
    """What is wrong with the records of the files, which are to be the topic's."""
    have, wanted = collections.Counter(written), collections.Counter(records)
    return _said("records are missing in the files", list((wanted - have).elements())) + _said(
        "records are too many in the files", list((have - wanted).elements())
    )


def _said(what: str, found: Sequence[object]) -> list[str]:
    return [f"{len(found)} {what}, such as {found[:3]}"] * bool(found)
