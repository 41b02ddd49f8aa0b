"""Requests that look at or change the offsets of a connector."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from penstock.connect.errors import BadRequestError
from penstock.connect.requests.body import parse_body, require_known, require_list, require_object

TOPIC_KEY = "kafka_topic"
PARTITION_KEY = "kafka_partition"
OFFSET_KEY = "kafka_offset"


@dataclass(frozen=True, slots=True)
class ConnectorOffset:
    """Where one part of a source or topic stands; offset None forgets it."""

    partition: Mapping[str, Any] | None
    offset: Mapping[str, Any] | None


def parse_alter_offsets(body: bytes | str) -> list[ConnectorOffset]:
    """The offsets in the body of `PATCH /connectors/{name}/offsets`.

    Raises:
        MalformedRequestError: The body has another shape.
        BadRequestError: There are none.
    """
    fields = require_object(parse_body(body), "ConnectorOffsets")
    require_known(fields, ("offsets",), "ConnectorOffsets")
    if not fields.get("offsets") and fields.get("offsets") in (None, []):
        raise BadRequestError("Partitions / offsets need to be provided for an alter offsets request")
    found = []
    for entry in require_list(fields["offsets"], "offsets"):
        one = require_object(entry, "ConnectorOffset")
        require_known(one, ("partition", "offset"), "ConnectorOffset")
        found.append(ConnectorOffset(_map_or_null(one, "partition"), _map_or_null(one, "offset")))
    return found


def _map_or_null(fields: dict[str, Any], name: str) -> dict[str, Any] | None:
    return None if fields.get(name) is None else require_object(fields[name], name)


def sink_offsets(offsets: Iterable[ConnectorOffset]) -> dict[tuple[str, int], int | None]:
    """Offsets of a sink by topic and partition; None resets one.

    Raises:
        BadRequestError: A partition or offset is not one of Kafka's.
    """
    return {_topic_partition(one.partition): _sink_offset(one.offset) for one in offsets}


def _topic_partition(partition: Mapping[str, Any] | None) -> tuple[str, int]:
    if partition is None:
        raise BadRequestError("The partition for a sink connector offset cannot be null or missing")
    if TOPIC_KEY not in partition or PARTITION_KEY not in partition:
        raise BadRequestError(
            f"The partition for a sink connector offset must contain the keys '{TOPIC_KEY}' and '{PARTITION_KEY}'"
        )
    if partition[TOPIC_KEY] is None:
        raise BadRequestError("Kafka topic names must be valid strings and may not be null")
    number = _integer(partition[PARTITION_KEY])
    if number is None:
        raise BadRequestError(
            "Partition values for sink connectors need to be integers: "
            f"failed to parse {partition[PARTITION_KEY]!r} of topic {partition[TOPIC_KEY]}"
        )
    return str(partition[TOPIC_KEY]), number


def _sink_offset(offset: Mapping[str, Any] | None) -> int | None:
    if offset is None:
        return None
    if OFFSET_KEY not in offset:
        raise BadRequestError(
            f"The offset for a sink connector should either be null or contain the key '{OFFSET_KEY}'"
        )
    number = _integer(offset[OFFSET_KEY])
    if number is None:
        raise BadRequestError(
            f"Offset values for sink connectors need to be integers: failed to parse {offset[OFFSET_KEY]!r}"
        )
    return number


def _integer(value: Any) -> int | None:
    try:
        return int(str(value), 10)
    except ValueError:
        return None


def source_offsets(offsets: Iterable[ConnectorOffset]) -> list[ConnectorOffset]:
    """Offsets of a source, checked: keys are texts, values null or primitive.

    Raises:
        BadRequestError: They are not.
    """
    checked = list(offsets)
    for one in checked:
        for what, values in (("partition", one.partition), ("offset", one.offset)):
            for name, value in (values or {}).items():
                if isinstance(value, (dict, list)):
                    raise BadRequestError(
                        f"The {what} of a source connector may only contain primitive values, but {name} is not one"
                    )
    return checked


def require_stopped(name: str, state: str) -> None:
    """Raises BadRequestError unless the connector is stopped: only then its offsets may be changed."""
    if state != "STOPPED":
        raise BadRequestError(
            "Connectors must be in the STOPPED state before their offsets can be modified. This can be done for the "
            f"specified connector by issuing a 'PUT' request to the '/connectors/{name}/stop' endpoint"
        )


def sink_offsets_answer(committed: Mapping[tuple[str, int], int]) -> dict[str, Any]:
    """The answer of `GET /connectors/{name}/offsets` for a sink."""
    return {
        "offsets": [
            {"partition": {TOPIC_KEY: topic, PARTITION_KEY: partition}, "offset": {OFFSET_KEY: offset}}
            for (topic, partition), offset in committed.items()
        ]
    }
