from __future__ import annotations

import pickle

import pytest

from penstock.errors import SerdeError, TopologyError
from penstock.records import Window, Windowed
from penstock.serde import Serde, Serdes, WindowedSerdes


def test_time_windowed_is_key_and_start() -> None:
    serde = WindowedSerdes.time_windowed("string", "1s")
    key = Windowed("ab", Window(258, 1258))
    assert serde.serialize("t", key) == b"ab" + b"\0\0\0\0\0\0\1\2"
    assert serde.deserialize("t", b"ab" + b"\0\0\0\0\0\0\1\2") == key


def test_session_windowed_is_key_end_and_start() -> None:
    serde = WindowedSerdes.session_windowed(Serdes.string())
    key = Windowed("ab", Window(1, 2))
    assert serde.serialize("t", key) == b"ab" + b"\0\0\0\0\0\0\0\2" + b"\0\0\0\0\0\0\0\1"
    assert serde.deserialize("t", serde.serialize("t", key)) == key


def test_the_end_of_an_endless_window_stays_in_64_bits() -> None:
    serde = WindowedSerdes.time_windowed("long", 2**63 - 1)
    key = Windowed(1, Window(5, 2**63 - 1))
    assert serde.deserialize("t", serde.serialize("t", key)) == key


@pytest.mark.parametrize("serde", [WindowedSerdes.time_windowed("long", 10), WindowedSerdes.session_windowed("long")])
def test_null_flags_and_travel(serde: Serde[Windowed[int]]) -> None:
    assert serde.serialize("t", None) is None
    assert serde.deserialize("t", None) is None
    assert serde.deserialize("t", b"") is None
    assert serde.key_identity
    assert not serde.mutable
    assert pickle.loads(pickle.dumps(serde)) == serde


def test_flags_are_those_of_the_inner_serde() -> None:
    serde = WindowedSerdes.session_windowed("json")
    assert not serde.key_identity
    assert serde.mutable


def test_errors() -> None:
    time, session = WindowedSerdes.time_windowed("string", 10), WindowedSerdes.session_windowed("string")
    with pytest.raises(SerdeError, match=r"the time_windowed\(string\) serde cannot write str 'a' to topic x"):
        time.serialize("x", "a")  # type: ignore[arg-type]
    with pytest.raises(SerdeError, match="its key is null"):
        time.serialize("x", Windowed(None, Window(0, 10)))
    with pytest.raises(SerdeError, match="does not fit into 64 bits"):
        time.serialize("x", Windowed("a", Window(2**63, 2**64)))
    with pytest.raises(SerdeError, match="too short for a window start of 8 bytes"):
        time.deserialize("x", b"abc")
    with pytest.raises(SerdeError, match="too short for a session's end and start of 16 bytes"):
        session.deserialize("x", b"12345678")
    with pytest.raises(TopologyError, match="window_size is 0"):
        WindowedSerdes.time_windowed("string", 0)
