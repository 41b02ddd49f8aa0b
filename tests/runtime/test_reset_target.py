from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import pytest

from penstock.errors import ConfigError, StreamsError
from penstock.runtime.reset_target import Held, PartitionId, ResetTarget, read_positions

HELD = {("a", 0): Held(10, 20, 15), ("a", 1): Held(0, 5, None)}


class Kafka:
    """Offset n of partition 0 has timestamp n * 100; partition 1 holds nothing that young."""

    def offsets_for_time(self, partitions: Sequence[PartitionId], timestamp: int) -> dict[PartitionId, int]:
        self.asked = timestamp
        return {(t, p): timestamp // 100 if p == 0 else -1 for t, p in partitions}


@pytest.mark.parametrize(
    ("target", "chosen"),
    [
        (ResetTarget(), [10, 0]),
        (ResetTarget("latest"), [20, 5]),
        (ResetTarget("offset", 12), [12, 12]),
        (ResetTarget("time", 1200), [12, 5]),
        (ResetTarget("positions", positions={("a", 0): 11, ("a", 1): 3}), [11, 3]),
    ],
)
def test_where_partitions_go(target: ResetTarget, chosen: list[int]) -> None:
    assert list(target.choose(HELD, Kafka()).values()) == chosen


def test_a_shift_is_from_where_the_application_is() -> None:
    assert ResetTarget("shift", -4).choose({("a", 0): HELD["a", 0]}, Kafka()) == {("a", 0): 11}
    with pytest.raises(StreamsError, match="has no position in partition 1 of topic a yet"):
        ResetTarget("shift", -4).choose(HELD, Kafka())


def test_a_duration_is_back_from_now() -> None:
    kafka = Kafka()
    ResetTarget("duration", 0).choose(HELD, kafka)
    now = kafka.asked
    ResetTarget("duration", 3_600_000).choose(HELD, kafka)
    assert 0 <= kafka.asked - (now - 3_600_000) < 10_000


def test_a_file_moves_what_it_lists_and_nothing_it_cannot() -> None:
    held = {("a", 0): HELD["a", 0], ("b", 0): Held(0, 9, 7)}
    assert ResetTarget("positions", positions={("a", 0): 11}).choose(held, Kafka()) == {("a", 0): 11, ("b", 0): 7}
    with pytest.raises(ConfigError) as raised:
        ResetTarget("positions", positions={("c", 0): 11}).choose(held, Kafka())
    assert str(raised.value) == (
        "partition 0 of topic c is in the file, but the application does not read it. It reads a, b."
    )


@pytest.mark.parametrize(
    ("name", "text"),
    [
        ("p.csv", "orders,0,170\n# a comment\n\nprices, 1, 3\n"),
        ("p.json", '{"orders": {"0": 170}, "prices": {"1": 3}}'),
    ],
)
def test_files_of_positions(tmp_path: Path, name: str, text: str) -> None:
    (tmp_path / name).write_text(text)
    assert read_positions(tmp_path / name) == {("orders", 0): 170, ("prices", 1): 3}


@pytest.mark.parametrize(
    ("name", "text", "error"),
    [
        ("p.csv", "orders,0,170\norders,1\n", "line 2 of {path} is 'orders,1'. Write topic,partition,offset"),
        ("p.csv", "orders,first,170\n", "line 1 of {path} is 'orders,first,170'"),
        ("p.json", "[1]", "{path} is not JSON of positions: "),
    ],
)
def test_files_that_cannot_be_used(tmp_path: Path, name: str, text: str, error: str) -> None:
    (tmp_path / name).write_text(text)
    with pytest.raises(ConfigError) as raised:
        read_positions(tmp_path / name)
    assert str(raised.value).startswith(error.format(path=tmp_path / name))
    with pytest.raises(ConfigError, match=r"cannot be read: No such file or directory. Give a text file with lines of"):
        read_positions(tmp_path / "none")
    (tmp_path / name).write_bytes(b"caf\xe9,0,1")
    with pytest.raises(ConfigError) as raised:
        read_positions(tmp_path / name)
    assert str(raised.value) == (
        f"the file {tmp_path / name} is not UTF-8. Give a text file with lines of topic,partition,offset, or JSON."
    )
