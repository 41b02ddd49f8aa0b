"""Random records: a few keys, times that are out of order now and then, nulls, and some headers."""

from __future__ import annotations

from collections.abc import Iterator
from random import Random
from typing import NamedTuple

from penstock.kafka.murmur2 import partition_for

KEYS = 8


class Sent(NamedTuple):
    """A record to send, and the partition it goes to."""

    partition: int
    key: bytes | None
    value: bytes | None
    timestamp: int
    headers: tuple[tuple[str, bytes], ...]


def records(kind: str, seed: str, count: int, partitions: int) -> Iterator[Sent]:
    """Random records of a kind.

    Kinds: `events` (digits; some without key or value), `rows` (digits; many deletes), `keyed` (digits, always with key
    and value), `json` (an object with a name and a number), `owners` (rows `<foreign key>|<digit>`).
    """
    random = Random(f"{kind}/{seed}")
    now = 10_000
    for _ in range(count):
        now += random.choice((0, 0, 20, 50, 100, 300)) + (4000 if random.random() < 0.02 else 0)
        late = random.choice((10, 100, 500, 1000, 3000)) if random.random() < 0.2 else 0
        key = None if kind in {"events", "rows"} and random.random() < 0.04 else f"k{random.randrange(KEYS)}".encode()
        headers = (("h", str(random.randrange(3)).encode()),) if random.random() < 0.2 else ()
        to = random.randrange(partitions) if key is None else partition_for(key, partitions)
        yield Sent(to, key, _value(random, kind), now - late, headers)


def _value(random: Random, kind: str) -> bytes | None:
    number = random.randrange(10)
    if random.random() < {"events": 0.05, "rows": 0.2, "owners": 0.2}.get(kind, 0):
        return None
    if kind == "json":
        return f'{{"name": "n{number % 3}", "number": {number}}}'.encode()
    if kind == "owners":
        return f"{random.choice(('null', *(f'k{i}' for i in range(KEYS))))}|{number}".encode()
    return str(number).encode()
