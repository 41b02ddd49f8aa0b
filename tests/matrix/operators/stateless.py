from __future__ import annotations

import os

from penstock import v
from tests.matrix.catalog import Corner, operator
from tests.matrix.functions import group, number


@operator()
def filter_and_map_values(c: Corner) -> None:
    odd = c.stream().filter(lambda k, v: number(v) % 2 == 1).filter_not(lambda v: v == "7")
    c.write(odd.map_values(lambda k, v: f"{k}:{v}"))


@operator()
def map_pairs(c: Corner) -> None:
    c.write(c.stream().map(lambda k, v: (v or "none", k)))


@operator()
def flat_map(c: Corner) -> None:
    c.write(c.stream().flat_map(lambda k, v: [(f"{k}{i}", v) for i in range(number(v) % 4)]))


@operator()
def flat_map_values(c: Corner) -> None:
    c.write(c.stream().flat_map_values(lambda v: [f"{v}.{i}" for i in range(number(v) % 4)]))


@operator()
def select_key(c: Corner) -> None:
    c.write(c.stream().select_key(group))


@operator()
def peek_print_for_each(c: Corner) -> None:
    stream = c.stream().peek(lambda k, v: None)
    stream.for_each(lambda k, v: None)
    stream.print(file=os.devnull)
    c.write(stream)


@operator(left="events", right="events")
def merge(c: Corner) -> None:
    c.write(c.stream("left").map_values(lambda v: f"l{v}").merge(c.stream("right")))


@operator()
def split(c: Corner) -> None:
    branches = (
        c.stream()
        .split(name="split-")
        .branch(lambda k, v: v is None, name="null")
        .branch(lambda k, v: number(v) > 5, name="big")
        .default_branch(name="rest")
    )
    for name, branch in branches.items():
        c.write(branch.map_values(lambda v, name=name: f"{name}:{v}"))


@operator("json")
def expressions(c: Corner) -> None:
    stream = c.stream(value_serde="json").filter(v.number > 2).select_key(v.name)
    c.write(stream.map_values(v.number * 2 + 1), value_serde="string")


@operator("keyed", topics={"even": 2, "odd": 3})
def topic_extractor(c: Corner) -> None:
    even, odd = c.topic("even"), c.topic("odd")
    c.tagged(c.stream()).to(lambda k, v: odd if number(v) % 2 else even)
    for topic in ("even", "odd"):
        c.write(c.stream(topic).map_values(lambda v, topic=topic: f"{topic}:{v}"))


@operator("keyed")
def sink_partitioner(c: Corner) -> None:
    # A set of partitions: the record goes to each of them.
    c.write(c.stream(), partitioner=lambda topic, key, value, partitions: {0, number(value) % partitions})


@operator("keyed")
def repartition(c: Corner) -> None:
    c.write(c.stream().select_key(group).repartition().map_values(lambda k, v: f"{k}={v}"))


@operator("keyed")
def repartition_into_more(c: Corner) -> None:
    c.write(c.stream().repartition(partitions=5))


@operator("keyed")
def repartition_twice(c: Corner) -> None:
    c.write(c.stream().select_key(group).repartition().select_key(lambda v: f"x{v}").repartition(partitions=2))


@operator("keyed")
def repartition_by(c: Corner) -> None:
    by_value = c.stream().repartition(partitioner=lambda topic, key, value, partitions: number(value) % partitions)
    c.write(by_value)


@operator("keyed", topics={"between": 4})
def through_topic(c: Corner) -> None:
    c.write(c.stream().select_key(group).through(c.topic("between")))


@operator("keyed", topics={"between": 4})
def repartition_by_topic(c: Corner) -> None:
    c.write(c.stream().select_key(group).repartition(topic=c.topic("between")))
