"""Joins of two tables on the same key: a change of one side meets the current row of the other.

    join, side that changed   emits if                      new value
    inner, either             other                         new ? join : tombstone
    left, left                other or new or old           new ? join (other may be missing) : tombstone
    left, right               other, which is the left row  join, new may be missing
    outer, either             other or new or old           other or new ? join : tombstone

The old value of the result follows the same rules with the old value of the change. The timestamp is the larger of the
change's and the other row's, for tombstones too.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import Any

from penstock.interpreter.compiler import NodeContext, Process, builds
from penstock.interpreter.table_source import NOT_PUT
from penstock.interpreter.views import Get, is_held_back
from penstock.topology.operators import TableJoin, TableJoinMerge

# Takes (key, value of the side that changed, value of the other side), whichever side is the left one.
Join = Callable[[Any, Any, Any], Any]


@builds(TableJoin)
def table_join(operator: TableJoin, node: NodeContext) -> Process:
    """One side of the join."""
    left = operator.side == "left"
    join = operator.joiner.bind("key", "left", "right") if left else operator.joiner.bind("key", "right", "left")
    build: Callable[[Join, Get, Process, bool], Process]
    if operator.kind == "inner":
        build = partial(_inner, known=node.view(operator.other, forwarded=True).get)
    elif operator.kind == "outer":
        build = _outer
    else:
        build = _left if left else _right_of_left
    # Where old values go on, each change must be joined with the row that was forwarded. A row that still waits in the
    # other side's cache brings its own change: joined with it now as well, the pair would be added twice below, and
    # taken away once. (Kafka does that.) And if the row comes and goes in there, it never brings one: a change that does
    # not wait itself must not have met it. (In Kafka it does.)
    forwarded = operator.send_old or operator.own is None or not is_held_back(operator.own, node)
    other = node.view(operator.other, forwarded=forwarded)
    process = build(join, other.get, node.forward, operator.send_old)
    # Keys need no check: whatever makes a table drops records without one.
    return _only_latest(process, node) if operator.versioned else process


def _only_latest(process: Process, node: NodeContext) -> Process:
    """A version that is not the latest changes no current row, so it changes no join."""
    drop = node.drop("not the latest version in a table join")

    def latest(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        if is_latest:
            process(key, new, old, timestamp, is_latest)
        else:
            drop()

    return latest


def _inner(join: Join, get: Get, forward: Process, send_old: bool, *, known: Get) -> Process:  # noqa: FBT001
    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        row = get(key)
        if row is None or row[0] is None:
            # Where both rows are deleted before a flush, the first one that goes on takes back the pair that went on.
            row = known(key) if new is None else None
            if row is None:
                return
        other, other_timestamp = row
        if other is None:
            return
        joined = None if new is None else join(key, new, other)
        before = join(key, old, other) if send_old and old is not None else None
        forward(key, joined, before, timestamp if timestamp > other_timestamp else other_timestamp, is_latest)

    return process


def _left(join: Join, get: Get, forward: Process, send_old: bool) -> Process:  # noqa: FBT001 - a setting of the spec
    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        other, other_timestamp = get(key) or (None, -1)
        if other is None:
            if new is None and old is None:
                return
        elif other_timestamp > timestamp:
            timestamp = other_timestamp
        joined = None if new is None else join(key, new, other)
        before = join(key, old, other) if send_old and old is not None else None
        forward(key, joined, before, timestamp, is_latest)

    return process


def _right_of_left(join: Join, get: Get, forward: Process, send_old: bool) -> Process:  # noqa: FBT001
    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        row = get(key)
        if row is None:
            return
        other, other_timestamp = row
        if other is None:
            return
        joined = join(key, new, other)
        before = join(key, old, other) if send_old else None
        forward(key, joined, before, timestamp if timestamp > other_timestamp else other_timestamp, is_latest)

    return process


def _outer(join: Join, get: Get, forward: Process, send_old: bool) -> Process:  # noqa: FBT001 - a setting of the spec
    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        other, other_timestamp = get(key) or (None, -1)
        if other is None:
            if new is None and old is None:
                return
        elif other_timestamp > timestamp:
            timestamp = other_timestamp
        joined = None if new is None and other is None else join(key, new, other)
        before = join(key, old, other) if send_old and (old is not None or other is not None) else None
        forward(key, joined, before, timestamp, is_latest)

    return process


@builds(TableJoinMerge)
def table_join_merge(operator: TableJoinMerge, node: NodeContext) -> Process:
    """Keep the result if it is materialised, and forward it."""
    if operator.store is None:
        return node.forward  # the sides have joined old values only if this table sends them
    store = node.store(operator.store)
    forward_result = node.table_forwarder(store, operator.send_old)
    if store.kind == "versioned":
        return _versioned(store.put, forward_result)
    write = store.write

    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        write(key, new, timestamp)
        forward_result(key, new, old, timestamp, True)

    return process


def _versioned(put: Callable[[Any, Any, int], int], forward: Process) -> Process:
    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        valid_to = put(key, new, timestamp)
        if valid_to != NOT_PUT:  # else it is older than the history, and the store counted it
            forward(key, new, old, timestamp, valid_to == -1)

    return process
