from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.kafka.murmur2 import _python_partition, murmur2, partition_for, partitioner

# Computed with the Java client: org.apache.kafka.common.utils.Utils.murmur2, and toPositive(...) % 7.
JAVA = [
    (b"", 275646681, 2),
    (b"21", -973932308, 3),
    (b"foobar", -790332482, 0),
    (b"a-little-bit-long-string", -985981536, 1),
    (b"a-little-bit-longer-string", -1486304829, 0),
    (b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8", -58897971, 3),
    (b"abc", 479470107, 4),
    (b"a", -1563381124, 5),
    (b"ab", 316155434, 0),
    (b"abcd", -1323649548, 5),
    ("é€😀".encode(), -232818566, 1),
]
COUNTDOWN = bytes(range(255, -1, -1))
JAVA_COUNTDOWN = [
    (0, 275646681),
    (37, -1295043914),
    (74, 1067935569),
    (111, 445531361),
    (148, 1585413868),
    (185, -400081827),
    (222, 1708295866),
]


@pytest.mark.parametrize(("key", "expected", "partition"), JAVA)
def test_hash_and_partition_are_javas(key: bytes, expected: int, partition: int) -> None:
    assert murmur2(key) == expected
    assert partition_for(key, 7) == partition
    assert _python_partition(key, 7) == partition


@pytest.mark.parametrize(("length", "expected"), JAVA_COUNTDOWN)
def test_bytes_above_127_count_as_unsigned(length: int, expected: int) -> None:
    assert murmur2(COUNTDOWN[:length]) == expected


def test_keys_longer_than_the_prepared_layouts() -> None:
    key = COUNTDOWN * 40
    assert partition_for(key, 1_000) == _python_partition(key, 1_000)


@given(st.binary(max_size=600), st.integers(1, 500))
def test_native_and_python_agree(key: bytes, num_partitions: int) -> None:
    expected = _python_partition(key, num_partitions)
    assert partition_for(key, num_partitions) == expected
    assert partitioner(num_partitions)(key) == expected
    assert 0 <= expected < num_partitions


def test_no_partitions_is_refused() -> None:
    with pytest.raises(ValueError, match="num_partitions must be at least 1, not 0"):
        partitioner(0)
