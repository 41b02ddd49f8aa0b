"""The bytes of a batch, over real LMDB, held to a sorted dict."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import lmdb
from hypothesis import given, settings
from hypothesis import strategies as st

from penstock.state.disk.layered import LayeredBytesStore
from penstock.state.disk.lmdb_keys import stored_key

keys = st.binary(max_size=2)
values = st.binary(max_size=1)
bounds = st.one_of(st.none(), keys)
steps = st.lists(
    st.one_of(
        st.tuples(st.just("put"), keys, values),
        st.tuples(st.just("delete"), keys, st.none()),
        st.tuples(st.just("delete_range"), bounds, bounds),
        st.tuples(st.just("range"), bounds, bounds),
        st.tuples(st.just("batch"), st.none(), st.none()),
    ),
    max_size=30,
)


def _between(model: dict[bytes, bytes], lower: bytes | None, upper: bytes | None) -> list[tuple[bytes, bytes]]:
    return sorted((k, v) for k, v in model.items() if (lower is None or k >= lower) and (upper is None or k < upper))


@settings(max_examples=50, deadline=None)
@given(
    st.dictionaries(keys, values, max_size=8),
    st.dictionaries(keys, st.one_of(st.none(), values), max_size=5),
    steps,
    st.booleans(),
    st.one_of(st.none(), st.integers(1, 3)),
)
def test_layers_are_one_sorted_dict(
    stored: dict[bytes, bytes], earlier: dict[bytes, Any], steps: list[Any], reverse: bool, limit: int | None
) -> None:
    with TemporaryDirectory() as folder, lmdb.open(str(Path(folder) / "lmdb"), max_dbs=1) as env:
        db = env.open_db(b"store")
        with env.begin(write=True, db=db) as txn:
            for key, value in stored.items():
                txn.put(stored_key(key), value)
        with env.begin() as txn:
            store = LayeredBytesStore("store")
            store.attach(txn, db)
            store.earlier = earlier
            base = {k: v for k, v in {**stored, **earlier}.items() if v is not None}
            model = dict(base)
            for name, first, second in steps:
                if name == "put":
                    store.put(first, second)
                    model[first] = second
                elif name == "delete":
                    store.delete(first)
                    model.pop(first, None)
                elif name == "delete_range":
                    store.delete_range(first, second)
                    for key, _ in _between(model, first, second):
                        del model[key]
                elif name == "batch":  # the host begins anew: other changes over the same LMDB
                    earlier = store.earlier
                    store.begin()
                    store.earlier = earlier
                    model = dict(base)
                else:
                    expected = _between(model, first, second)[:: -1 if reverse else 1]
                    assert list(store.range(first, second, reverse=reverse, limit=limit)) == expected[:limit]
                assert first is None or store.get(first) == model.get(first)
            assert list(store.items()) == sorted(model.items())
            assert len(store) == len(model)
