from __future__ import annotations

import os
import pty
import re
import subprocess

import pytest

from penstock.broker.ports import free_port
from tests.cli.conftest import PENSTOCK, Penstock


@pytest.mark.broker
def test_topics_from_creation_to_deletion(penstock: Penstock) -> None:
    created = penstock("topics", "create", "cli-orders", "-p", 2, "--config", "cleanup.policy=compact")
    assert created == (0, "Created topic cli-orders with 2 partitions.\n", "")
    assert penstock("produce", "cli-orders", "-k", ":", stdin="a:1\nb:2\nc:3\n").code == 0

    assert "cli-orders\t2\t1\t3\n" in penstock("topics", "list").out
    assert "__consumer_offsets" not in penstock("topics", "list").out

    described = penstock("topics", "describe", "cli-orders").out.splitlines()
    assert described[:2] == ["cli-orders: 2 partitions, 3 records", "  cleanup.policy=compact"]
    assert [line.split("\t")[0] for line in described[2:]] == ["0", "1"]
    assert sum(int(line.split("\t")[-1]) for line in described[2:]) == 3

    again = penstock("topics", "create", "cli-orders")
    assert again.code == 1
    assert again.err == "penstock: Topic 'cli-orders' exists already. See `penstock topics describe cli-orders`.\n"
    assert penstock("topics", "create", "cli-orders", "--if-not-exists").code == 0

    assert penstock("topics", "delete", "cli-orders") == (0, "Deleted 1 topic: cli-orders.\n", "")
    assert "cli-orders" not in penstock("topics", "list").out


@pytest.mark.broker
def test_a_missing_topic_suggests_the_nearest_and_deletes_nothing(penstock: Penstock) -> None:
    penstock("topics", "create", "cli-payments")
    done = penstock("topics", "delete", "cli-payments", "cli-paymnts")
    assert done.code == 1
    assert done.err == (
        "penstock: Topic 'cli-paymnts' does not exist. Did you mean 'cli-payments'? "
        "Or create it with `penstock topics create cli-paymnts`.\n"
    )
    assert "cli-payments\t" in penstock("topics", "list").out


@pytest.mark.broker
def test_what_the_broker_refuses_is_one_line(penstock: Penstock) -> None:
    done = penstock("topics", "create", "cli-bad", "-c", "retention.ms=soon")
    assert done.code == 1
    assert "Invalid value soon for configuration retention.ms" in done.err
    assert done.err.count("\n") == 1


@pytest.mark.broker
def test_a_person_gets_a_table(penstock: Penstock, environment: dict[str, str]) -> None:
    penstock("topics", "create", "cli-table", "--if-not-exists")
    main, terminal = pty.openpty()
    with subprocess.Popen([PENSTOCK, "topics", "list"], stdout=terminal, env=environment) as running:
        os.close(terminal)
        shown = b""
        while True:
            try:
                part = os.read(main, 65_536)
            except OSError:  # how Linux reports that the other side closed
                break
            if not part:
                break
            shown += part
    os.close(main)
    assert running.returncode == 0
    text = re.sub(r"\x1b\[[0-9;]*m", "", shown.decode())
    assert re.search(r"topic +partitions +replication +records", text)
    assert re.search(r"cli-table +1 +1 +0", text)


@pytest.mark.slow
def test_no_broker_is_said_within_seconds() -> None:
    address = f"127.0.0.1:{free_port()}"
    done = subprocess.run([PENSTOCK, "topics", "list", "-b", address], capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.count("\n") == 1
    assert f"No Kafka broker answers at {address} within 3 seconds" in done.stderr
    assert "`penstock broker start`" in done.stderr


@pytest.mark.slow
def test_settings_that_are_no_pairs_are_refused() -> None:
    done = subprocess.run([PENSTOCK, "topics", "list", "-X", "x"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "'x' is not KEY=VALUE" in done.stderr
