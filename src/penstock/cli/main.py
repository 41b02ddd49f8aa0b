"""The `penstock` command: a table of commands, each loaded when it is called."""

from __future__ import annotations

import importlib
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from penstock.errors import PenstockError

# name -> module:attribute (a Typer app for a group of commands, or a function for a single one), and its line in the help.
COMMANDS = {
    "demo": ("penstock.cli.demo:demo", "Count the words of a stream of text: Kafka, Spark and a live page."),
    "run": ("penstock.cli.run:run", "Run a topology until Ctrl-C or a failure."),
    "topology": ("penstock.cli.topology:topology", "Show a topology: nodes, topics and stores by sub-topology."),
    "reset": ("penstock.cli.reset:reset", "Let an application start over: positions, state and internal topics."),
    "connect": ("penstock.cli.connect:app", "Kafka Connect workers: standalone, or several that share the work."),
    "connectors": ("penstock.cli.connectors:app", "The connectors of a worker: list, create, pause, restart, ..."),
    "broker": ("penstock.cli.broker:app", "A local Kafka broker for development: start, stop, status."),
    "topics": ("penstock.cli.topics:app", "List, create, delete and describe topics."),
    "produce": ("penstock.cli.produce:produce", "Send records to a topic, one for each line of standard input."),
    "consume": ("penstock.cli.consume:consume", "Print the records of a topic, one a line, ordered by timestamp."),
}


class _Unloaded(TyperCommand):
    """A command as the list of commands shows it; its module is loaded when it is called."""

    def make_context(self, info_name: Any, args: Any, parent: Any = None, **extra: Any) -> Any:
        return _load(str(self.name)).make_context(info_name, args, parent, **extra)


class _LazyGroup(TyperGroup):
    """Imports a command's module when the command is asked for, so that one slow import does not slow all."""

    # Any: typer's own command classes are click's in older versions and private ones in newer.
    def list_commands(self, ctx: Any) -> list[str]:
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        if cmd_name not in COMMANDS:
            return None
        return _Unloaded(cmd_name, help=COMMANDS[cmd_name][1])


app = typer.Typer(
    cls=_LazyGroup,
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Kafka Streams and Kafka Connect for Python, executed on Spark.",
)


def main() -> None:
    """Run the command line; an error penstock foresees is one line on stderr and exit code 1."""
    try:
        app()
    except PenstockError as error:
        print(f"penstock: {error}", file=sys.stderr)
        raise SystemExit(1) from None


def _load(name: str) -> Any:
    module, _, attribute = COMMANDS[name][0].partition(":")
    target: Any = getattr(importlib.import_module(module), attribute)
    if not isinstance(target, typer.Typer):
        command, target = target, typer.Typer(add_completion=False, pretty_exceptions_enable=False)
        target.command(name)(command)
    loaded = typer.main.get_command(target)
    loaded.name = name
    return loaded


def _print_version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        print(f"penstock {version('penstock')}")
        raise typer.Exit


@app.callback()
def _options(
    *,
    version: Annotated[
        bool, typer.Option("--version", callback=_print_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    del version
