"""`penstock demo`: the word count, live."""

from __future__ import annotations

import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from types import FrameType
from typing import TYPE_CHECKING, Annotated

import typer

if TYPE_CHECKING:
    from penstock.demo.run import Demo

YOUR_OWN = """\
Your own program, word_count.py:

    from penstock import KafkaStreams, StreamsBuilder

    builder = StreamsBuilder()
    (
        builder.stream("lines")
        .flat_map_values(lambda line: line.lower().split())
        .group_by(lambda word: word)
        .count()
        .to_stream()
        .to("counts", value_serde="long")
    )
    KafkaStreams(builder, application_id="word-count", bootstrap_servers="localhost:9092").run()

A Kafka for it: penstock broker start. docs/quickstart.md goes on from here."""


def demo(
    seconds: Annotated[float, typer.Option(min=1, help="How long to run after the first counts.")] = 40,
    rate: Annotated[float, typer.Option(min=1, help="Lines of text a second, five times as many in bursts.")] = 200,
    plain: Annotated[bool, typer.Option("--plain", help="Lines instead of a page; so also if piped.")] = False,
    bootstrap_servers: Annotated[
        str | None,
        typer.Option(
            "--bootstrap-servers",
            "-b",
            metavar="HOST:PORT",
            help="Use this Kafka, in topics of its own that are deleted at the end.",
            show_default="a new local one",
        ),
    ] = None,
) -> None:
    """Count the words of a stream of text: Kafka, Spark and a live page.

    Starts a local Kafka, produces text, runs the word count of the README on Spark,
    and shows the counts as they arrive in the output topic. Needs Java 17.
    """
    begin = time.monotonic()
    from rich.console import Console

    from penstock.demo.displays import PlainLines, TerminalPage
    from penstock.demo.run import Demo

    console = Console()
    display = PlainLines() if plain or not console.is_terminal else TerminalPage(console, begin)
    run = Demo(seconds, rate, bootstrap_servers, display, begin)
    with _ended_by_signals(), display, suppress(KeyboardInterrupt):
        run.run()
    print(summary(run, own_broker=bootstrap_servers is None))
    sys.stdout.flush()


@contextmanager
def _ended_by_signals() -> Iterator[None]:
    """SIGTERM and a closed terminal end the demo as Ctrl-C does: in order, with nothing left behind."""

    def interrupt(number: int, frame: FrameType | None) -> None:
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in (signal.SIGTERM, signal.SIGHUP)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def summary(run: Demo, *, own_broker: bool) -> str:
    """What is said at the end."""
    stats = run.stats
    kafka = f"Kafka ran at {run.bootstrap_servers}" if own_broker else f"Kafka at {run.bootstrap_servers}"
    lines = ["", f"{kafka}; topics {run.lines} and {run.counts}, state in {run.state_dir}: all removed again."]
    if run.first_counts is None:
        return "\n".join([*lines, "Ended before the first counts."])
    counted = f"First counts {run.first_counts:.1f} s after the command; {sum(stats.counts.values()):,} words counted"
    lines.append(
        f"{counted} in {stats.lines:,} lines and {stats.batches:,} batches." if stats.batches else f"{counted}."
    )
    return "\n".join([*lines, "", YOUR_OWN])
