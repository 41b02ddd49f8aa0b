"""Which index, data stream or alias the records of a topic go to."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from penstock.connect.connectors.search import keys
from penstock.connect.errors import ConnectError

_LONGEST_INDEX = 255
_LONGEST_NAMESPACE = 100


def index_name(topic: str) -> str:
    """The index of a topic, as names of indices have to be.

    >>> [index_name(topic) for topic in ("Orders", "_orders", "-orders", ".", "..")]
    ['orders', 'orders', 'orders', 'dot', 'dotdot']
    """
    name = topic.lower()[:_LONGEST_INDEX]
    if name in {".", ".."}:
        return "dot" if name == "." else "dotdot"
    return name[1:] if name[:1] in {"-", "_"} else name


def pairs(entries: Iterable[str]) -> dict[str, str]:
    """Entries like topic:index as a map."""
    return {topic: name for topic, _, name in (entry.partition(":") for entry in entries)}


class Naming:
    """Names by the sink's settings.

    Attributes:
        data_stream: Whether the names are those of data streams.
        made_by_others: Whether nothing may be created.

    Args:
        settings: The sink's settings.
    """

    def __init__(self, settings: Mapping[str, Any]) -> None:
        usage: str = settings[keys.RESOURCE_USAGE].lower()
        stream_type: str = settings[keys.STREAM_TYPE].lower()
        self.made_by_others = usage != "disabled"
        self.data_stream = stream_type != "none" or usage.endswith("datastream")
        self._mapping = pairs(settings[keys.RESOURCE_MAPPING])
        self._indices = pairs(settings[keys.TOPIC_INDEX_MAP])
        self._stream = None
        if stream_type != "none":
            dataset, namespace = settings[keys.STREAM_DATASET], settings[keys.STREAM_NAMESPACE]
            self._stream = f"{stream_type}-{dataset}-{namespace}"

    def resource(self, topic: str) -> str:
        """What the records of a topic are written to.

        Raises:
            ConnectError: Others make it, and nobody said what it is called.
        """
        if self.made_by_others:
            if topic not in self._mapping:
                raise ConnectError(
                    f"{keys.RESOURCE_MAPPING} does not say where the topic {topic} goes.",
                    hint=f"Add {topic}:NAME, or set {keys.RESOURCE_USAGE}=disabled.",
                )
            return self._mapping[topic]
        if self._stream is not None:
            return self._stream.replace("${topic}", topic[:_LONGEST_NAMESPACE]).lower()
        return self._indices.get(topic) or index_name(topic)


class PrefixedStreams(Naming):
    """Data streams as Aiven's connector names them: a prefix and the topic, or the topic alone."""

    def __init__(self, settings: Mapping[str, Any], prefix: str | None) -> None:
        super().__init__(settings)
        self.data_stream = True
        self._prefix = prefix

    def resource(self, topic: str) -> str:
        name = index_name(topic)
        return f"{self._prefix}-{name}" if self._prefix else name
