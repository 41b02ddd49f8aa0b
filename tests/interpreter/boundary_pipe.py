"""Driving a topology with rows of text and reading its results as rows."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Any

from typing_extensions import Self

from penstock import KStream, StreamsBuilder, TopologyTestDriver, Windowed

Input = tuple[str, "str | None", "str | None", int]
Row = tuple[Any, Any, int]

UNCACHED = {"default.key.serde": "string", "default.value.serde": "string", "statestore.cache.max.bytes": 0}
CACHED = UNCACHED | {"statestore.cache.max.bytes": 10485760}


class Pipe:
    """A topology whose result goes to the topic `out`; keys of windows print as `key@start/end`.

    >>> with Pipe(lambda b: b.stream("in").map_values(str.upper)) as pipe:
    ...     pipe.send("in", "k", "a", 5)
    [('k', 'A', 5)]
    """

    def __init__(self, build: Callable[[StreamsBuilder], Any], config: dict[str, Any] | None = None) -> None:
        settings = UNCACHED if config is None else config
        builder = StreamsBuilder(settings)
        result = build(builder)
        stream: KStream[Any, Any] = result if isinstance(result, KStream) else result.to_stream()
        # the value printed too: an output topic of text serves every test
        stream.map(lambda k, v: (_text(k), None if v is None else str(v))).to("out")
        self.driver = TopologyTestDriver(builder.build(settings), settings, wall_clock=0)

    def send(self, topic: str, key: str | None, value: str | None, timestamp: int) -> list[Row]:
        """Pipe one record and return what came out."""
        self.driver.create_input_topic(topic).pipe_input(key, value, timestamp)
        return self.results()

    def send_all(self, inputs: Iterable[Input]) -> list[list[Row]]:
        """Pipe records and return what came out of each."""
        return [self.send(*row) for row in inputs]

    def results(self) -> list[Row]:
        """What waits in the output topic."""
        rows = self.driver.create_output_topic("out").read_records_to_list()
        return [(row.key, row.value, row.timestamp or 0) for row in rows]

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_error: object) -> None:
        self.driver.close()


def _text(key: Any) -> str | None:
    if isinstance(key, Windowed):
        return f"{key.key}@{key.window.start}/{key.window.end}"
    return None if key is None else str(key)


def pair(left: str | None, right: str | None) -> str:
    """Both values, null in Java's words."""
    return f"{left or 'null'},{right or 'null'}"
