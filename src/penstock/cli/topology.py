"""`penstock topology`: show what a topology is made of."""

from __future__ import annotations

import sys
from enum import Enum
from pathlib import Path
from typing import Annotated, Optional

import typer

from penstock.cli.errors import InputError, clean_end
from penstock.cli.run import Config, Given, Target, application_settings


class Format(str, Enum):
    """How it is shown."""

    text = "text"
    mermaid = "mermaid"
    json = "json"
    svg = "svg"


def topology(
    target: Target,
    format_: Annotated[Format, typer.Option("--format", "-f", help="Kafka's text, or another form.")] = Format.text,
    output: Annotated[
        Optional[Path],  # noqa: UP045 - typer evaluates the annotation
        typer.Option("--output", "-o", metavar="FILE", help="Write to a file instead of the terminal."),
    ] = None,
    config: Config = None,
    setting: Given = None,
) -> None:
    """Show a topology as it runs: nodes, topics and stores by sub-topology.

    Settings count where they change it (topology.optimization, for example).
    A node whose name ends in -combine sends one partial aggregate a key and
    batch instead of every record; Kafka Streams has no such node.
    Neither Kafka nor Spark is needed.

    \b
    Examples:
      penstock topology word_count:topology
      penstock topology word_count:topology --format svg -o word-count.svg
      penstock topology word_count.py -X topology.optimization=all --format mermaid
    """  # noqa: D301 - \b keeps the examples' lines
    from penstock.cli.topology_svg import topology_svg
    from penstock.runtime.as_run import as_run
    from penstock.runtime.settings import Settings
    from penstock.runtime.topology_target import load_topology

    with clean_end():
        settings = Settings(application_settings(config, None, None, setting))
        description = as_run(load_topology(target, settings), settings).describe()
        if format_ is Format.svg:
            text = topology_svg(description)
        elif format_ is Format.mermaid:
            text = description.to_mermaid()
        else:
            text = description.to_json() if format_ is Format.json else str(description)
        if output is None:
            sys.stdout.write(text if text.endswith("\n") else f"{text}\n")
        else:
            try:
                output.write_text(text, encoding="utf-8")
            except OSError as error:
                raise InputError(
                    f"{output} cannot be written: {error.strerror}",
                    hint="Give the name of a file in a folder that exists.",
                ) from error
            print(f"Wrote {output}.", file=sys.stderr)
