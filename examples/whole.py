"""What the examples with databases share: a worker with a folder of connectors, progress, tables to look at."""

from __future__ import annotations

import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from rich.console import Console
from rich.table import Table

from tests.connect.running_worker import RunningWorker

_PATIENCE_SECONDS = 120.0
_begun = time.monotonic()
console = Console(highlight=False)


def step(text: str) -> None:
    """Says what happens now, and how much time has passed."""
    console.print(f"[dim]{time.monotonic() - _begun:5.1f} s[/dim]  {text}", soft_wrap=True)


def show(title: str, columns: Sequence[str], rows: Sequence[Sequence[Any]]) -> None:
    """Prints a table."""
    table = Table(*columns, title=title, title_justify="left")
    for row in rows:
        table.add_row(*map(str, row))
    console.print(table)


def until(what: str, check: Callable[[], Any]) -> Any:
    """Waits for something, and gives it."""
    deadline = time.monotonic() + _PATIENCE_SECONDS
    while not (found := check()):
        if time.monotonic() > deadline:
            raise TimeoutError(f"{what}: not so after {_PATIENCE_SECONDS:g} seconds")
        time.sleep(0.2)
    step(what)
    return found


def worker(folder: Path, bootstrap_servers: str, connectors: Path, environment: Mapping[str, Any]) -> RunningWorker:
    """A Connect worker, standalone, with the connectors of a folder.

    Args:
        folder: For its own files.
        bootstrap_servers: Where Kafka is.
        connectors: A folder with .properties files.
        environment: What stands for ${env:NAME} in them.
    """
    os.environ.update({name: str(value) for name, value in environment.items()})
    settings = {
        "bootstrap.servers": bootstrap_servers,
        "config.providers": "env",
        "config.providers.env.class": "org.apache.kafka.common.config.provider.EnvVarConfigProvider",
        "offset.flush.interval.ms": "1000",
    }
    return RunningWorker(folder, settings, connectors=sorted(connectors.glob("*.properties")))


def check_running(running: RunningWorker) -> bool:
    """Whether every connector runs.

    Raises:
        RuntimeError: One has failed.
    """
    for name, found in running.http.get("/connectors", params={"expand": "status"}).json().items():
        states = [found["status"]["connector"], *found["status"]["tasks"]]
        failed = next((state for state in states if state["state"] == "FAILED"), None)
        if failed is not None:
            raise RuntimeError(f"The connector {name} failed: {failed.get('trace')}")
    return True
