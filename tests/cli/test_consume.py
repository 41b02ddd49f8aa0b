from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from tests.cli.conftest import PENSTOCK, Penstock

pytestmark = pytest.mark.broker
TopicFactory = Callable[..., str]


def lines(*records: dict[str, object]) -> str:
    return "".join(json.dumps(record) + "\n" for record in records)


def test_columns_come_as_asked_for(penstock: Penstock, topic: TopicFactory) -> None:
    name = topic()
    record = {"key": "k", "value": "v", "timestamp": 1704164645678, "headers": {"a": "1", "b": None}}
    penstock("produce", name, "--json", stdin=lines(record, {"value": None, "timestamp": 1704164645679}))
    assert penstock("consume", name) == (0, "v\nnull\n", "")
    assert penstock("consume", name, "--key").out == "k\tv\nnull\tnull\n"
    assert penstock("consume", name, "--key", "--timestamp", "--headers").out == (
        "2024-01-02T03:04:05.678Z\ta=1,b=null\tk\tv\n2024-01-02T03:04:05.679Z\t\tnull\tnull\n"
    )
    assert penstock("consume", name, "--json", "--max", 1).out == (
        f'{{"topic":"{name}","partition":0,"offset":0,"timestamp":1704164645678,"key":"k","value":"v",'
        '"headers":[["a","1"],["b",null]]}\n'
    )


def test_partitions_are_merged_by_time_and_can_be_chosen(penstock: Penstock, topic: TopicFactory) -> None:
    name = topic(partitions=3)
    records = [{"value": f"{t}@{t % 3}", "timestamp": 1_000 + t, "partition": t % 3} for t in range(9)]
    penstock("produce", name, "--json", stdin=lines(*records))
    assert penstock("consume", name).out.split() == [f"{t}@{t % 3}" for t in range(9)]
    assert penstock("consume", name, "--max", 4).out.split() == ["0@0", "1@1", "2@2", "3@0"]
    assert penstock("consume", name, "-p", 2, "-p", 0, "-p", 2).out.split() == [
        "0@0",
        "2@2",
        "3@0",
        "5@2",
        "6@0",
        "8@2",
    ]
    missing = penstock("consume", name, "-p", 3)
    assert (missing.code, missing.err) == (
        1,
        f"penstock: Topic '{name}' has no partition 3. See `penstock topics describe {name}`.\n",
    )


def test_formats_and_what_does_not_have_them(penstock: Penstock, topic: TopicFactory) -> None:
    name = topic()
    penstock("produce", name, "-k", "=", "--key-format", "int", "--value-format", "long", stdin="1=10\n2=-20\n")
    penstock("produce", name, stdin="text\n")
    assert penstock("consume", name, "--value-format", "hex", "--max", 1).out == "000000000000000a\n"
    done = penstock("consume", name, "--key", "--key-format", "int", "--value-format", "long")
    assert done.out == "1\t10\n2\t-20\n"
    assert (done.code, done.err) == (
        1,
        f"penstock: The value in {name}-0 at offset 2 is 4 bytes, where a long has 8. Try --value-format hex to see it.\n",
    )


def test_an_empty_topic_ends_at_once_and_a_missing_one_is_named(penstock: Penstock, topic: TopicFactory) -> None:
    name = topic()
    assert penstock("consume", name) == (0, "", "")
    missing = penstock("consume", f"{name}x")
    assert missing.code == 1
    assert f"Did you mean '{name}'?" in missing.err


def test_a_reader_that_leaves_is_no_error(penstock: Penstock, topic: TopicFactory, environment: dict[str, str]) -> None:
    name = topic()
    penstock("produce", name, stdin="".join(f"line {i}\n" for i in range(50_000)))
    with subprocess.Popen(
        [PENSTOCK, "consume", name], stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment
    ) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == b"line 0\n"
        running.stdout.close()
        assert running.stderr.read() == b""
    assert running.returncode == 0


def test_following_shows_new_records_until_it_is_interrupted(
    penstock: Penstock, topic: TopicFactory, environment: dict[str, str]
) -> None:
    name = topic()
    penstock("produce", name, stdin="before\n")
    command: list[str | Path] = [PENSTOCK, "consume", name, "--follow", "--from-beginning"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, env=environment) as running:
        assert running.stdout is not None
        assert running.stderr is not None
        assert running.stdout.readline() == b"before\n"
        penstock("produce", name, stdin="after\n")
        assert running.stdout.readline() == b"after\n"
        running.send_signal(signal.SIGINT)
        assert running.stderr.read() == b""
        assert running.stdout.read() == b""
    assert running.returncode == 130


def test_following_starts_at_the_end_and_stops_at_the_limit(
    penstock: Penstock, topic: TopicFactory, environment: dict[str, str]
) -> None:
    name = topic()
    penstock("produce", name, stdin="old\n")
    command: list[str | Path] = [PENSTOCK, "consume", name, "--follow", "--max", "2"]
    with subprocess.Popen(command, stdout=subprocess.PIPE, env=environment) as running:
        # Records go on until the reader, which starts at an end that moves, has seen two of them.
        while running.poll() is None:
            penstock("produce", name, stdin="new\n")
        assert running.stdout is not None
        assert running.stdout.read() == b"new\nnew\n"
    assert running.returncode == 0
