"""Running a case: its topology in penstock's test driver, one input after the other."""

from __future__ import annotations

from typing import Any

from penstock import ContextualProcessor, KTable, Record, Serdes, StreamsBuilder, Topology, TopologyTestDriver
from tests.cases.build import Reader
from tests.cases.case import Case
from tests.cases.judge import Outcome, Row

CHANGES = ("observed as change records", "shown as change")
OLD_VALUES = "old values enabled"
FLUSHED_ONCE = "store cached"


def _write(value: Any) -> bytes:
    return b"i" + value.to_bytes(8, "big") if isinstance(value, int) else b"s" + value.encode()


def _read(data: bytes) -> Any:
    return int.from_bytes(data[1:], "big") if data[:1] == b"i" else data[1:].decode()


# Keys and values of cases are whole numbers and texts. Their bytes sort as Kafka's do, for the rules that sort by bytes.
CASE_SERDE = Serdes.from_functions(_write, _read, name="case")


class Collector(ContextualProcessor[Any, Any, Any, Any]):
    """Keeps what reaches it."""

    def __init__(self, rows: list[Row]) -> None:
        self._rows = rows

    def process(self, record: Record[Any, Any]) -> None:
        self._rows.append((record.key, record.value, record.timestamp))


def play(case: Case) -> Outcome:
    """Run the inputs of a case and collect what comes out of each."""
    rows: list[Row] = []
    flush_once = FLUSHED_ONCE in case.topology
    cached = flush_once or "caching on" in case.topology
    config = {
        "default.key.serde": CASE_SERDE,
        "default.value.serde": CASE_SERDE,
        "statestore.cache.max.bytes": 10485760 if cached else 0,
    }
    with TopologyTestDriver(_topology(case, rows, config), config, wall_clock=0) as driver:
        outcome = Outcome()
        flush = driver._task.flush
        if flush_once:  # one flush after the last input, where the driver would flush after each
            driver._task.flush = lambda: None  # type: ignore[method-assign]
        for index, (topic, key, value, timestamp) in enumerate(case.inputs):
            before = driver.dropped_records
            driver.create_input_topic(topic).pipe_input(key, value, timestamp)
            if flush_once and index == len(case.inputs) - 1:
                flush()
            outcome.outputs.append(rows.copy())
            outcome.drops.append(driver.dropped_records - before)
            rows.clear()
        return outcome


def _topology(case: Case, rows: list[Row], config: dict[str, Any]) -> Topology:
    builder = StreamsBuilder(config)
    result = Reader(builder, case.inputs[0][0]).read(case.topology)
    if isinstance(result, KTable) and any(phrase in case.topology for phrase in CHANGES):
        return _observed(builder, result, rows, config, old_values=OLD_VALUES in case.topology)
    stream = result.to_stream() if isinstance(result, KTable) else result
    stream.process(lambda: Collector(rows))
    return builder.build(config)


def _observed(
    builder: StreamsBuilder, table: KTable[Any, Any], rows: list[Row], config: dict[str, Any], *, old_values: bool
) -> Topology:
    """The collector below the table's own node: a processor there gets changes."""
    if old_values:
        table._place.result.send_old_values(force=True)
    return builder.build(config).add_processor("observer", lambda: Collector(rows), table._place.name)
