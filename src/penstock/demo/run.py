"""The demo from start to end: Kafka, text, the application on Spark, and the counts read back."""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, Protocol

from penstock.demo.counts import CountsReader
from penstock.demo.stats import DemoStats, Rate, processed
from penstock.demo.text import TextSource
from penstock.demo.word_count import word_count
from penstock.kafka.admin import Admin

if TYPE_CHECKING:
    from penstock.runtime.application import KafkaStreams

PARTITIONS = 2
_LOOK_MS = 500
_DRAIN_SECONDS = 15.0


class Display(Protocol):
    """Where the demo shows itself."""

    def show(self, stats: DemoStats) -> None:
        """Show a moment."""


@dataclass(slots=True)
class Demo:
    """One run of the demo.

    Args:
        seconds: How long to go on after the first counts.
        rate: Lines a second, between bursts.
        bootstrap_servers: A Kafka to use; None starts one.
        display: Where to show it.
        begin: When the command was called, by `time.monotonic`.
    """

    seconds: float
    rate: float
    bootstrap_servers: str | None
    display: Display
    begin: float
    application_id: str = f"penstock-demo-{os.getpid()}"
    state_dir: str = ""
    first_counts: float | None = None
    stats: DemoStats = field(default_factory=DemoStats)

    @property
    def lines(self) -> str:
        """The topic of text."""
        return f"{self.application_id}-lines"

    @property
    def counts(self) -> str:
        """The topic of counts."""
        return f"{self.application_id}-counts"

    def run(self) -> None:
        """Run to the end; whatever happens, nothing stays behind."""
        with ExitStack() as at_end:
            self.state_dir = at_end.enter_context(tempfile.TemporaryDirectory(prefix="penstock-demo-"))
            try:
                self._run(at_end)
            finally:
                self._step("stopping")

    def _run(self, at_end: ExitStack) -> None:
        streams = self._prepare(at_end)
        text = TextSource(self._clients(), self.lines, self.rate)
        at_end.callback(text.stop)
        text.start()
        streams.start(progress=self._step)
        counts = CountsReader(self._clients(), self.counts, PARTITIONS)
        at_end.callback(counts.stop)
        counts.start()
        self._step("waiting for the first counts")
        self._watch(streams, text, counts)

    def _prepare(self, at_end: ExitStack) -> KafkaStreams:
        """A Kafka with the topics, and an application whose Spark is starting meanwhile."""
        if self.bootstrap_servers is not None:
            self._create_topics(at_end)
            self._step("starting Spark")
            return self._streams(at_end)

        from penstock.broker import LocalBroker
        from penstock.broker.ports import free_port

        # The port is chosen before the start, so that Spark and Kafka can start side by side.
        broker = LocalBroker(port=free_port())
        at_end.callback(broker.close)
        self.bootstrap_servers = broker.bootstrap_servers
        self._step("starting Kafka and Spark")
        streams = self._streams(at_end)
        broker.start()
        for topic in (self.lines, self.counts):
            Admin(self._clients()).create_topic(topic, partitions=PARTITIONS)
        return streams

    def _create_topics(self, at_end: ExitStack) -> None:
        admin = Admin(self._clients())

        def remove() -> None:
            # The application's internal topics carry its id, too.
            admin.delete_topics([name for name in admin.topics() if name.startswith(self.application_id)])
            admin.delete_group(self.application_id)

        at_end.callback(remove)
        for topic in (self.lines, self.counts):
            admin.create_topic(topic, partitions=PARTITIONS)

    def _streams(self, at_end: ExitStack) -> KafkaStreams:
        from penstock import KafkaStreams

        streams = KafkaStreams(
            word_count(self.lines, self.counts),
            application_id=self.application_id,
            bootstrap_servers=self.bootstrap_servers,
            state_dir=self.state_dir,
        )
        at_end.callback(streams.close)
        return streams

    def _watch(self, streams: KafkaStreams, text: TextSource, counts: CountsReader) -> None:
        rate = Rate()

        def look(step: str) -> None:
            if text.failure is not None:
                raise text.failure
            if counts.first is not None and self.first_counts is None:
                self.first_counts = counts.first - self.begin
            self._look(step, streams, text, counts, rate)

        def until(is_done: Callable[[], bool], step: str) -> None:
            while not is_done():
                streams.wait(_LOOK_MS)  # raises what ends the application
                look(step)

        until(lambda: counts.first is not None, "waiting for the first counts")
        end = time.monotonic() + self.seconds
        until(lambda: time.monotonic() >= end, "running, Ctrl-C ends it")
        text.stop()
        patience = time.monotonic() + _DRAIN_SECONDS
        until(lambda: self.stats.behind == 0 or time.monotonic() >= patience, "processing what is left")

    def _look(self, step: str, streams: KafkaStreams, text: TextSource, counts: CountsReader, rate: Rate) -> None:
        metrics = streams.metrics
        lines = processed(metrics, self.lines)
        now = time.monotonic()
        self.stats = DemoStats(
            seconds=now - self.begin,
            step=step,
            lines=lines,
            lines_per_second=rate.update(now, lines),
            behind=max(0, text.sent - lines),
            counts=counts.counts(),
            updates=counts.updates,
            batches=metrics.get("batch", -1) + 1,
            batch_ms=metrics.get("batch-duration-ms", 0),
            state_rows=metrics.get("state-rows", 0),
            state_bytes=metrics.get("state-bytes", 0),
        )
        self.display.show(self.stats)

    def _step(self, text: str) -> None:
        self.stats = replace(self.stats, seconds=time.monotonic() - self.begin, step=text)
        self.display.show(self.stats)

    def _clients(self) -> dict[str, str]:
        assert self.bootstrap_servers is not None
        return {"bootstrap.servers": self.bootstrap_servers}
