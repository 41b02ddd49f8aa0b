"""Recorded cases side by side in one topology: each has topics of its own, all write to one."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, cast

from penstock import ContextualProcessor, KTable, Record, StreamsBuilder, Topology
from tests.cases.build import Reader
from tests.cases.case import Case
from tests.cases.judge import Row, _plain
from tests.cases.play import CHANGES, OLD_VALUES

# The client library cannot write a timestamp of 0, which cases have: they are sent one later and read one earlier.
SHIFT = 1


def shifted_back(record: Any, partition_time: int) -> int:
    """The timestamp extractor of the cases."""
    return int(record.timestamp) - SHIFT


class _Report(ContextualProcessor[Any, Any, Any, Any]):
    """Writes what reaches it as text, under the id of the case."""

    def __init__(self, case: str) -> None:
        self._case = case

    def process(self, record: Record[Any, Any]) -> None:
        row = _plain((record.key, record.value, record.timestamp))
        self.context.forward(record.with_key(self._case).with_value(json.dumps(row)))


def read_row(text: bytes) -> Row:
    """What `_Report` wrote."""
    key, value, timestamp = json.loads(text)
    return key, value, timestamp


@dataclass(frozen=True, slots=True)
class _Prefixed:
    """The builder with other names of topics."""

    builder: StreamsBuilder
    prefix: str

    def stream(self, topic: str) -> Any:
        return self.builder.stream(self.prefix + topic)

    def table(self, topic: str, **options: Any) -> Any:
        return self.builder.table(self.prefix + topic, **options)

    def global_table(self, topic: str) -> Any:
        return self.builder.global_table(self.prefix + topic)


@dataclass(frozen=True, slots=True)
class CaseTopics:
    """Names of topics."""

    prefix: str

    @property
    def output(self) -> str:
        return f"{self.prefix}-out"

    def of(self, case: Case, topic: str) -> str:
        return f"{self.prefix}-{case.id}-{topic}"


def topology(cases: Sequence[Case], names: CaseTopics, config: Mapping[str, Any]) -> Topology:
    """All cases in one topology."""
    builder = StreamsBuilder(config)
    observed: list[tuple[Case, str]] = []
    for case in cases:
        prefixed = _Prefixed(builder, names.of(case, ""))
        result = Reader(cast("StreamsBuilder", prefixed), case.inputs[0][0]).read(case.topology)
        if isinstance(result, KTable) and any(phrase in case.topology for phrase in CHANGES):
            if OLD_VALUES in case.topology:
                result._place.result.send_old_values(force=True)
            observed.append((case, result._place.name))
            continue
        stream = result.to_stream() if isinstance(result, KTable) else result
        stream.process(_reporter(case)).to(names.output, key_serde="string", value_serde="string")
    built = builder.build(config)
    for case, node in observed:
        built.add_processor(f"report-{case.id}", _reporter(case), node)
        built.add_sink(
            f"sink-{case.id}", names.output, f"report-{case.id}", key_serializer="string", value_serializer="string"
        )
    return built


def _reporter(case: Case) -> Callable[[], _Report]:
    identifier = case.id
    return lambda: _Report(identifier)
