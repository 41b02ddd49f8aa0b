from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock import Serdes
from penstock.errors import SerdeError
from penstock.records import Change
from penstock.topology.change_serde import ChangeSerde

values = st.none() | st.text()


@given(values, values)
def test_both_sides_come_back(new: str | None, old: str | None) -> None:
    serde = ChangeSerde(Serdes.string())
    data = serde.serialize("t", Change(new, old))
    assert serde.deserialize("t", data) == Change(new, old)


def test_null_stays_null() -> None:
    serde = ChangeSerde(Serdes.string())
    assert serde.serialize("t", None) is None
    assert serde.deserialize("t", None) is None


@pytest.mark.parametrize("data", [b"", b"\x00\x00", b"\x00\x00\x00\x00\x09abc"])
def test_other_bytes_are_refused(data: bytes) -> None:
    with pytest.raises(SerdeError, match=f"{len(data)} bytes of topic t are no table change"):
        ChangeSerde(Serdes.string()).deserialize("t", data)


def test_the_default_is_put_in_later() -> None:
    pending = ChangeSerde(None)
    assert pending.with_defaults("key", Serdes.long()) == ChangeSerde(Serdes.long())
    assert ChangeSerde(Serdes.string()).with_defaults("key", Serdes.long()) == ChangeSerde(Serdes.string())
    assert (pending.name, pending.mutable) == ("change(default)", True)
    assert (ChangeSerde(Serdes.long()).name, ChangeSerde(Serdes.long()).mutable) == ("change(long)", False)
    with pytest.raises(SerdeError, match="a table's group_by has no value serde and there is no default"):
        pending.encoder("t")
