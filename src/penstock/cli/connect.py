"""`penstock connect`: Kafka Connect workers."""

from __future__ import annotations

import logging
import signal
import sys
import threading
from importlib.util import find_spec
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Optional

import typer

from penstock.errors import PenstockError

if TYPE_CHECKING:
    from penstock.connect.requests.create_connector import CreateConnectorRequest
    from penstock.connect.worker.worker_config import Mode

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="Kafka Connect workers: standalone, or several that share the work.",
)

# What Kafka's own command exits with if a connector of the command line cannot be created.
CONNECTOR_FAILED = 3

WorkerFile = Annotated[Path, typer.Argument(metavar="WORKER.PROPERTIES", help="Settings of the worker.")]
Quiet = Annotated[bool, typer.Option("--quiet", "-q", help="Log warnings and errors only.")]


@app.command()
def standalone(
    worker: WorkerFile,
    connectors: Annotated[
        Optional[list[Path]],  # noqa: UP045 - typer evaluates the annotation
        typer.Argument(
            metavar="[CONNECTOR]...", help="Connectors to start with: .properties or .json.", show_default=False
        ),
    ] = None,
    quiet: Quiet = False,
) -> None:
    """Run a worker of its own until Ctrl-C.

    Connectors come from files and by REST; those by REST are gone when the
    worker ends, their offsets stay.

    \b
    Examples:
      penstock connect standalone worker.properties file-source.properties
      penstock connect standalone worker.properties sink.json
    """  # noqa: D301 - \b keeps the examples' lines
    require_extra()
    from penstock.connect.worker.connector_files import read_connector_files
    from penstock.connect.worker.worker_config import Mode

    try:
        requests = read_connector_files(connectors or ())
    except PenstockError as error:
        print(f"penstock: {error}", file=sys.stderr)
        raise typer.Exit(CONNECTOR_FAILED) from None
    _run(worker, Mode.STANDALONE, requests, quiet=quiet)


@app.command()
def distributed(worker: WorkerFile, quiet: Quiet = False) -> None:
    """Run a worker of a group until Ctrl-C.

    Configurations, states and offsets are in Kafka. One worker of the group
    leads and runs the connectors; the others hand requests over to it, and
    take over when it goes.

    \b
    Examples:
      penstock connect distributed worker.properties
    """  # noqa: D301 - \b keeps the examples' lines
    require_extra()
    from penstock.connect.worker.worker_config import Mode

    _run(worker, Mode.DISTRIBUTED, [], quiet=quiet)


def require_extra() -> None:
    """Connect needs packages that the rest of penstock does not.

    Raises:
        PenstockError: They are not installed.
    """
    missing = [name for name in ("fastapi", "uvicorn", "httpx") if find_spec(name) is None]
    if missing:
        raise PenstockError(
            f"Kafka Connect needs {', '.join(missing)}, which {'is' if len(missing) == 1 else 'are'} not installed",
            hint="Run: pip install 'penstock[connect]'",
        )


def _run(worker: Path, mode: Mode, requests: list[CreateConnectorRequest], *, quiet: bool) -> None:
    from penstock.connect.config.redacted_log import RedactedLog
    from penstock.connect.connect_worker import ConnectWorker
    from penstock.connect.worker.worker_config import read_worker_config

    logging.basicConfig(
        level=logging.WARNING if quiet else logging.INFO,
        format="%(asctime)s %(levelname)s %(name)s: %(message)s",
        stream=sys.stderr,
    )
    for noisy in ("py4j", "httpx", "uvicorn"):
        logging.getLogger(noisy).setLevel(logging.WARNING)
    stop = threading.Event()
    for number in (signal.SIGINT, signal.SIGTERM):
        signal.signal(number, lambda *_: stop.set())
    config = read_worker_config(worker, mode)
    with ConnectWorker(config) as running:
        for handler in logging.getLogger().handlers:
            handler.addFilter(RedactedLog(lambda: running.secrets))
        try:
            running.start(requests)
        except PenstockError as error:
            print(f"penstock: {error}", file=sys.stderr)
            raise typer.Exit(CONNECTOR_FAILED) from None
        print(f"Kafka Connect ({mode.value}) answers at {running.url}; Ctrl-C ends it", file=sys.stderr, flush=True)
        stop.wait()
    print("Kafka Connect ended", file=sys.stderr)
