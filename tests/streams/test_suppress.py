from __future__ import annotations

from typing import Any

import pytest

from penstock import BufferConfig, StreamsBuilder, Suppressed
from penstock.topology.operators import Suppress
from penstock.topology.views import StoreView
from tests.streams.building import refused, says, the


def windowed(builder: StreamsBuilder | None = None) -> Any:
    return (builder or StreamsBuilder()).stream("in").group_by_key().tumbling("1m", grace="10s").count(name="n")


def test_final_results_wait_for_the_grace() -> None:
    builder = StreamsBuilder()
    windowed(builder).map_values(str).filter(bool).suppress(until="window_closes", name="final")
    operator = the(builder.build(), Suppress)
    assert (operator.store, operator.wait, operator.until_window_closes) == ("final-store", 10_000, True)
    assert (operator.max_records, operator.max_bytes, operator.strict) == (None, None, True)


def test_sessions_close_after_gap_and_grace() -> None:
    builder = StreamsBuilder()
    sessions = builder.stream("in").group_by_key().session("1m", grace="10s").count()
    sessions.suppress(Suppressed.until_window_closes())
    assert the(builder.build(), Suppress).wait == 70_000


def test_the_longest_of_several_windows_counts() -> None:
    builder = StreamsBuilder()
    groups = builder.stream("in").group_by_key()
    one, two = groups.tumbling("1m", grace="5s").count(), groups.tumbling("1m", grace="9s").count()
    one.join(two).suppress(until="window_closes")
    assert the(builder.build(), Suppress).wait == 9_000


def test_a_time_limit_with_limits() -> None:
    builder = StreamsBuilder()
    builder.table("in", store="rows").suppress(until="10s", max_records=5, max_bytes=1000)
    operator = the(builder.build(), Suppress)
    assert (operator.wait, operator.max_records, operator.max_bytes, operator.strict) == (10_000, 5, 1000, False)
    assert operator.parent == StoreView("rows")


def test_the_object_means_the_same() -> None:
    builder = StreamsBuilder()
    buffer = BufferConfig.max_records(5).with_max_bytes(1000).with_logging_disabled()
    builder.table("in", store="rows").suppress(Suppressed.until_time_limit("10s", buffer).with_name("quiet"))
    topology = builder.build()
    operator = the(topology, Suppress)
    assert (operator.wait, operator.max_records, operator.max_bytes, operator.strict) == (10_000, 5, 1000, False)
    assert not topology.stores["quiet-store"].logging


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: StreamsBuilder().table("in").suppress(until="window_closes", name="final"),
            (
                "suppress waits for windows to close, but no windowed aggregation is upstream (node final at {}). "
                'Aggregate by windows first (group.tumbling("1m").count()), or wait for a time: suppress(until="1m").'
            ),
        ),
        (lambda: windowed().suppress(), "{either}"),
        (lambda: windowed().suppress(Suppressed.until_time_limit("1s"), until="1s"), "{either}"),
        (lambda: windowed().suppress(Suppressed.until_time_limit("1s"), max_records=4), "{either}"),
        (
            lambda: windowed().suppress("1s"),
            "suppress was given '1s' (at {}). Give a Suppressed, or until=\"window_closes\".",
        ),
        (
            lambda: windowed().suppress(until="1s", max_records=1, when_full="drop"),
            'when_full is \'drop\' (at {}). Give "emit" or "fail".',
        ),
        (
            lambda: windowed().suppress(Suppressed.until_time_limit("1s").with_name("a"), name="b"),
            "name of suppress is given twice: by Suppressed and by name= (at {}). Keep one of them.",
        ),
        (
            lambda: windowed().suppress(Suppressed.until_time_limit("1s").with_name("a b")),
            (
                "the name of suppress 'a b' is not a legal name (at {}). "
                "Use 1 to 249 characters of a-z A-Z 0-9 . _ -, but not . or .. alone."
            ),
        ),
    ],
)
def test_refused(call: Any, message: str) -> None:
    either = (
        "suppress needs either until= or a Suppressed (at {}). "
        'For example suppress(until="window_closes") or suppress(until="10s", max_records=1000).'
    )
    says(call, either if message == "{either}" else message)


def test_final_results_never_leave_early() -> None:
    assert refused(lambda: Suppressed.until_window_closes(BufferConfig.max_records(5))) == (
        "until_window_closes was given a buffer that emits early. "
        "Use BufferConfig.unbounded(), or add .shut_down_when_full()."
    )
    builder = StreamsBuilder()
    windowed(builder).suppress(until="window_closes", max_records=5)
    assert the(builder.build(), Suppress).strict
