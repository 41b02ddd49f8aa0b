"""Stateless operators of a stream: what they write to the topology, and what they refuse."""

from __future__ import annotations

from typing import Any

import pytest

from penstock import Branched, KStream, Named, Printed, StreamsBuilder, UnsupportedOperation, v
from penstock.streams.stateless import StatelessOperators
from penstock.topology.operators import (
    Branch,
    Filter,
    FlatMap,
    FlatMapValues,
    ForEach,
    Map,
    MapValues,
    PassThrough,
    Peek,
    Print,
    SelectKey,
)
from tests.streams.building import operators, refused, says, stream, the


def test_each_operator_has_its_specification() -> None:
    builder = StreamsBuilder()
    (
        builder.stream("in")
        .filter(lambda value: value)
        .filter_not(lambda key, value: value)
        .map(lambda key, value: (key, value))
        .map_values(str.upper)
        .flat_map(lambda value: [(1, value)])
        .flat_map_values(str.split)
        .select_key(v.user)
        .peek(print)
        .for_each(lambda value: None)
    )
    found = list(operators(builder.build()).values())
    kinds = [Filter, Filter, Map, MapValues, FlatMap, FlatMapValues, SelectKey, Peek, ForEach]
    assert [type(o) for o in found] == kinds
    keep, drop, map_, *_ = found
    assert (keep.negate, drop.negate) == (False, True)
    assert (keep.predicate.parameters, drop.predicate.parameters) == (("value",), ("key", "value"))
    assert map_.mapper.parameters == ("key", "value")


def test_a_stream_is_not_changed_by_its_operators() -> None:
    builder = StreamsBuilder()
    start = builder.stream("in")
    place = start._place
    one, two = start.filter(bool), start.map_values(str)
    assert start._place is place
    assert isinstance(one, KStream)
    assert one is not two


def test_foreach_is_for_each() -> None:
    assert vars(StatelessOperators)["foreach"] is vars(StatelessOperators)["for_each"]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: stream().filter("x"),
            "the predicate of filter is 'x', not a function (at {}). Give a function of (value) or (key, value).",
        ),
        (
            lambda: stream().map_values(_nothing),
            "the mapper of map_values _nothing takes 0 arguments (at {}). It must take (value) or (key, value).",
        ),
        (
            lambda: stream().select_key(_coroutine),
            (
                "the key selector of select_key _coroutine is a coroutine function (at {}). "
                "Records are processed one after the other; give an ordinary function."
            ),
        ),
        (
            lambda: stream().merge(StreamsBuilder().table("t")),
            "merge was given KTable(KTABLE-SOURCE-0000000002) (at {}). Give streams of the same builder.",
        ),
        (
            lambda: stream().merge(stream()),
            "merge was given streams of two builders (at {}). Build one topology with one StreamsBuilder.",
        ),
        (
            lambda: stream().branches(),
            "branches was given no predicate (at {}). For example big=lambda v: v > 9.",
        ),
        (
            lambda: stream().split().branch(bool, function=str, consumer=str),
            "a branch has a function and a consumer (at {}). Give one of them.",
        ),
    ],
)
def test_refused(call: Any, message: str) -> None:
    says(call, message)


def _nothing() -> None:
    pass


async def _coroutine(value: Any) -> Any:
    return value


@pytest.mark.parametrize(
    ("name", "hint"),
    [
        ("transform", "Use process(), which takes a processor and gives a stream."),
        ("flat_transform", "Use process(), which may forward any number of records."),
        ("transform_values", "Use process_values()."),
        ("flat_transform_values", "Use process_values(), which may forward any number of records."),
        ("branch", "Use split().branch(...).default_branch(), or branches(a=..., b=...)."),
    ],
)
def test_removed_operators_name_their_replacement(name: str, hint: str) -> None:
    said = refused(lambda: getattr(stream(), name), UnsupportedOperation)
    assert said == f"KStream.{name} was removed from Kafka Streams. {hint}"


def test_other_attributes_are_not_there() -> None:
    assert not hasattr(stream(), "nonsense")


def test_print_options() -> None:
    builder = StreamsBuilder()
    plain = builder.stream("in", name="source")
    plain.print()
    plain.print(Printed.to_file("records.txt").with_label("L").with_key_value_mapper(str).with_name("printing"))
    first, second = operators(builder.build()).values()
    assert (first.label, first.file, first.mapper) == ("source", None, None)
    assert isinstance(second, Print)
    assert (second.label, second.file) == ("L", "records.txt")
    assert second.mapper is not None


def test_merge_of_many_is_one_node() -> None:
    builder = StreamsBuilder()
    a, b, c = (builder.stream(topic) for topic in "abc")
    a.merge(b, c, Named.as_("all")).to("out")
    node = builder.build().nodes["all"]
    assert node.parents == (  # type: ignore[union-attr]
        "KSTREAM-SOURCE-0000000000",
        "KSTREAM-SOURCE-0000000001",
        "KSTREAM-SOURCE-0000000002",
    )


class TestSplit:
    def test_names_and_order(self) -> None:
        builder = StreamsBuilder()
        found = (
            builder.stream("in")
            .split(name="s-")
            .branch(lambda value: value > 9, Branched.as_("big"))
            .branch(v.n > 1)
            .default_branch(name="rest")
        )
        assert list(found) == ["s-big", "s-2", "s-rest"]
        topology = builder.build()
        branch = the(topology, Branch)
        assert (branch.children, branch.default) == (("s-big", "s-2"), "s-rest")
        assert len(branch.predicates) == 2
        assert isinstance(operators(topology)["s-rest"], PassThrough)

    def test_without_default(self) -> None:
        builder = StreamsBuilder()
        found = builder.stream("in").split().branch(bool).no_default_branch()
        assert list(found) == ["KSTREAM-BRANCH-00000000011"]
        assert the(builder.build(), Branch).default is None

    def test_functions_and_consumers(self) -> None:
        taken: list[Any] = []
        found = (
            stream()
            .split(name="s-")
            .branch(bool, name="mapped", function=lambda s: s.map_values(str))
            .branch(bool, name="gone", function=lambda s: None)
            .branch(bool, name="taken", consumer=taken.append)
            .default_branch(Branched.with_consumer(taken.append))
        )
        assert list(found) == ["s-mapped"]
        assert [repr(s) for s in taken] == ["KStream(s-taken)", "KStream(s-0)"]

    def test_two_defaults_are_refused(self) -> None:
        split = stream().split(name="s-").branch(bool)
        split.default_branch()
        assert refused(split.default_branch).startswith("a split has two default branches (node s- at ")

    def test_branches_by_keyword(self) -> None:
        builder = StreamsBuilder()
        found = builder.stream("in").branches(big=lambda value: value > 9, small=bool, default="rest")
        assert list(found) == ["big", "small", "rest"]
        assert the(builder.build(), Branch).default == "KSTREAM-BRANCH-0000000001-rest"


def test_python_finds_the_name_for_one_of_java() -> None:
    with pytest.raises(AttributeError, match="KStream has no attribute 'flatMapValues'") as raised:
        stream().flatMapValues  # noqa: B018 - asking is what fails
    assert (raised.value.name, isinstance(raised.value.obj, KStream)) == ("flatMapValues", True)
