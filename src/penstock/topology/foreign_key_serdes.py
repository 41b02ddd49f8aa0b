"""What the two internal topics of a foreign-key join carry, and its bytes.

    subscription  keyed by foreign key:  u8 head, i32 left partition, [16 bytes hash], primary key
    response      keyed by primary key:  u8 head, i32 left partition, [16 bytes hash], [right value]

The head holds the version of the format (upper four bits), which optional parts follow, and the instruction.
"""

from __future__ import annotations

import struct
from collections.abc import Callable
from dataclasses import dataclass
from enum import IntEnum
from hashlib import blake2b
from typing import Any, NamedTuple

from penstock.errors import SerdeError
from penstock.serde import Serde, resolve_serde
from penstock.serde.messages import unreadable, unwritable
from penstock.serde.serde import CodecSerde

_HEAD = struct.Struct(">Bi")
_VERSION = 1 << 4
_VERSION_MASK = 0xF0
_HAS_HASH = 1 << 3
_HAS_VALUE = 1 << 2
_INSTRUCTION = 0b11
_HASH_SIZE = 16


class Instruction(IntEnum):
    """What the right side does with a subscription."""

    DELETE_KEY_NO_PROPAGATE = 0  # unsubscribe and say nothing: another subscription follows
    DELETE_KEY_AND_PROPAGATE = 1  # unsubscribe and answer null
    PROPAGATE_NULL_IF_NO_FK_VAL_AVAILABLE = 2  # subscribe and answer in any case
    PROPAGATE_ONLY_IF_FK_VAL_AVAILABLE = 3  # subscribe and answer if there is a right row


class Subscription(NamedTuple):
    """A left row's wish to be told of a right row.

    Attributes:
        instruction: An `Instruction`, as a number.
        value_hash: `value_hash` of the left value that asks; None if the row was deleted.
        primary_key: Key of the left row.
        partition: Partition of the left table, where the answer has to go.
    """

    instruction: int
    value_hash: bytes | None
    primary_key: Any
    partition: int


class Response(NamedTuple):
    """The right row for a left row: `value_hash` and `partition` come from the subscription."""

    value_hash: bytes | None
    value: Any
    partition: int


def value_hash(data: bytes | None) -> bytes | None:
    """128 bits that tell one left value from another, the same in every process and version.

    Kafka takes murmur3. Hashes never leave the join's own topics, which only penstock reads, so this is blake2b: in
    the standard library, faster in Python than murmur3 by far, and as unlikely to collide.
    """
    return None if data is None else blake2b(data, digest_size=_HASH_SIZE).digest()


def to_left_partition(topic: str, key: Any, response: Response, partitions: int) -> int:
    """Partitioner of the response topic: an answer goes to the partition that asked, however its key is partitioned."""
    return response.partition


@dataclass(frozen=True, slots=True)
class SubscriptionSerde(CodecSerde[Subscription]):
    """Bytes of subscriptions; a primary key serde of None is the configured default for keys."""

    primary_key_serde: Any

    @property
    def name(self) -> str:
        return "foreign-key subscription"

    def with_defaults(self, key_serde: Any, value_serde: Any) -> SubscriptionSerde:
        """This serde with the configured default in place of a serde that was not given."""
        return self if self.primary_key_serde is not None else SubscriptionSerde(key_serde)

    def encoder(self, topic: str) -> Callable[[Subscription | None], bytes | None]:
        encode_key, pack, name = _inner(self.primary_key_serde, self.name).encoder(topic), _HEAD.pack, self.name

        def write(subscription: Subscription | None) -> bytes | None:
            if subscription is None:
                return None
            instruction, left_hash, primary_key, partition = subscription
            key = encode_key(primary_key)
            if key is None:
                raise unwritable(name, subscription, topic, "its primary key is null")
            if left_hash is None:
                return pack(_VERSION | instruction, partition) + key
            return pack(_VERSION | _HAS_HASH | instruction, partition) + left_hash + key

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], Subscription | None]:
        decode_key, head, name = (
            _inner(self.primary_key_serde, self.name).decoder(topic),
            _head_reader(self.name),
            self.name,
        )

        def read(data: bytes | None) -> Subscription | None:
            if data is None:
                return None
            flags, partition, left_hash, rest = head(data, topic)
            primary_key = decode_key(rest)
            if primary_key is None:
                raise unreadable(name, data, topic, "it has no primary key")
            return Subscription(flags & _INSTRUCTION, left_hash, primary_key, partition)

        return read


@dataclass(frozen=True, slots=True)
class ResponseSerde(CodecSerde[Response]):
    """Bytes of responses; a value serde of None is the configured default for values."""

    value_serde: Any

    @property
    def name(self) -> str:
        return "foreign-key response"

    def with_defaults(self, key_serde: Any, value_serde: Any) -> ResponseSerde:
        """This serde with the configured default in place of a serde that was not given."""
        return self if self.value_serde is not None else ResponseSerde(value_serde)

    def encoder(self, topic: str) -> Callable[[Response | None], bytes | None]:
        encode_value, pack = _inner(self.value_serde, self.name).encoder(topic), _HEAD.pack

        def write(response: Response | None) -> bytes | None:
            if response is None:
                return None
            left_hash, value, partition = response
            data = encode_value(value)
            flags = _VERSION | (_HAS_HASH if left_hash is not None else 0) | (_HAS_VALUE if data is not None else 0)
            return pack(flags, partition) + (left_hash or b"") + (data or b"")

        return write

    def decoder(self, topic: str) -> Callable[[bytes | None], Response | None]:
        decode_value, head = _inner(self.value_serde, self.name).decoder(topic), _head_reader(self.name)

        def read(data: bytes | None) -> Response | None:
            if data is None:
                return None
            flags, partition, left_hash, rest = head(data, topic)
            return Response(left_hash, decode_value(rest) if flags & _HAS_VALUE else None, partition)

        return read


def _inner(serde: Any, name: str) -> Serde[Any]:
    resolved: Serde[Any] | None = resolve_serde(serde)
    if resolved is None:
        raise SerdeError(
            f"the {name} serde has no serde for what it wraps",
            hint="Give key_serde and value_serde to the tables of the join, or set default.key.serde and "
            "default.value.serde.",
        )
    return resolved


def _head_reader(name: str) -> Callable[[bytes, str], tuple[int, int, bytes | None, bytes]]:
    """Reads what both formats begin with: flags, partition, hash, and the bytes that are left."""
    unpack, size = _HEAD.unpack_from, _HEAD.size

    def read(data: bytes, topic: str) -> tuple[int, int, bytes | None, bytes]:
        if len(data) < size:
            raise unreadable(name, data, topic, f"it is shorter than its head of {size} bytes")
        flags, partition = unpack(data)
        if flags & _VERSION_MASK != _VERSION:
            raise SerdeError(
                f"a {name} in topic {topic} has the format version {flags >> 4}, this penstock reads version 1",
                hint="Finish the rolling upgrade, or reset the application and delete its internal topics.",
            )
        if not flags & _HAS_HASH:
            return flags, partition, None, data[size:]
        end = size + _HASH_SIZE
        if len(data) < end:
            raise unreadable(name, data, topic, "its hash is cut off")
        return flags, partition, data[size:end], data[end:]

    return read
