"""A table as a stream."""

from __future__ import annotations

from penstock.state.builders import TimestampedKeyValueStoreBuilder
from penstock.topology.operators import TableToStream
from tests.interpreter.observe import JSON, Run, Seen


def test_every_change_goes_on_without_its_old_value() -> None:
    r = Run(TableToStream(), table=TimestampedKeyValueStoreBuilder(name="table", **JSON))
    assert r.pipe(("a", 1, 1), ("a", 1, 2), ("a", None, 3), ("a", None, 4)) == [
        Seen("a", 1, 1), Seen("a", 1, 2), Seen("a", None, 3), Seen("a", None, 4),
    ]  # fmt: skip


def test_headers_are_kept() -> None:
    r = Run(TableToStream())
    r.pipe(("a", 1, 1), headers=[("h", b"1")])
    assert r.headers[0].last("h") == b"1"
