"""Topologies put together from sources, processors and sinks."""

from __future__ import annotations

from penstock import Serdes, Topology
from tests.differential.catalog import Params, assembled
from tests.differential.functions import number
from tests.differential.processors.small import Chooser, Keeper, Lookup, Writer
from tests.differential.topologies.processor_api import texts


@assembled("in")
def assembled_chain(p: Params) -> Topology:
    return (
        Topology()
        .add_source("numbers", "in")
        .add_processor("even", lambda: Chooser(0, "big"), "numbers")
        .add_processor("big", lambda: Chooser(1, None), "even")
        .add_sink("all", "out-all", "even")
        .add_sink("rest", lambda k, v, context: f"out-{number(v) % 2}", "big")
    )


@assembled("left", "right")
def assembled_store(p: Params) -> Topology:
    string = Serdes.string()
    return (
        Topology()
        .add_source("lefts", "left", key_deserializer=string, value_deserializer=string)
        .add_source("rights", "right")
        .add_processor("keep", lambda: Keeper("kv-p"), "lefts", "rights")
        .add_processor("ask", lambda: Keeper("kv-p"), "rights")
        .add_state_store(texts(p, "kv-p"), "keep", "ask")
        .add_sink("kept", "out", "keep", "ask", key_serializer=string, value_serializer=string)
    )


@assembled("left", "right")
def assembled_separate(p: Params) -> Topology:
    return (
        Topology()
        .add_source("lefts", "left")
        .add_sink("lefts-out", "out-left", "lefts")
        .add_source("rights", "right")
        .add_sink("rights-out", "out-right", "rights")
    )


@assembled("left", "right")
def assembled_read_only(p: Params) -> Topology:
    string = Serdes.string()
    return (
        Topology()
        .add_read_only_state_store(
            texts(p, "kv-ro"),
            "facts",
            "right",
            "facts-writer",
            lambda: Writer("kv-ro"),
            key_deserializer=string,
            value_deserializer=string,
        )
        .add_source("lefts", "left")
        .add_processor("ask", lambda: Lookup("kv-ro"), "lefts")
        .connect_processor_and_state_stores("ask", "kv-ro")
        .add_sink("found", "out", "ask")
    )
