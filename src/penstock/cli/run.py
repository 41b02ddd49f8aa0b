"""`penstock run`: run a topology until Ctrl-C."""

from __future__ import annotations

import logging
import sys
from pathlib import Path
from typing import Annotated, Any, Optional

import typer

from penstock.cli.connection import key_values

Target = Annotated[
    str, typer.Argument(metavar="MODULE:TOPOLOGY", help="A module in the current folder, or a file, and a name in it.")
]
Config = Annotated[
    Optional[Path],  # noqa: UP045 - typer evaluates the annotation
    typer.Option("--config", "-c", metavar="FILE", help="Settings, in TOML or .properties."),
]
ApplicationId = Annotated[
    Optional[str],  # noqa: UP045 - typer evaluates the annotation
    typer.Option("--application-id", "-a", help="The setting application.id."),
]
Servers = Annotated[
    Optional[str],  # noqa: UP045 - typer evaluates the annotation
    typer.Option(
        "--bootstrap-servers",
        "-b",
        metavar="HOST:PORT",
        help="The setting bootstrap.servers.",
        show_default="PENSTOCK_BOOTSTRAP_SERVERS, or localhost:9092",
    ),
]
Given = Annotated[
    Optional[list[str]],  # noqa: UP045 - typer evaluates the annotation
    typer.Option("--setting", "-X", metavar="KEY=VALUE", help="A setting; wins over the file. May be repeated."),
]


def run(
    target: Target,
    config: Config = None,
    application_id: ApplicationId = None,
    bootstrap_servers: Servers = None,
    setting: Given = None,
    verbose: Annotated[bool, typer.Option("--verbose", "-v", help="Show the log.")] = False,
) -> None:
    """Run a topology until Ctrl-C or a failure.

    The name is that of a Topology, a StreamsBuilder, or a function that
    returns one; "topology" and "builder" need not be said.

    \b
    Examples:
      penstock run word_count:topology --application-id word-count
      penstock run examples/word_count.py --config app.toml -X processing.guarantee=exactly_once_v2
    """  # noqa: D301 - \b keeps the examples' lines
    from penstock.cli.run_display import display
    from penstock.runtime.application import KafkaStreams
    from penstock.runtime.settings import Settings
    from penstock.runtime.topology_target import load_topology

    settings = application_settings(config, application_id, bootstrap_servers, setting)
    if "application.id" not in settings:
        settings["application.id"] = default_application_id(target)
    checked = Settings(settings)
    _set_up_logging(verbose=verbose, batches=checked["penstock.log.batches"] != "none")
    topology = load_topology(target, checked)
    with display(sys.stderr) as shown:
        shown.line(f"{settings['application.id']}: starting, Kafka at {settings['bootstrap.servers']}")
        KafkaStreams(topology, settings).run(progress=shown.progress, status=shown.status)
        shown.line(f"{settings['application.id']}: stopped")


def application_settings(
    config: Path | None, application_id: str | None, bootstrap_servers: str | None, setting: list[str] | None
) -> dict[str, Any]:
    """All settings: options over the file, the file over the environment."""
    import os

    from penstock.kafka.settings import DEFAULT_BOOTSTRAP_SERVERS
    from penstock.runtime.config_file import read_config

    options: dict[str, Any] = key_values(setting, "--setting")
    if application_id is not None:
        options["application.id"] = application_id
    if bootstrap_servers is not None:
        options["bootstrap.servers"] = bootstrap_servers
    servers = os.environ.get("PENSTOCK_BOOTSTRAP_SERVERS") or DEFAULT_BOOTSTRAP_SERVERS
    return {"bootstrap.servers": servers, **({} if config is None else read_config(config)), **options}


def default_application_id(target: str) -> str:
    """The module's name, as an application's id.

    >>> default_application_id("examples/word_count.py:topology"), default_application_id("shop.orders:topology")
    ('word-count', 'orders')
    """
    name = target.partition(":")[0]
    stem = Path(name).stem if name.endswith(".py") else name.rpartition(".")[2]
    return stem.replace("_", "-")


class _ToStderr(logging.Handler):
    """Writes to what stderr is at the moment: the live line stands in for it while it is shown, and makes room."""

    def emit(self, record: logging.LogRecord) -> None:
        try:
            sys.stderr.write(f"{self.format(record)}\n")
            sys.stderr.flush()
        except Exception:  # noqa: BLE001 - as all handlers of logging
            self.handleError(record)


def _set_up_logging(*, verbose: bool, batches: bool) -> None:
    logging.basicConfig(
        level=logging.INFO if verbose else logging.WARNING,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        handlers=[_ToStderr()],
    )
    logging.getLogger("py4j").setLevel(logging.WARNING)
    if batches:
        lines = logging.StreamHandler(sys.stdout)
        lines.setFormatter(logging.Formatter("%(message)s"))
        logger = logging.getLogger("penstock.batches")
        logger.addHandler(lines)
        logger.setLevel(logging.INFO)
        logger.propagate = False
