from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.state import sorted_keys
from penstock.state.bytes_store import MemoryBytesStore
from penstock.state.ordered_bytes import escape, prefix_end, unescape
from penstock.state.sorted_keys import SortedKeys

keys = st.binary(max_size=3)
operations = st.lists(
    st.one_of(
        st.tuples(st.just("put"), keys, st.binary(max_size=2)),
        st.tuples(st.just("delete"), keys, st.none()),
        st.tuples(st.just("delete_range"), keys, st.one_of(st.none(), keys)),
        st.tuples(st.just("range"), st.one_of(st.none(), keys), st.one_of(st.none(), keys)),
    )
)


def _between(model: dict[bytes, bytes], lower: bytes | None, upper: bytes | None) -> list[tuple[bytes, bytes]]:
    return sorted(
        (key, value)
        for key, value in model.items()
        if (lower is None or key >= lower) and (upper is None or key < upper)
    )


@given(operations, st.booleans(), st.one_of(st.none(), st.integers(0, 4)))
def test_memory_store_is_a_sorted_dict(
    operations: list[tuple[str, bytes, bytes]], reverse: bool, limit: int | None
) -> None:
    store, model = MemoryBytesStore(), {}
    for name, first, second in operations:
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
        else:
            expected = _between(model, first, second)
            if reverse:
                expected.reverse()
            assert list(store.range(first, second, reverse=reverse, limit=limit)) == expected[:limit]
            assert store.first(first, second, reverse=reverse) == (expected[0] if expected else None)
        assert store.get(first) == model.get(first)
    assert list(store.items()) == sorted(model.items())
    assert len(store) == len(model)


def test_a_scan_shows_the_content_at_its_start() -> None:
    store = MemoryBytesStore([(b"a", b"1"), (b"b", b"2"), (b"c", b"3")])
    scan = store.range()
    store.delete(b"b")
    store.put(b"c", b"changed")
    store.put(b"d", b"4")
    assert list(scan) == [(b"a", b"1"), (b"b", b"2"), (b"c", b"3")]
    assert [key for key, _ in store.range()] == [b"a", b"c", b"d"]


def test_load_replaces_the_content() -> None:
    store = MemoryBytesStore([(b"a", b"1")])
    store.load([(b"z", b"26"), (b"b", b"2")])
    assert list(store.items()) == [(b"b", b"2"), (b"z", b"26")]


@given(st.lists(st.integers(0, 200)), st.integers(0, 200), st.integers(0, 200), st.integers(0, 60))
def test_sorted_keys_over_many_blocks(numbers: list[int], lower: int, upper: int, limit: int) -> None:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sorted_keys, "_BLOCK", 4)
        every = {bytes((n,)) for n in range(0, 200, 3)}
        ordered = SortedKeys(every)
        for number in numbers:
            key = bytes((number,))
            (ordered.remove if key in every else ordered.add)(key)
            every ^= {key}
        low, high = bytes((lower,)), bytes((upper,))
        expected = sorted(key for key in every if low <= key < high)
        assert ordered.between(low, high) == expected
        assert ordered.between(low, high, limit=limit) == expected[:limit]
        assert ordered.between(low, high, reverse=True, limit=limit) == expected[::-1][:limit]
        assert ordered.between(None, None, reverse=True) == sorted(every, reverse=True)


@given(keys, keys, st.binary(max_size=2), st.binary(max_size=2))
def test_escaped_keys_keep_their_order_whatever_follows(a: bytes, b: bytes, after_a: bytes, after_b: bytes) -> None:
    assert unescape(escape(a)) == a
    if a != b:
        assert (escape(a) + after_a < escape(b) + after_b) == (a < b)


@given(st.binary(max_size=2), st.binary(max_size=3))
def test_prefix_end_is_after_exactly_the_prefix(prefix: bytes, key: bytes) -> None:
    end = prefix_end(prefix)
    assert (key >= prefix and (end is None or key < end)) == key.startswith(prefix)
