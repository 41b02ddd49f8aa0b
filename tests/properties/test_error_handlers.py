"""With handlers that go on, every other record is processed as if the poison had never come; the dead letters are the poison."""

from __future__ import annotations

from functools import cache
from typing import Any, NamedTuple

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock import (
    LogAndContinueExceptionHandler,
    LogAndContinueProcessingExceptionHandler,
    Response,
    StreamsBuilder,
    Topology,
    TopologyTestDriver,
)

DEAD = "dead-letters"
HANDLERS = {
    "deserialization.exception.handler": LogAndContinueExceptionHandler,
    "processing.exception.handler": LogAndContinueProcessingExceptionHandler,
    "production.exception.handler": lambda context, record, error, origin: Response.resume(context.dead_letters(error)),
    "errors.dead.letter.queue.topic.name": DEAD,
}

UNREADABLE = b"\xff\xfe"  # no text
NO_NUMBER = b"x"  # fails in map_values
REFUSED = b"13"  # fails in the aggregator
UNWRITABLE = str(1 << 70).encode()  # no long, so the sink cannot write it
POISON = (UNREADABLE, NO_NUMBER, REFUSED, UNWRITABLE)


class Raw(NamedTuple):
    key: bytes
    value: bytes
    timestamp: int


raws = st.builds(
    Raw,
    st.sampled_from((b"a", b"b", b"c")),
    st.sampled_from((b"1", b"2", b"3", *POISON)),
    st.integers(0, 50),
)


def refuse_13(value: int, total: int) -> int:
    if value == 13:
        raise ValueError("thirteen")
    return 0 if value > 1 << 69 else total + value


@cache
def topology() -> Topology:
    """Numbers, written as they are and summed up by key and by window; nothing is late."""
    builder = StreamsBuilder()
    numbers = builder.stream("in").map_values(int)
    groups = numbers.group_by_key(value_serde="json")
    sums = groups.aggregate(0, refuse_13, value_serde="json")
    sums.to_stream().to("sums")
    groups.tumbling(10, grace=100).aggregate(0, refuse_13, value_serde="json").to_stream().to("windows")
    numbers.flat_map_values(lambda value: [value, value * 10]).to("numbers", value_serde="long")
    return builder.build()


def play(records: list[Raw], *, caching: bool) -> tuple[dict[str, list[Any]], list[Any]]:
    """What came out of each topic, and the dead letters."""
    with TopologyTestDriver(topology(), {**HANDLERS, "statestore.cache.max.bytes": 1000 * caching}) as driver:
        for record in records:
            driver.pipe("in", *record)
        written = {topic: list(driver.outputs(topic)) for topic in ("sums", "windows", "numbers")}
        return written, [letter[:3] for letter in driver.outputs(DEAD)]


@pytest.mark.slow
@given(records=st.lists(raws, max_size=20), caching=st.booleans())
@settings(max_examples=60, deadline=None)
def test_all_other_records_are_processed(records: list[Raw], caching: bool) -> None:
    written, letters = play(records, caching=caching)
    # Whatever fails, fails wherever the record goes: 13 in both aggregators, the large number in two writes to the sink.
    times = {UNREADABLE: 1, NO_NUMBER: 1, REFUSED: 2, UNWRITABLE: 2}
    assert letters == [record for record in records for _ in range(times.get(record.value, 0))]

    # The refused and the unwritable get past map_values, so they are seen where they do no harm.
    for topic, harmless in (("sums", {UNWRITABLE}), ("windows", {UNWRITABLE}), ("numbers", {REFUSED})):
        kept = [record for record in records if record.value not in POISON or record.value in harmless]
        assert written[topic] == play(kept, caching=caching)[0][topic]


@pytest.mark.parametrize("value", POISON)
def test_a_dead_letter_tells_what_happened(value: bytes) -> None:
    with TopologyTestDriver(topology(), HANDLERS) as driver:
        driver.pipe("in", b"a", b"1", 5)
        driver.pipe("in", b"k", value, 7)
        key, raw, timestamp, headers = driver.outputs(DEAD)[0]
    assert (key, raw, timestamp) == (b"k", value, 7)
    told = {name.removeprefix("__streams.errors."): text for name, text in headers}
    assert told["topic"] == b"in"
    assert (told["partition"], told["offset"]) == (b"0", b"1")
    stack = told["stacktrace"]
    message = told["message"]
    assert stack is not None
    assert message is not None
    assert stack.decode().rstrip().endswith(message.decode())
