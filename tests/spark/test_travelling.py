"""Functions that cannot be pickled are named before anything starts."""

from __future__ import annotations

import threading

import pytest

from penstock import StreamsBuilder, Topology
from penstock.errors import TopologyError
from penstock.interpreter.config import TaskConfig
from penstock.spark.job import Job, decode
from penstock.spark.layout import lay_out


def job(topology: Topology) -> Job:
    return Job(
        run="run",
        topology=topology,
        layout=lay_out(topology, {"in": 1}),
        slots=1,
        config=TaskConfig(),
        kafka={},
        exactly_once=False,
        checkpoint="checkpoint",
        local="local",
    )


def test_a_function_with_a_lock_is_refused_with_its_place() -> None:
    lock = threading.Lock()
    builder = StreamsBuilder()
    builder.stream("in").filter(lambda v: not lock.locked(), name="locked").to("out")
    with pytest.raises(
        TopologyError, match="the functions of locked cannot be sent to Spark's workers: cannot pickle"
    ) as e:
        job(builder.build()).encode()
    assert "test_travelling.py" in str(e.value)
    assert "in a processor's init()" in str(e.value)


def test_other_functions_travel() -> None:
    builder = StreamsBuilder()
    factor = 3
    builder.stream("in").map_values(lambda v: v * factor, name="times").to("out")
    there = decode(job(builder.build()).encode())
    assert list(there.topology.nodes)[1] == "times"
