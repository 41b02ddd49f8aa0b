"""The worker under attack: `python -m tests.chaos.connect_app BROKERS STATE IN OUT TOPIC`. A file source and a file sink."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.connect.connectors import line_file
from penstock.connect.runner import ConnectorRunner

FILE = "org.apache.kafka.connect.file.FileStream"


class Printing:
    """Tells states on stderr."""

    def connector_state(self, name: str, state: str, trace: str | None) -> None:
        print(f"{name}: {state} {trace or ''}", file=sys.stderr, flush=True)

    def task_state(self, name: str, task: int, state: str, trace: str | None) -> None:
        print(f"{name}-{task}: {state} {trace or ''}", file=sys.stderr, flush=True)

    def task_metrics(self, name: str, task: int, metrics: Mapping[str, Any]) -> None:
        print(f"{name}-{task}: {dict(metrics)}", file=sys.stderr, flush=True)

    def topics_used(self, name: str, topics: set[str]) -> None:
        print(f"{name} uses {topics}", file=sys.stderr, flush=True)


def main() -> None:
    """Run both connectors until told to stop."""
    brokers, state, given, written, topic = sys.argv[1:6]
    logging.basicConfig(level=logging.INFO, stream=sys.stderr)
    line_file.RANGE_BYTES = 128 << 10  # many batches, so that many of them are hit
    worker = {"bootstrap.servers": brokers, "key.converter": "StringConverter", "value.converter": "StringConverter"}
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    runner = ConnectorRunner(worker, state_dir=Path(state))
    source = {"name": "in", "connector.class": f"{FILE}SourceConnector", "file": given, "topic": topic}
    sink = {"name": "out", "connector.class": f"{FILE}SinkConnector", "file": written, "topics": topic}
    runner.start("in", source, listener=Printing())
    runner.start("out", sink, listener=Printing())
    ended.wait()
    runner.close()


if __name__ == "__main__":
    main()
