"""`penstock connectors`: the connectors of a worker."""

from __future__ import annotations

import json
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional
from urllib.parse import quote

import typer

from penstock.cli.connect_client import DEFAULT_URL, ConnectClient, RestError, Url, User, path_of
from penstock.cli.errors import InputError, clean_end
from penstock.cli.tables import count, print_rows

if TYPE_CHECKING:
    from penstock.connect.requests.create_connector import CreateConnectorRequest

_CONFLICT = 409

app = typer.Typer(
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
    help="The connectors of a Kafka Connect worker: list, create, pause, restart, ...",
)

Name = Annotated[str, typer.Argument(metavar="NAME", help="Name of the connector.")]
Names = Annotated[list[str], typer.Argument(metavar="NAME...", help="Names of connectors.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print the worker's answer as it is.")]
ConnectorFile = Annotated[Path, typer.Argument(metavar="FILE", help="The connector: .properties or .json.")]


@app.command("list")
def list_connectors(json_: AsJson = False, url: Url = DEFAULT_URL, user: User = None) -> None:
    """List connectors with their states.

    \b
    Examples:
      penstock connectors list
      penstock connectors list | cut -f1
    """  # noqa: D301 - \b keeps the examples' lines
    with clean_end():
        found = ConnectClient(url, user).get_object("/connectors?expand=status&expand=info")
        if json_:
            _print_json(found)
            return
        if not found:
            print("No connectors. `penstock connectors create FILE` makes one.", file=sys.stderr)
            return
        rows = [_row(name, one) for name, one in found.items()]
        print_rows(("connector", "type", "state", "tasks", "class", "worker"), rows)


def _row(name: str, one: dict[str, Any]) -> tuple[object, ...]:
    status, info = one.get("status", {}), one.get("info", {})
    connector = status.get("connector", {})
    return (
        name,
        info.get("type", "-"),
        connector.get("state", "-"),
        _tasks(status.get("tasks", [])),
        str(info.get("config", {}).get("connector.class", "")).rpartition(".")[2],
        connector.get("worker_id", "-"),
    )


def _tasks(tasks: list[dict[str, Any]]) -> str:
    """The states of tasks in a word: `2 RUNNING, 1 FAILED`."""
    states = [task["state"] for task in tasks]
    return ", ".join(f"{states.count(state)} {state}" for state in dict.fromkeys(states)) or "-"


@app.command()
def create(
    files: Annotated[list[Path], typer.Argument(metavar="FILE...", help="Connectors: .properties or .json.")],
    replace: Annotated[bool, typer.Option("--replace", help="Change a connector that is there already.")] = False,
    url: Url = DEFAULT_URL,
    user: User = None,
) -> None:
    """Create connectors, or change their configurations.

    \b
    Examples:
      penstock connectors create file-source.properties sink.json
      penstock connectors create sink.json --replace
    """  # noqa: D301 - \b keeps the examples' lines
    from penstock.connect.worker.connector_files import read_connector_file

    with clean_end():
        client = ConnectClient(url, user)
        for file in files:
            request = read_connector_file(file)
            _warn_unknown(client, request.config)
            if replace:
                _replace(client, request)
            else:
                _create(client, request)
            print(f"{'Configured' if replace else 'Created'} connector {request.name}.")


def _create(client: ConnectClient, request: CreateConnectorRequest) -> None:
    body: dict[str, Any] = {"name": request.name, "config": request.config}
    if request.initial_state is not None:
        body["initial_state"] = request.initial_state.value
    client.request("POST", "/connectors", body)


def _replace(client: ConnectClient, request: CreateConnectorRequest) -> None:
    """Only a request to create has an initial state: a connector that is not there yet has to begin in it."""
    if request.initial_state is not None:
        try:
            _create(client, request)
        except RestError as error:
            if error.status != _CONFLICT:
                raise
            print(f"{request.name} is there already: initial_state is not for it, it keeps its state.", file=sys.stderr)
        else:
            return
    client.request("PUT", f"{path_of(request.name)}/config", request.config)


@app.command()
def status(name: Name, json_: AsJson = False, url: Url = DEFAULT_URL, user: User = None) -> None:
    """Show a connector and its tasks, with traces of what failed.

    \b
    Examples:
      penstock connectors status file-source
    """  # noqa: D301 - \b keeps the examples' lines
    with clean_end():
        found = ConnectClient(url, user).get(f"{path_of(name)}/status")
        if json_:
            _print_json(found)
            return
        parts = [("connector", found["connector"]), *((f"task {task['id']}", task) for task in found["tasks"])]
        print_rows(("part", "state", "worker"), [(what, one["state"], one["worker_id"]) for what, one in parts])
        for what, one in parts:
            if one.get("trace"):
                print(f"\n{what}: {one['trace']}", file=sys.stderr)
            skipped = one.get("metrics", {}).get("skipped") or {}
            if skipped:
                reasons = ", ".join(f"{reason}: {count}" for reason, count in skipped.items())
                print(f"\n{what} skipped {sum(skipped.values())} records ({reasons})", file=sys.stderr)
                print(f"the last one: {one['metrics'].get('last_error')}", file=sys.stderr)


@app.command()
def config(name: Name, url: Url = DEFAULT_URL, user: User = None) -> None:
    """Print a connector's configuration as JSON."""
    with clean_end():
        _print_json(ConnectClient(url, user).get(f"{path_of(name)}/config"))


@app.command()
def pause(names: Names, url: Url = DEFAULT_URL, user: User = None) -> None:
    """Pause connectors; their tasks stay."""
    _each("PUT", names, "/pause", "Pausing", url, user)


@app.command()
def resume(names: Names, url: Url = DEFAULT_URL, user: User = None) -> None:
    """Let paused or stopped connectors go on."""
    _each("PUT", names, "/resume", "Resuming", url, user)


@app.command()
def stop(names: Names, url: Url = DEFAULT_URL, user: User = None) -> None:
    """Stop connectors: they have no tasks, their offsets may be changed."""
    _each("PUT", names, "/stop", "Stopping", url, user)


@app.command()
def restart(
    names: Names,
    only_failed: Annotated[bool, typer.Option("--only-failed", help="Only what has failed.")] = False,
    url: Url = DEFAULT_URL,
    user: User = None,
) -> None:
    """Restart connectors and their tasks."""
    query = f"/restart?includeTasks=true&onlyFailed={str(only_failed).lower()}"
    _each("POST", names, query, "Restarting", url, user)


@app.command()
def delete(
    names: Names,
    offsets: Annotated[bool, typer.Option("--offsets", help="Forget their offsets, too.")] = False,
    url: Url = DEFAULT_URL,
    user: User = None,
) -> None:
    """Delete connectors; their offsets stay for later ones of the same name."""
    _each("DELETE", names, "?offsets=true" if offsets else "", "Deleted", url, user)


def _each(method: str, names: list[str], path: str, done: str, url: str, user: str | None) -> None:
    with clean_end():
        client, ready = ConnectClient(url, user), []
        try:
            for name in names:
                client.request(method, f"{path_of(name)}{path}")
                ready.append(name)
        finally:
            # Also when the next one failed: who reads its error has to know what is done already.
            if ready:
                print(f"{done} {count(len(ready), 'connector')}: {', '.join(ready)}.", flush=True)


@app.command()
def plugins(
    every: Annotated[bool, typer.Option("--all", help="Also transforms, predicates and converters.")] = False,
    json_: AsJson = False,
    url: Url = DEFAULT_URL,
    user: User = None,
) -> None:
    """List what the worker can run."""
    with clean_end():
        found = ConnectClient(url, user).get("/connector-plugins", connectorsOnly=str(not every).lower())
        if json_:
            _print_json(found)
            return
        print_rows(("class", "type", "version"), [(one["class"], one["type"], one.get("version", "")) for one in found])


@app.command()
def validate(file: ConnectorFile, json_: AsJson = False, url: Url = DEFAULT_URL, user: User = None) -> None:
    """Check a configuration without creating anything; exits with 1 if something is wrong.

    \b
    Examples:
      penstock connectors validate sink.json
    """  # noqa: D301 - \b keeps the examples' lines
    from penstock.connect.worker.connector_files import read_connector_file

    with clean_end():
        request = read_connector_file(file)
        client = ConnectClient(url, user)
        infos = _infos(client, request.config)
        if json_:
            _print_json(infos)
        else:
            _print_unknown(infos, request.config)
            rows = [(one["value"]["name"], error) for one in infos["configs"] for error in one["value"]["errors"]]
            print_rows(("setting", "what is wrong"), rows)
            if not rows:
                print(f"{file}: nothing is wrong.", file=sys.stderr)
        if infos["error_count"]:
            raise typer.Exit(1)


@app.command()
def offsets(
    name: Name,
    reset: Annotated[bool, typer.Option("--reset", help="Let the connector start over; it must be stopped.")] = False,
    alter: Annotated[
        Optional[Path],  # noqa: UP045 - typer evaluates the annotation
        typer.Option("--alter", metavar="FILE", help='Set offsets: JSON {"offsets": [...]}; it must be stopped.'),
    ] = None,
    json_: AsJson = False,
    url: Url = DEFAULT_URL,
    user: User = None,
) -> None:
    """Show, change or reset where a connector stands.

    \b
    Examples:
      penstock connectors offsets file-source
      penstock connectors offsets file-source --json > offsets.json
      penstock connectors offsets file-source --alter offsets.json
    """  # noqa: D301 - \b keeps the examples' lines
    with clean_end():
        if reset and alter is not None:
            raise InputError("--reset and --alter exclude each other", hint="Give one of them.")
        client, path = ConnectClient(url, user), f"{path_of(name)}/offsets"
        if reset or alter is not None:
            body = None if alter is None else _read_json(alter)
            print(client.request("DELETE" if reset else "PATCH", path, body)["message"])
            return
        found = client.get(path)
        if json_:
            _print_json(found)
            return
        rows = [(_text(one["partition"]), _text(one["offset"])) for one in found["offsets"]]
        print_rows(("partition", "offset"), rows)


def _infos(client: ConnectClient, config: dict[str, str | None]) -> dict[str, Any]:
    plugin = quote((config.get("connector.class") or "").strip() or "none", safe="")
    found: dict[str, Any] = client.request("PUT", f"/connector-plugins/{plugin}/config/validate", config)
    return found


def _warn_unknown(client: ConnectClient, config: dict[str, str | None]) -> None:
    try:
        _print_unknown(_infos(client, config), config)
    except RestError:
        pass  # creating it says what is wrong


def _print_unknown(infos: dict[str, Any], config: dict[str, str | None]) -> None:
    """Settings the worker does not know have no effect; a slip of the pen is seen by nobody else."""
    from penstock.connect.config import nearest

    known = [one["value"]["name"] for one in infos["configs"]]
    groups = ["default", *(config.get("topic.creation.groups") or "").replace(" ", "").split(",")]
    # A group of topics may have any setting of a topic.
    prefixes = (*(f"topic.creation.{group}." for group in groups if group), "connector.plugin.version")
    for name in config:
        if name not in known and not name.startswith(prefixes):
            near = nearest(name, known)
            hint = f"; did you mean {near}?" if near else ""
            print(f"warning: the setting {name} is not known and has no effect{hint}", file=sys.stderr)


def _read_json(file: Path) -> Any:
    try:
        return json.loads(file.read_text(encoding="utf-8"))
    except OSError as error:
        raise InputError(f"{file} cannot be read: {error.strerror}") from None
    except ValueError as error:
        raise InputError(f"{file} is not JSON: {error}", hint='Write {"offsets": [...]}.') from None


def _text(value: Any) -> str:
    return ", ".join(f"{key}={one}" for key, one in (value or {}).items())


def _print_json(value: Any) -> None:
    print(json.dumps(value, indent=2, ensure_ascii=False))
