"""`penstock produce`: records from standard input."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime, timezone
from typing import Annotated, Any

import typer

from penstock.cli.connection import (
    DEFAULT,
    REACHABLE_SECONDS,
    BootstrapServers,
    ClientSettings,
    connection_settings,
)
from penstock.cli.errors import InputError, clean_end
from penstock.cli.record_formats import Format, as_text, from_json, from_text, from_value
from penstock.errors import PenstockError
from penstock.kafka.admin import Admin, TopicSummary
from penstock.kafka.errors import DeliveryFailed, nearest
from penstock.kafka.producing import RecordProducer

_FIELDS = ("key", "value", "headers", "timestamp", "partition")
# `penstock consume --json` writes them; its output can be sent again as it is.
_IGNORED_FIELDS = ("topic", "offset")


@dataclass(frozen=True, slots=True)
class NewRecord:
    """A record to be sent."""

    key: bytes | None
    value: bytes | None
    headers: tuple[tuple[str, bytes | None], ...] = ()
    timestamp: int | None = None
    partition: int = -1


def produce(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Where to.")],
    key_separator: Annotated[
        str | None,
        typer.Option("--key-separator", "-k", metavar="TEXT", help="Lines are KEY, this text, VALUE."),
    ] = None,
    json: Annotated[
        bool, typer.Option("--json", help="Lines are JSON objects: value, key, headers, timestamp, partition.")
    ] = False,
    key_format: Annotated[Format, typer.Option(help="How to write keys.")] = Format.STRING,
    value_format: Annotated[Format, typer.Option(help="How to write values.")] = Format.STRING,
    bootstrap_servers: BootstrapServers = DEFAULT,
    setting: ClientSettings = None,
) -> None:
    """Send records to a topic, one for each line of standard input.

    A line is a value; with --key-separator it is a key and a value.
    With --json it is an object with a value and any of key, headers (an object
    or a list of pairs), timestamp (milliseconds or ISO 8601) and partition.
    A null value is a tombstone.

    \b
    Examples:
      echo hello | penstock produce greetings
      echo ann:3 | penstock produce visits -k : --value-format long
      echo '{"key": "ann", "value": {"n": 3}}' | penstock produce events --json
      penstock consume events --json | penstock produce copy --json
    """  # noqa: D301 - \b keeps the examples' lines
    if json and key_separator is not None:
        raise typer.BadParameter("not with --json, whose lines have their own key", param_hint="--key-separator")
    if key_separator == "":
        raise typer.BadParameter("must not be empty", param_hint="--key-separator")
    with clean_end():
        settings = connection_settings(bootstrap_servers, setting)
        there = Admin(settings, reachable_seconds=REACHABLE_SECONDS).topic(topic)
        if sys.stdin.isatty():
            print("One record a line; Ctrl-D ends.", file=sys.stderr)
        parse = _parser(key_separator.encode() if key_separator else None, key_format, value_format, json=json)
        sent = _send(RecordProducer(settings), topic, _records(sys.stdin.buffer, parse, there))
        print(f"Sent {sent} record{'' if sent == 1 else 's'} to {topic}.", file=sys.stderr)


def _send(producer: RecordProducer, topic: str, records: Iterator[NewRecord]) -> int:
    sent = 0
    try:
        for r in records:
            producer.produce(
                topic, r.value, r.key, partition=r.partition, timestamp=r.timestamp, headers=r.headers or None
            )
            sent += 1
    except PenstockError as error:
        raise InputError(f"{error.message} ({_flushed(producer, sent)})", hint=error.hint) from None
    except KeyboardInterrupt:
        producer.flush()
        raise
    producer.flush()
    return sent


def _flushed(producer: RecordProducer, sent: int) -> str:
    """What became of the lines before a bad one: without it, the user sends them twice."""
    if not sent:
        return "nothing was sent"
    try:
        producer.flush()
    except DeliveryFailed as failure:
        return f"of the {sent} before it, {failure.message}"
    return "the one before it was sent" if sent == 1 else f"the {sent} before it were sent"


def _records(lines: Iterable[bytes], parse: Callable[[bytes], NewRecord], topic: TopicSummary) -> Iterator[NewRecord]:
    for number, line in enumerate(lines, 1):
        try:
            record = parse(line.rstrip(b"\r\n"))
        except InputError as error:
            raise InputError(error.message, line=number, hint=error.hint) from None
        if record.partition >= topic.partitions:
            what = f"topic {topic.name} has no partition {record.partition}, only 0 to {topic.partitions - 1}"
            raise InputError(what, line=number)
        yield record


def _parser(
    separator: bytes | None, key_format: Format, value_format: Format, *, json: bool
) -> Callable[[bytes], NewRecord]:
    def value_line(line: bytes) -> NewRecord:
        return NewRecord(None, from_text(value_format, line))

    def key_value_line(line: bytes) -> NewRecord:
        assert separator is not None
        key, found, value = line.partition(separator)
        if not found:
            raise InputError(
                f"there is no '{separator.decode()}' between key and value: {line.decode(errors='backslashreplace')}"
            )
        return NewRecord(from_text(key_format, key), from_text(value_format, value))

    def json_line(line: bytes) -> NewRecord:
        return _from_object(from_json(line), key_format, value_format)

    if json:
        return json_line
    return value_line if separator is None else key_value_line


def _from_object(given: Any, key_format: Format, value_format: Format) -> NewRecord:
    if not isinstance(given, dict):
        raise InputError(
            f"a record is a JSON object, not {as_text(given)}", hint='For example {"key": "a", "value": 1}.'
        )
    for field in given:
        if field not in _FIELDS and field not in _IGNORED_FIELDS:
            near = nearest(field, _FIELDS)
            raise InputError(
                f"unknown field '{field}'",
                hint=f"Did you mean '{near}'?" if near else f"Known are {', '.join(_FIELDS)}.",
            )
    if "value" not in given:
        raise InputError('the field "value" is missing', hint='A tombstone is written "value": null.')
    return NewRecord(
        from_value(key_format, given.get("key")),
        from_value(value_format, given["value"]),
        _headers(given.get("headers")),
        _timestamp(given.get("timestamp")),
        _partition(given.get("partition")),
    )


def _headers(given: Any) -> tuple[tuple[str, bytes | None], ...]:
    pairs = list(given.items()) if isinstance(given, dict) else given or []
    if not isinstance(pairs, list) or not all(
        isinstance(pair, list | tuple) and len(pair) == 2 and isinstance(pair[0], str) for pair in pairs
    ):
        raise InputError(
            f"headers are an object or a list of pairs, not {as_text(given)}", hint='For example {"source": "web"}.'
        )
    return tuple((name, from_value(Format.STRING, value)) for name, value in pairs)


def _timestamp(given: Any) -> int | None:
    if given is None:
        return None
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    if isinstance(given, str):
        try:
            moment = datetime.fromisoformat(given.replace("Z", "+00:00"))
        except ValueError:
            pass
        else:
            aware = moment if moment.tzinfo else moment.replace(tzinfo=timezone.utc)
            return round(aware.timestamp() * 1000)
    raise InputError(f"timestamp {as_text(given)} is neither milliseconds since 1970 nor ISO 8601")


def _partition(given: Any) -> int:
    if given is None:
        return -1
    if isinstance(given, int) and not isinstance(given, bool) and given >= 0:
        return given
    raise InputError(f"partition {as_text(given)} is not a number of a partition")
