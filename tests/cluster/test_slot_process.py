"""A slot's own process ends with whoever it serves, however that ends."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.spark.resident import wait_for
from tests.spark.application import until

pytestmark = pytest.mark.slow  # each starts a process


@pytest.fixture
def parent() -> Iterator[subprocess.Popen[bytes]]:
    """In place of the daemon that forks an executor's Python workers."""
    process = subprocess.Popen([sys.executable, "-c", "input()"], stdin=subprocess.PIPE)
    yield process
    process.kill()
    process.communicate()


@pytest.fixture
def slot(parent: subprocess.Popen[bytes]) -> Iterator[tuple[subprocess.Popen[bytes], Path]]:
    """A slot's process that serves, and its socket."""
    with tempfile.TemporaryDirectory() as folder:  # pytest's own may be too long for a socket's name
        path = Path(folder, "0.sock")
        process = subprocess.Popen([sys.executable, "-m", "penstock.spark.tasks.server", str(path), str(parent.pid)])
        try:
            until(path.exists)
            yield process, path
        finally:
            process.kill()
            process.wait()


@pytest.mark.parametrize("waited_for", [True, False])
def test_it_ends_with_its_parent(
    parent: subprocess.Popen[bytes], slot: tuple[subprocess.Popen[bytes], Path], waited_for: bool
) -> None:
    process, path = slot
    parent.kill()
    if waited_for:
        parent.wait()
    assert process.wait(120) == 0
    assert not path.exists()


def test_it_ends_when_told_to(slot: tuple[subprocess.Popen[bytes], Path]) -> None:
    process, path = slot
    connection = wait_for(path, 120)
    assert connection is not None
    with connection:
        connection.send("stop")
        assert connection.recv() == "stopped"
    assert process.wait(120) == 0
