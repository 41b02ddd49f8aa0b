from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from penstock.kafka.timestamp_merge import Lane, merge

Record = tuple[int, int, int]
"""Timestamp, partition, offset."""


def by_smallest_head(partitions: list[list[Record]]) -> list[Record]:
    """The definition: of all heads, the one with the smallest timestamp, then the smallest partition."""
    queues = [list(partition) for partition in partitions]
    merged = []
    while any(queues):
        heads = [(queue[0][0], rank) for rank, queue in enumerate(queues) if queue]
        merged.append(queues[min(heads)[1]].pop(0))
    return merged


timestamps = st.lists(st.integers(-1, 6), max_size=12)


@given(st.lists(timestamps, min_size=1, max_size=4), st.data())
def test_merging_in_parts_is_taking_the_smallest_head(columns: list[list[int]], data: st.DataObject) -> None:
    partitions = [[(ts, p, offset) for offset, ts in enumerate(column)] for p, column in enumerate(columns)]
    lanes: list[Lane[Record]] = [Lane() for _ in partitions]
    waiting = [list(partition) for partition in partitions]
    merged: list[Record] = []
    while not all(lane.ended for lane in lanes):
        rank = data.draw(st.sampled_from([i for i, lane in enumerate(lanes) if not lane.ended]))
        size = data.draw(st.integers(1, 4))
        part, waiting[rank] = waiting[rank][:size], waiting[rank][size:]
        lanes[rank].add(part, [ts for ts, _, _ in part])
        lanes[rank].ended = not waiting[rank]
        merged += merge(lanes)
    assert merged == by_smallest_head(partitions)
    assert all(len(lane) == 0 for lane in lanes)


def test_a_lane_that_may_still_give_older_records_holds_the_others_back() -> None:
    a, b = Lane[str](), Lane[str]()
    a.add(["a9"], [9])
    assert merge([a, b]) == []
    b.add(["b3"], [3])
    assert merge([a, b]) == ["b3"]
    b.add(["b9", "b10"], [9, 10])
    assert merge([a, b]) == ["a9"]
    a.ended = True
    assert merge([a, b]) == ["b9", "b10"]
