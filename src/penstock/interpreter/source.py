"""Sources: bytes become keys and values, timestamps are extracted, clocks move, and the record enters the topology."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from itertools import repeat
from typing import Any, NamedTuple, Protocol

from penstock.errors import StreamsError
from penstock.interpreter.context import Chunk, TaskContext
from penstock.interpreter.guards import Guards
from penstock.interpreter.loops import Loop
from penstock.interpreter.timestamps import Extract
from penstock.records import NO_HEADERS, Headers


class PartitionTime(Protocol):
    """The largest timestamp of a partition so far; kept with the commit."""

    value: int


class Prepared(NamedTuple):
    """A record read from a topic, deserialised and stamped, waiting for its turn."""

    timestamp: int
    key: Any
    value: Any
    offset: int
    headers: Headers
    raw_key: bytes | None
    raw_value: bytes | None


class SourcePartition:
    """One partition of a source topic in a task.

    Attributes:
        accept: Deserialise and process one record at once: `accept(offset, timestamp, key, value, headers)`.
        accept_columns: The same for many records of this partition, column by column: the hot path of every host.
        prepare: Deserialise only; None if the record was dropped or skipped.
        prepare_columns: The same for many records without headers; None if they must be taken one by one.
        process: Process a prepared record.
    """

    __slots__ = (
        "_partition_time",
        "accept",
        "accept_columns",
        "enter",
        "prepare",
        "prepare_columns",
        "process",
        "topic",
    )

    def __init__(  # noqa: PLR0915 - closures over one set of bound names: this is the hot path
        self,
        *,
        node: str,
        topic: str,
        partition: int,
        key_serde: Any,
        value_serde: Any,
        extract: Extract | None,
        partition_time: PartitionTime,
        context: TaskContext,
        guards: Guards,
        forward: Callable[..., None],
        after: Any,
        loop: Loop | None = None,
    ) -> None:
        self.topic = topic
        self._partition_time = partition_time
        drop_negative = context.dropper(node, "negative timestamp")
        decode_key, decode_value = key_serde.decoder(topic), value_serde.decoder(topic)
        decode_keys, decode_values = key_serde.column_decoder(topic), value_serde.column_decoder(topic)

        def prepare(
            offset: int,
            timestamp: int,
            key: bytes | None,
            value: bytes | None,
            headers: Iterable[tuple[str, bytes | None]] | None,
        ) -> Prepared | None:
            context.topic, context.partition, context.offset = topic, partition, offset
            context.raw_key, context.raw_value = key, value
            context.headers = all_headers = Headers(headers) if headers else NO_HEADERS
            try:
                decoded_key, decoded_value = decode_key(key), decode_value(value)
            except Exception as error:  # noqa: BLE001 - whatever a serde raises
                guards.deserialization_failed(node, timestamp, error)
                context.dropped["deserialization error"] = context.dropped.get("deserialization error", 0) + 1
                return None
            if extract is not None:
                try:
                    timestamp = extract(decoded_key, decoded_value, timestamp, all_headers, partition_time.value)
                except Exception as error:
                    raise guards.failure(error, node) from error
                if timestamp < 0:
                    drop_negative()
                    return None
            elif timestamp < 0:
                raise guards.failure(_negative(timestamp), node)
            if timestamp > partition_time.value:
                partition_time.value = timestamp
            return Prepared(timestamp, decoded_key, decoded_value, offset, all_headers, key, value)

        def process(record: Prepared) -> None:
            timestamp, key, value, offset, headers, raw_key, raw_value = record
            context.topic, context.partition, context.offset = topic, partition, offset
            context.raw_key, context.raw_value = raw_key, raw_value
            context.headers, context.timestamp = headers, timestamp
            if timestamp > context.stream_time:
                context.stream_time = timestamp
            forward(key, value, timestamp)
            if after.next_due <= context.stream_time:
                after.fire(context.stream_time)

        def accept(
            offset: int,
            timestamp: int,
            key: bytes | None,
            value: bytes | None,
            headers: Iterable[tuple[str, bytes | None]] | None,
        ) -> None:
            # The same as process(prepare(...)) for the default extractor, in one frame: the hot path of every task.
            # topic and partition are set by `enter`, once for a run of records of this partition.
            context.offset = offset
            context.raw_key = key
            context.raw_value = value
            context.headers = Headers(headers) if headers else NO_HEADERS
            try:
                decoded_key = decode_key(key)
                decoded_value = decode_value(value)
            except Exception as error:  # noqa: BLE001 - whatever a serde raises
                guards.deserialization_failed(node, timestamp, error)
                context.dropped["deserialization error"] = context.dropped.get("deserialization error", 0) + 1
                return
            if timestamp > context.stream_time:
                context.stream_time = timestamp
            elif timestamp < 0:
                raise guards.failure(_negative(timestamp), node)
            if timestamp > partition_time.value:
                partition_time.value = timestamp
            context.timestamp = timestamp
            forward(decoded_key, decoded_value, timestamp)
            if after.next_due <= context.stream_time:
                after.fire(context.stream_time)

        def accept_extracted(
            offset: int,
            timestamp: int,
            key: bytes | None,
            value: bytes | None,
            headers: Iterable[tuple[str, bytes | None]] | None,
        ) -> None:
            record = prepare(offset, timestamp, key, value, headers)
            if record is not None:
                process(record)

        def decode_columns(
            timestamps: list[int], keys: list[bytes | None], values: list[bytes | None]
        ) -> tuple[list[Any], list[Any]] | None:
            """Keys and values, if nothing but that is to be done with each record; None: they are taken one by one."""
            if extract is not None or min(timestamps, default=0) < 0:
                return None
            try:
                return decode_keys(keys), decode_values(values)
            except Exception:  # noqa: BLE001 - one of them cannot be read: one by one, to say which
                return None

        def pass_time(timestamps: list[int]) -> None:
            highest = max(timestamps, default=-1)
            if highest > partition_time.value:
                partition_time.value = highest

        def prepare_columns(
            offsets: Sequence[int], timestamps: list[int], keys: list[bytes | None], values: list[bytes | None]
        ) -> list[tuple[Any, ...]] | None:
            decoded = decode_columns(timestamps, keys, values)
            if decoded is None:
                return None
            pass_time(timestamps)
            rest = (offsets, repeat(NO_HEADERS, len(timestamps)), keys, values)
            return list(zip(timestamps, *decoded, *rest, strict=True))

        def accept_columns(
            offsets: Sequence[int],
            timestamps: list[int],
            keys: list[bytes | None],
            values: list[bytes | None],
            headers: list[Any] | None,
        ) -> None:
            enter()
            decoded = decode_columns(timestamps, keys, values) if headers is None else None
            if decoded is None:
                every = headers if headers is not None else repeat(None)
                for row in zip(offsets, timestamps, keys, values, every):  # noqa: B905 - repeat has no end
                    self.accept(*row)
                return
            # Who is due already, at the task's stream time, runs after the first record, however old that one is.
            if loop is not None and timestamps and context.stream_time < after.next_due > max(timestamps):
                take_all(loop, decoded, Chunk(offsets, timestamps, keys, values))
                pass_time(timestamps)
                return
            # Everything in here is paid for each record. Decoding by columns, in C, made the whole 1.5 times as fast.
            stream_time = context.stream_time
            context.headers = NO_HEADERS
            rows = zip(offsets, timestamps, *decoded, keys, values, strict=True)
            for offset, timestamp, key, value, raw_key, raw_value in rows:
                context.offset = offset
                context.raw_key = raw_key
                context.raw_value = raw_value
                context.timestamp = timestamp
                if timestamp > stream_time:
                    context.stream_time = stream_time = timestamp
                forward(key, value, timestamp)
                if after.next_due <= stream_time:
                    after.fire(stream_time)
            pass_time(timestamps)

        def take_all(loop: Loop, decoded: tuple[list[Any], list[Any]], chunk: Chunk) -> None:
            context.headers, context.chunk = NO_HEADERS, chunk
            try:
                loop(*decoded, chunk.position)
            finally:
                context.settle()
                context.chunk = None
                context.stream_time = max(context.stream_time, chunk.stream_time)

        def enter() -> None:
            context.topic, context.partition = topic, partition

        self.prepare = prepare
        self.prepare_columns = prepare_columns
        self.process = process
        self.accept = accept if extract is None else accept_extracted
        self.accept_columns = accept_columns
        self.enter = enter


def _negative(timestamp: int) -> StreamsError:
    return StreamsError(
        f"the record has the negative timestamp {timestamp}",
        hint="Set a timestamp extractor such as LogAndSkipOnInvalidTimestamp or UsePartitionTimeOnInvalidTimestamp.",
    )
