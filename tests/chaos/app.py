"""The process under attack: `python -m tests.chaos.app SCENARIO BROKERS STATE GUARANTEE CRASH MASTER`."""

from __future__ import annotations

import logging
import sys

from penstock import KafkaStreams
from tests.chaos.scenarios import scenario


def main() -> None:
    """Run the scenario's topology until told to stop."""
    name, brokers, state, guarantee, crash, master = sys.argv[1:7]
    logging.basicConfig(level=logging.WARNING, stream=sys.stderr)
    streams = KafkaStreams(
        scenario(name).topology(),
        {
            "application.id": f"chaos-{name}",
            "bootstrap.servers": brokers,
            "state.dir": state,
            "processing.guarantee": guarantee,
            "commit.interval.ms": 50,
            "penstock.batch.max.records": 2000,
            "penstock.crash": crash,
            "spark.ui.enabled": "false",
            "spark.master": master,
        },
    )
    streams.run(progress=lambda text: print(text, file=sys.stderr, flush=True))


if __name__ == "__main__":
    main()
