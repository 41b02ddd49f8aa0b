"""A penstock worker without REST: `python -m bench.programs.connect_program WORKER.properties CONNECTOR.properties...`."""

from __future__ import annotations

import logging
import os
import signal
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from bench.marks import write
from penstock.connect.config.properties import parse_properties
from penstock.connect.runner import ConnectorRunner


class Marks:
    """Writes states as marks."""

    def connector_state(self, name: str, state: str, trace: str | None) -> None:
        write({"connector": name, "state": state, "trace": trace})

    def task_state(self, name: str, task: int, state: str, trace: str | None) -> None:
        write({"connector": name, "task": task, "state": state, "trace": trace})

    def task_metrics(self, name: str, task: int, metrics: Mapping[str, Any]) -> None: ...

    def topics_used(self, name: str, topics: set[str]) -> None: ...


def main() -> None:
    worker, *connectors = (parse_properties(Path(path).read_text()) for path in sys.argv[1:])
    logging.basicConfig(level=os.environ.get("BENCH_LOG", "WARNING"), format="%(asctime)s %(message)s")
    logging.getLogger("py4j").setLevel("WARNING")
    ended = threading.Event()
    signal.signal(signal.SIGTERM, lambda *_: ended.set())
    runner = ConnectorRunner(worker, state_dir=Path(worker["offset.storage.file.filename"]).parent)
    for config in connectors:
        runner.start(config["name"], config, listener=Marks())
    ended.wait()
    runner.close()


if __name__ == "__main__":
    main()
