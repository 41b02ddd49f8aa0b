"""`penstock broker`: a local Kafka in the background."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated, Optional

import typer

from penstock.broker import background

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="A local Kafka broker for development: start, stop, status.",
)

Data = Annotated[
    Optional[Path],  # noqa: UP045 - typer evaluates the annotation
    typer.Option("--data", help="Folder for topics and logs.", show_default="penstock/broker in your data folder"),
]


@app.command()
def start(
    port: Annotated[int, typer.Option(min=1, max=65535, help="TCP port on this machine.")] = 9092,
    data: Data = None,
    heap: Annotated[str, typer.Option(help="Java's memory limit.")] = "512m",
    timeout: Annotated[float, typer.Option(min=1, help="Seconds to wait until it answers.")] = 60,
) -> None:
    """Start a single-node Kafka in the background; the first start fetches 44 MB of jars."""
    print("Starting Kafka ...", file=sys.stderr)
    running = background.start(_folder(data), port=port, heap=heap, timeout=timeout)
    print(f"Kafka answers at {running.bootstrap_servers} (process {running.pid}, data in {running.folder})")


@app.command()
def stop(
    data: Data = None,
    delete: Annotated[bool, typer.Option("--delete", help="Delete its topics, too.")] = False,
) -> None:
    """Stop the background Kafka; its topics stay for the next start."""
    stopped = background.stop(_folder(data), delete=delete)
    kept = "deleted" if delete else "kept"
    print(f"Kafka at {stopped.bootstrap_servers} stopped, data in {stopped.folder} {kept}")


@app.command()
def status(
    data: Data = None,
    timeout: Annotated[float, typer.Option(min=0.1, help="Seconds to wait for an answer.")] = 5,
) -> None:
    """Ask the background Kafka whether it is there."""
    running = background.status(_folder(data), timeout=timeout)
    print(f"Kafka answers at {running.bootstrap_servers} (process {running.pid}, data in {running.folder})")


def _folder(data: Path | None) -> Path:
    return (data or background.default_folder()).expanduser().absolute()
