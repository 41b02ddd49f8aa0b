"""The setting `penstock.start.offsets`: where partitions start, as users write it."""

from __future__ import annotations

import json
from collections.abc import Mapping
from datetime import datetime
from typing import Any

from penstock.durations import instant_ms
from penstock.runtime.setting_kinds import Kind

_WORDS = ("earliest", "latest")


def parse_start_offsets(given: Any) -> dict[str, Any]:
    """A position for each partition or topic: an offset, `earliest`, `latest`, or `{"timestamp": ms}`.

    >>> parse_start_offsets('{"orders": {"0": 17}, "prices": "2026-05-01T00:00:00Z"}')
    {'orders': {'0': 17}, 'prices': {'timestamp': 1777593600000}}

    Raises:
        ValueError: It is something else.
    """
    if isinstance(given, str):
        try:
            given = json.loads(given)
        except json.JSONDecodeError as error:
            raise ValueError(f'expected JSON such as {{"orders": {{"0": 17}}}} ({error})') from None
    if not isinstance(given, Mapping):
        raise TypeError("expected a mapping of topics to positions")
    return {str(topic): _topic(topic, position) for topic, position in given.items()}


def _topic(topic: str, position: Any) -> Any:
    if isinstance(position, Mapping):
        return {_partition(topic, partition): _position(topic, at) for partition, at in position.items()}
    if isinstance(position, int):
        raise TypeError(f"{topic} has an offset without a partition; write {{{topic!r}: {{0: {position}}}}}")
    return _position(topic, position)


def _partition(topic: str, partition: Any) -> str:
    if not str(partition).isdigit():
        raise ValueError(f"{partition!r} is not a partition of {topic}")
    return str(int(partition))


def _position(topic: str, at: Any) -> Any:
    if isinstance(at, int) and not isinstance(at, bool) and at >= 0:
        return at
    if isinstance(at, datetime):
        if at.tzinfo is None:
            raise ValueError(f"{topic} starts at {at.isoformat()}, which has no time zone")
        return {"timestamp": instant_ms(at)}
    if at in _WORDS:
        return at
    try:
        # Python 3.10 does not know the Z of ISO 8601.
        time = datetime.fromisoformat(at.replace("Z", "+00:00"))
    except (AttributeError, ValueError):
        raise ValueError(
            f"{topic} starts at {at!r}; expected an offset, earliest, latest or a time such as 2026-05-01T00:00:00Z"
        ) from None
    return _position(topic, time)


START_OFFSETS = Kind("mapping, or its JSON", parse_start_offsets)
