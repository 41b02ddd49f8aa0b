"""`penstock consume`: records to standard output."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterable, Iterator
from datetime import datetime, timezone
from typing import Annotated, Any

import orjson
import typer
from confluent_kafka import Message, TopicPartition

from penstock.cli.connection import (
    DEFAULT,
    REACHABLE_SECONDS,
    BootstrapServers,
    ClientSettings,
    connection_settings,
)
from penstock.cli.errors import InputError, clean_end
from penstock.cli.record_formats import Format, as_text, decoder
from penstock.kafka.admin import Admin, partitions_of
from penstock.kafka.clients import open_consumer, open_range_consumer, translate
from penstock.kafka.consumer_group import PartitionId
from penstock.kafka.errors import TopicMissing
from penstock.kafka.ranges import OffsetRange, merge_ranges

Line = Callable[[Message], str]
_ISOLATION = "isolation.level"
_FOLLOW_CHUNK = 1_000


def consume(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="Where from.")],
    follow: Annotated[
        bool, typer.Option("--follow", "-f", help="Wait for new records, until Ctrl-C; starts at the end.")
    ] = False,
    from_beginning: Annotated[
        bool, typer.Option("--from-beginning", help="With --follow: start with what is there.")
    ] = False,
    max_records: Annotated[int | None, typer.Option("--max", "-n", min=1, help="Stop after so many records.")] = None,
    partition: Annotated[
        list[int] | None, typer.Option("--partition", "-p", min=0, help="Only this partition. May be repeated.")
    ] = None,
    key: Annotated[bool, typer.Option("--key", help="Show the key.")] = False,
    timestamp: Annotated[bool, typer.Option("--timestamp", help="Show the timestamp.")] = False,
    headers: Annotated[bool, typer.Option("--headers", help="Show the headers.")] = False,
    json: Annotated[bool, typer.Option("--json", help="Whole records as JSON lines.")] = False,
    key_format: Annotated[Format, typer.Option(help="How keys are written.")] = Format.STRING,
    value_format: Annotated[Format, typer.Option(help="How values are written.")] = Format.STRING,
    bootstrap_servers: BootstrapServers = DEFAULT,
    setting: ClientSettings = None,
) -> None:
    """Print the records of a topic, one a line, ordered by timestamp.

    Ends when it has shown what was there at the start, unless told to --follow.
    Columns are separated by tabs: timestamp, headers, key, value, as asked for.
    Records of open and aborted transactions are left out;
    -X isolation.level=read_uncommitted shows them.

    \b
    Examples:
      penstock consume orders
      penstock consume orders --follow --key --timestamp
      penstock consume counts --key --value-format long --max 10
      penstock consume orders --json | jq .value
    """  # noqa: D301 - \b keeps the examples' lines
    with clean_end():
        settings = {_ISOLATION: "read_committed", **connection_settings(bootstrap_servers, setting)}
        admin = Admin(settings, reachable_seconds=REACHABLE_SECONDS)
        partitions = _chosen(admin, topic, partition)
        chunks = (
            _new(admin, partitions, settings, from_beginning=from_beginning)
            if follow
            else _stored(admin, partitions, settings)
        )
        line = (
            _json_line(key_format, value_format)
            if json
            else _text_line(key_format, value_format, key, timestamp, headers)
        )
        _write(_at_most(chunks, max_records), line)


def _chosen(admin: Admin, topic: str, wanted: list[int] | None) -> list[PartitionId]:
    there = list(partitions_of(admin.topic(topic)))
    if not wanted:
        return there
    for partition in wanted:
        if (topic, partition) not in there:
            raise TopicMissing(topic, partition=partition)
    return [(topic, partition) for partition in sorted(set(wanted))]


def _stored(admin: Admin, partitions: list[PartitionId], settings: dict[str, Any]) -> Iterator[list[Message]]:
    """What is there now."""
    committed = settings[_ISOLATION] == "read_committed"
    starts, ends = admin.start_offsets(partitions), admin.end_offsets(partitions, committed=committed)
    consumer = open_range_consumer(settings)
    try:
        ranges = [OffsetRange(name, number, starts[name, number], ends[name, number]) for name, number in partitions]
        yield from merge_ranges(consumer, ranges)
    finally:
        consumer.close()


def _new(
    admin: Admin, partitions: list[PartitionId], settings: dict[str, Any], *, from_beginning: bool
) -> Iterator[list[Message]]:
    """What comes, for ever."""
    offsets = admin.start_offsets(partitions) if from_beginning else admin.end_offsets(partitions)
    consumer = open_consumer({"auto.offset.reset": "earliest", **settings})
    try:
        consumer.assign([TopicPartition(name, number, offset) for (name, number), offset in offsets.items()])
        while True:
            # Waits for one, then takes what is there. A short wait, because Ctrl-C is seen only between two of them.
            messages = consumer.consume(1, 0.2)
            if messages:
                messages += consumer.consume(_FOLLOW_CHUNK - 1, 0)
            for message in messages:
                error = message.error()
                if error is not None:
                    raise translate(error, settings, topic=message.topic())
            if messages:
                yield messages
    finally:
        consumer.close()


def _at_most(chunks: Iterable[list[Message]], limit: int | None) -> Iterator[list[Message]]:
    if limit is None:
        yield from chunks
        return
    for chunk in chunks:
        yield chunk[:limit]
        limit -= len(chunk)
        if limit <= 0:
            return


def _write(chunks: Iterable[list[Message]], line: Line) -> None:
    reconfigure = getattr(sys.stdout, "reconfigure", None)
    if reconfigure is not None:
        # A terminal that cannot show a character shows its code.
        reconfigure(errors="backslashreplace")
    for chunk in chunks:
        lines: list[str] = []
        try:
            lines.extend(f"{line(message)}\n" for message in chunk)
        finally:
            # Also those before a record that cannot be shown.
            sys.stdout.write("".join(lines))
            sys.stdout.flush()


def _text_line(key_format: Format, value_format: Format, key: bool, timestamp: bool, headers: bool) -> Line:
    read_key, read_value = decoder(key_format), decoder(value_format)

    def line(message: Message) -> str:
        columns = []
        if timestamp:
            columns.append(_moment(message.timestamp()[1]))
        if headers:
            columns.append(",".join(f"{name}={as_text(_header(value))}" for name, value in _pairs(message)))
        if key:
            columns.append(as_text(_read(read_key, message.key(), "key", message)))
        columns.append(as_text(_read(read_value, message.value(), "value", message)))
        return "\t".join(columns)

    return line


def _json_line(key_format: Format, value_format: Format) -> Line:
    read_key, read_value = decoder(key_format), decoder(value_format)

    def line(message: Message) -> str:
        record = {
            "topic": message.topic(),
            "partition": message.partition(),
            "offset": message.offset(),
            "timestamp": message.timestamp()[1],
            "key": _read(read_key, message.key(), "key", message),
            "value": _read(read_value, message.value(), "value", message),
        }
        if message.headers():
            record["headers"] = [[name, _header(value)] for name, value in _pairs(message)]
        return orjson.dumps(record).decode()

    return line


def _read(read: Callable[[bytes | None], Any], data: bytes | None, what: str, message: Message) -> Any:
    try:
        return read(data)
    except ValueError as error:
        where = f"{message.topic()}-{message.partition()} at offset {message.offset()}"
        raise InputError(f"The {what} in {where} is {error}", hint=f"Try --{what}-format hex to see it.") from None


def _pairs(message: Message) -> list[tuple[str, Any]]:
    found: Any = message.headers() or []
    return list(found)


def _header(value: bytes | None) -> str | None:
    return None if value is None else value.decode(errors="backslashreplace")


def _moment(timestamp: int) -> str:
    moment = datetime.fromtimestamp(timestamp / 1000, tz=timezone.utc)
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")
