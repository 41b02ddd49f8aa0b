from __future__ import annotations

import pytest

from penstock import Serdes, SessionWindows, SlidingWindows, TimeWindows, UnlimitedWindows, Window, Windowed
from penstock.durations import MAX_LONG
from penstock.errors import SerdeError
from penstock.serde.windowed import SessionWindowedSerde, TimeWindowedSerde
from penstock.topology.windowed_serdes import DefaultWindowedSerde, windowed_serde

STRING = Serdes.string()


def test_each_kind_of_window() -> None:
    assert windowed_serde(STRING, TimeWindows(10, 5)) == TimeWindowedSerde(STRING, 10)
    assert windowed_serde(STRING, SlidingWindows(10)) == TimeWindowedSerde(STRING, 10)
    assert windowed_serde(STRING, UnlimitedWindows()) == TimeWindowedSerde(STRING, MAX_LONG)
    assert windowed_serde(STRING, SessionWindows(10)) == SessionWindowedSerde(STRING)


def test_the_inner_serde_may_come_later() -> None:
    pending = windowed_serde(None, SessionWindows(10))
    assert pending == DefaultWindowedSerde(SessionWindows(10))
    assert isinstance(pending, DefaultWindowedSerde)
    serde = pending.with_defaults(STRING, None)
    key = Windowed("k", Window(3, 7))
    assert serde.deserialize("t", serde.serialize("t", key)) == key


def test_without_a_default_it_says_what_to_do() -> None:
    pending = DefaultWindowedSerde(TimeWindows(10))
    assert pending.with_defaults(None, None) is pending
    for use in (pending.encoder, pending.decoder):
        with pytest.raises(SerdeError) as caught:
            use("out")
        assert str(caught.value) == (
            "the windowed keys of topic out have no serde and there is no default. "
            'Give the aggregation key_serde="string" (or another), or set default.key.serde.'
        )
