"""`penstock reset`: let an application start over."""

from __future__ import annotations

import sys
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from penstock.cli.connection import REACHABLE_SECONDS
from penstock.cli.errors import InputError, clean_end
from penstock.cli.run import ApplicationId, Config, Given, Servers, application_settings, default_application_id

if TYPE_CHECKING:
    from penstock.kafka.admin import Admin
    from penstock.runtime.reset import ResetPlan
    from penstock.runtime.reset_target import ResetTarget
    from penstock.topology.topology import Topology

_WHERE = "Where to start (earliest, if nothing is said)"


def reset(
    target: Annotated[
        Optional[str],  # noqa: UP045 - typer evaluates the annotation
        typer.Argument(metavar="MODULE:TOPOLOGY", help="Its topology: then its topics are known before it ever ran."),
    ] = None,
    config: Config = None,
    application_id: ApplicationId = None,
    bootstrap_servers: Servers = None,
    setting: Given = None,
    to_earliest: Annotated[bool, typer.Option("--to-earliest", rich_help_panel=_WHERE)] = False,
    to_latest: Annotated[bool, typer.Option("--to-latest", rich_help_panel=_WHERE)] = False,
    to_datetime: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="TIME", help="Such as 2026-05-01T00:00:00Z.", rich_help_panel=_WHERE),
    ] = None,
    by_duration: Annotated[
        Optional[str],  # noqa: UP045
        typer.Option(metavar="DURATION", help="So long ago: 2h, 7d, PT1H30M.", rich_help_panel=_WHERE),
    ] = None,
    to_offset: Annotated[Optional[int], typer.Option(metavar="OFFSET", rich_help_panel=_WHERE)] = None,  # noqa: UP045
    shift_by: Annotated[
        Optional[int],  # noqa: UP045
        typer.Option(metavar="N", help="From where it is, back if negative.", rich_help_panel=_WHERE),
    ] = None,
    from_file: Annotated[
        Optional[Path],  # noqa: UP045
        typer.Option(metavar="FILE", help="Lines of topic,partition,offset, or JSON.", rich_help_panel=_WHERE),
    ] = None,
    input_topic: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="TOPIC", help="Only this input topic; others stay where they are. May be repeated."),
    ] = None,
    internal_topic: Annotated[
        Optional[list[str]],  # noqa: UP045
        typer.Option(metavar="TOPIC", help="Delete this internal topic instead of all. May be repeated."),
    ] = None,
    execute: Annotated[bool, typer.Option("--execute", help="Do it, instead of showing what would be done.")] = False,
    force: Annotated[bool, typer.Option("--force", help="Though the application seems to run.")] = False,
) -> None:
    """Let an application start over: positions, state and internal topics.

    Shows what would change; --execute does it. Output topics stay as they are.

    \b
    Examples:
      penstock reset --application-id word-count
      penstock reset word_count:topology --config app.toml --to-datetime 2026-05-01T00:00:00Z --execute
      penstock reset -a word-count --by-duration 2h --input-topic lines --execute
    """  # noqa: D301 - \b keeps the examples' lines
    from penstock.kafka.admin import Admin
    from penstock.runtime.application import checkpoint_folder, local_state, state_folder
    from penstock.runtime.client_roles import client_roles
    from penstock.runtime.reset import carry_out, plan_reset
    from penstock.runtime.settings import Settings
    from penstock.runtime.topology_target import load_topology

    where = _where(
        earliest=to_earliest, latest=to_latest, time=to_datetime, duration=by_duration, offset=to_offset, shift=shift_by,
        file=from_file,
    )  # fmt: skip
    with clean_end():
        given = application_settings(config, application_id, bootstrap_servers, setting)
        if target is not None:
            given.setdefault("application.id", default_application_id(target))
        settings = Settings(given)
        name = settings.required("application.id")
        admin = Admin(client_roles(settings)["admin"], reachable_seconds=REACHABLE_SECONDS)
        topology = None if target is None else load_topology(target, settings)
        plan = plan_reset(
            admin,
            name,
            checkpoint_folder(settings),
            where,
            local=local_state(state_folder(settings), name),
            input_topics=input_topic or (() if topology is None else _input_topics(topology, admin)),
            internal_topics=internal_topic or (),
            topology=topology,
            force=force,
        )
        _show(plan, sys.stdout.isatty())
        _warn(plan)
        if not execute:
            print("Nothing was changed. Add --execute to do it.", file=sys.stderr)
            return
        carry_out(plan, admin)
        print(f"{name} starts over with its next start.", file=sys.stderr)


def _where(**given: Any) -> ResetTarget:
    """The one of the options that was given."""
    from penstock.runtime.reset_target import ResetTarget, read_positions

    chosen = {kind: value for kind, value in given.items() if value is not None and value is not False}
    if len(chosen) > 1:
        names = " and ".join(_OPTIONS[kind] for kind in chosen)
        raise typer.BadParameter(f"{names} exclude each other", param_hint="reset")
    kind = next(iter(chosen), "earliest")
    value = chosen.get(kind, True)
    if kind == "file":
        return ResetTarget("positions", positions=read_positions(value))
    if kind == "time":
        return ResetTarget("time", _milliseconds(value))
    if kind == "duration":
        from penstock.runtime.client_roles import duration_or_iso

        return ResetTarget("duration", duration_or_iso(value, "--by-duration"))
    return ResetTarget(kind, 0 if value is True else value)


_OPTIONS = {
    "earliest": "--to-earliest", "latest": "--to-latest", "time": "--to-datetime", "duration": "--by-duration",
    "offset": "--to-offset", "shift": "--shift-by", "file": "--from-file",
}  # fmt: skip


def _milliseconds(text: str) -> int:
    from penstock.durations import instant_ms

    try:
        time = datetime.fromisoformat(text.replace("Z", "+00:00"))  # Python 3.10 does not know the Z of ISO 8601
    except ValueError:
        raise InputError(f"--to-datetime {text} is not a time", hint="Write it as 2026-05-01T00:00:00Z.") from None
    if time.tzinfo is None:
        raise InputError(f"--to-datetime {text} has no time zone", hint=f"Write {text}Z for UTC, or {text}+02:00.")
    return instant_ms(time)


def _input_topics(topology: Topology, admin: Admin) -> list[str]:
    from penstock.runtime.source_topics import partition_counts

    followed = {topic for node in topology.global_stores.values() for topic in node.source.topics}
    return [topic for topic in partition_counts(topology, admin.topics()) if topic not in followed]


def _show(plan: ResetPlan, terminal: bool) -> None:
    rows = [
        (c.topic, c.partition, "-" if c.current is None else c.current, c.new, c.to_process, _note(c))
        for c in plan.changes
    ]
    titles = ("topic", "partition", "now at", "starts at", "to process", "")
    if not terminal:
        for row in rows:
            print(*row, sep="\t")
    elif rows:
        from penstock.cli.tables import print_rows

        print_rows(titles, rows)
    if not rows:
        print("No positions: the application never ran, and no topic was named.")
    for topic in plan.topics:
        print(f"delete topic {topic}")
    if plan.group is not None:
        print(f"delete group {plan.group}")
    for path in (*plan.folders, *plan.local):
        print(f"remove {path}")


def _warn(plan: ResetPlan) -> None:
    """Topics of which only the name says whose they are: another application's name may begin with this one's."""
    name = plan.application_id
    if plan.guessed:
        print(
            f"Warning: the checkpoint {plan.checkpoint} does not say which topics are those of {name}, so all internal "
            f"topics count whose names begin with {name}-. Some may be another application's. Name MODULE:TOPOLOGY, or "
            "the application's own penstock.checkpoint, and only its own count.",
            file=sys.stderr,
        )
    if plan.unknown:
        print(
            f"Not of {name}, as far as its checkpoint and topology say, and kept: {', '.join(plan.unknown)}. Name those "
            "that are to be deleted with --internal-topic.",
            file=sys.stderr,
        )


def _note(change: Any) -> str:
    if change.wanted is None:
        return ""
    return f"{change.wanted} is {'before the first' if change.wanted < change.start else 'behind the last'} record"
