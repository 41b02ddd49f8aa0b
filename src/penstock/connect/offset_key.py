"""Keys of source offsets in Kafka Connect's offset topic: `["connector",{"partition":..}]`."""

from __future__ import annotations

from typing import Any

import orjson


def offset_key(name: str, partition: Any) -> bytes:
    """The key of an offset, byte for byte as Kafka Connect's JsonConverter writes it: UTF-8, fields in the order they have.

    A reader of Kafka's looks offsets up by these bytes, and compaction compares them. So whoever writes an offset again
    has to keep the order of fields that is in the topic already.

    >>> offset_key("c", {"protocol": "1", "table": "größe"}).decode()
    '["c",{"protocol":"1","table":"größe"}]'
    """
    return orjson.dumps([name, partition], option=orjson.OPT_NON_STR_KEYS)


def sorted_key(name: str, partition: Any) -> bytes:
    """The same for all spellings of a partition: for comparing, not for topics.

    >>> sorted_key("c", {"b": 1, "a": 2}) == sorted_key("c", {"a": 2, "b": 1})
    True
    """
    return orjson.dumps([name, partition], option=orjson.OPT_SORT_KEYS | orjson.OPT_NON_STR_KEYS)
