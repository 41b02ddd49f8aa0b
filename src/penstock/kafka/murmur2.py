"""Kafka's hash of record keys, and the partition it gives, bit for bit as the Java client computes them."""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from struct import Struct

_SEED = 0x9747B28C
_M = 0x5BD1E995
_MASK = 0xFFFFFFFF
# Little-endian words of keys up to 252 bytes; a longer key pays for its own format.
_WORDS = tuple(Struct(f"<{n}I") for n in range(64))


def murmur2(data: bytes) -> int:
    """The hash as Java's signed 32-bit int.

    >>> murmur2(b"21"), murmur2(b"foobar")
    (-973932308, -790332482)
    """
    unsigned = _murmur2(data)
    return unsigned - 0x1_0000_0000 if unsigned & 0x8000_0000 else unsigned


def partition_for(key: bytes, num_partitions: int) -> int:
    """The partition Kafka's default partitioner gives a key.

    >>> partition_for(b"foobar", 7)
    0
    """
    return _partition_function()(key, num_partitions)


def partitioner(num_partitions: int) -> Callable[[bytes], int]:
    """`partition_for` with the number of partitions fixed: what a loop over records should hold.

    >>> partition = partitioner(7)
    >>> partition(b"foobar"), partition(b"21")
    (0, 3)
    """
    if num_partitions < 1:
        raise ValueError(f"num_partitions must be at least 1, not {num_partitions}")
    hash_to_partition = _partition_function()
    return lambda key: hash_to_partition(key, num_partitions)


@cache
def _partition_function() -> Callable[[bytes, int], int]:
    # The client library exposes its C implementation from some version on: 0.1 us a key, where Python takes 1 to 3 us.
    # Found when first used, so that importing this module imports no client library.
    try:
        from confluent_kafka.cimpl import murmur2 as native
    except ImportError:
        return _python_partition
    function: Callable[[bytes, int], int] = native
    return function


def _python_partition(key: bytes, num_partitions: int) -> int:
    # Kafka's toPositive clears the sign bit; it is not abs().
    return (_murmur2(key) & 0x7FFF_FFFF) % num_partitions


def _murmur2(data: bytes) -> int:
    length = len(data)
    h = _SEED ^ length
    words = length >> 2
    if words:
        layout = _WORDS[words] if words < len(_WORDS) else Struct(f"<{words}I")
        for word in layout.unpack_from(data):
            k = word * _M & _MASK
            h = (h * _M ^ (k ^ (k >> 24)) * _M) & _MASK
    rest = length & 3
    if rest:
        h = (h ^ int.from_bytes(data[-rest:], "little")) * _M & _MASK
    h = (h ^ (h >> 13)) * _M & _MASK
    return h ^ (h >> 15)
