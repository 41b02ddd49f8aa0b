"""Options of operators: keywords, parameter objects, and what is refused."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from penstock import (
    AutoOffsetReset,
    Consumed,
    Grouped,
    Joined,
    Materialized,
    Named,
    Produced,
    Serdes,
    StoreType,
    StreamsBuilder,
    TopologyError,
    v,
)
from penstock.topology.operators import Filter
from tests.streams.building import operators, refused, says, sink, source, stream


def test_a_name_may_be_a_keyword_or_an_object() -> None:
    builder = StreamsBuilder()
    builder.stream("in").filter(bool, name="by-keyword").filter(bool, Named.as_("by-object")).to("out")
    assert [name for name, o in operators(builder.build()).items() if isinstance(o, Filter)] == [
        "by-keyword",
        "by-object",
    ]


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: stream().filter(bool, Named.as_("a"), name="b"),
            "name of filter is given twice: by Named and by name= (at {}). Keep one of them.",
        ),
        (
            lambda: stream().group_by_key(Grouped.as_("a"), name="b"),
            "name of group_by_key is given twice: by Grouped and by name= (at {}). Keep one of them.",
        ),
        (
            lambda: stream().group_by_key().count(Materialized.as_("a"), store="b"),
            "store of count is given twice: by Materialized and by store= (at {}). Keep one of them.",
        ),
        (
            lambda: stream().to("out", Produced.with_("string", None), key_serde="long"),
            "key_serde of to is given twice: by Produced and by key_serde= (at {}). Keep one of them.",
        ),
    ],
)
def test_the_same_setting_twice(call: Any, message: str) -> None:
    says(call, message)


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (
            lambda: stream().filter(bool, Grouped.as_("a")),
            (
                "filter was given Grouped(key_serde=None, value_serde=None, name='a'), a Grouped (at {}). "
                "It takes Named there; give options as keywords."
            ),
        ),
        (
            lambda: stream().to("out", "string"),
            "to was given 'string', a str (at {}). It takes Produced or Named there; give options as keywords.",
        ),
        (lambda: stream().filter(bool, name="a b"), "the name of filter 'a b' is not a legal name (at {}). {names}"),
        (lambda: stream().filter(bool, name=""), "the name of filter '' is not a legal name (at {}). {names}"),
        (lambda: stream().filter(bool, name=".."), "the name of filter '..' is not a legal name (at {}). {names}"),
        (lambda: stream().filter(bool, name=3), "the name of filter is 3, not text (at {}). Give a name as text."),
        (
            lambda: stream().filter(bool, name="x" * 250),
            "the name of filter has 250 characters (at {}). {names}",
        ),
        (
            lambda: stream().to("out", key_serde="strin"),
            (
                'key_serde of to: no serde is called "strin" (at {}). Did you mean "string"? Known names: avro, bool, '
                "byte_buffer, bytes, double, float, int, json, long, protobuf, short, string, uuid, void."
            ),
        ),
        (
            lambda: stream().group_by_key().count(cache="on"),
            'cache of count is \'on\' (at {}). Give "batch" (one update of a key in each batch) or "off" (every update).',
        ),
        (
            lambda: stream().group_by_key().count(store=3),
            "store= of count is 3 (at {}). Give a name, a Materialized, or a store supplier of Stores.",
        ),
        (
            lambda: stream().repartition(partitions=0),
            "partitions of repartition is 0 (at {}). Give a number of 1 or more.",
        ),
        (
            lambda: stream().to("out", partitioner=3),
            "partitioner of to is 3, not a function (at {}). Give a function of (topic, key, value, partitions).",
        ),
        (
            lambda: StreamsBuilder().stream("in", timestamp_extractor="v.time"),
            (
                "timestamp_extractor of stream is 'v.time', not a function (at {}). "
                "Give a function of (record, partition_time), or an expression such as v.event_time."
            ),
        ),
        (
            lambda: StreamsBuilder().table("in", versioned=1.5),  # type: ignore[arg-type]
            (
                "versioned of table: history of table is 1.5, which is a float (at {}). "
                'Give a timedelta, text such as "5m" or "250ms", or int milliseconds.'
            ),
        ),
        (
            lambda: StreamsBuilder().stream("in", offset_reset="first"),
            'offset_reset is \'first\' (at {}). Give "earliest", "latest", "none" or AutoOffsetReset.by_duration("1h").',
        ),
    ],
)
def test_what_cannot_be(call: Any, message: str) -> None:
    says(call, message.replace("{names}", "Use 1 to 249 characters of a-z A-Z 0-9 . _ -, but not . or .. alone."))


def test_the_error_knows_the_line() -> None:
    with pytest.raises(TopologyError) as caught:
        stream().filter(bool, name="not legal")
    assert caught.value.line is not None
    assert caught.value.line.startswith("test_settings.py:")


def test_store_takes_a_materialized() -> None:
    builder = StreamsBuilder()
    counts = builder.stream("in").group_by_key().count(store=Materialized.as_("counts").with_caching_disabled())
    assert counts.queryable_store_name == "counts"
    assert not builder.build().stores["counts"].caching


def test_consumed_may_stand_among_the_topics() -> None:
    builder = StreamsBuilder()
    extractor = v.time
    builder.stream(
        "a",
        "b",
        Consumed.with_("string", "long")
        .with_timestamp_extractor(extractor)
        .with_offset_reset_policy("latest")
        .with_name("both"),
    )
    node = source(builder.build(), "a")
    assert (node.name, node.topics) == ("both", ("a", "b"))
    assert (node.key_serde, node.value_serde) == (Serdes.string(), Serdes.long())
    assert node.timestamp_extractor is extractor
    assert node.offset_reset == AutoOffsetReset.latest()


def test_parameter_objects_are_copied_not_changed() -> None:
    plain = Joined.with_("string", "long", "json")
    named = plain.with_name("n").with_grace_period(timedelta(seconds=1))
    assert (plain.name, plain.grace, named.name, named.grace) == (None, None, "n", 1000)


def test_store_type_and_supplier_exclude_each_other() -> None:
    assert refused(lambda: Materialized.as_(object()).with_store_type(StoreType.IN_MEMORY)) == (
        "a store type was given together with a store supplier. The supplier decides the type; drop one."
    )
    assert StoreType["ROCKS_DB"] is StoreType["PERSISTENT"]


def test_serdes_go_from_explicit_to_upstream_to_default() -> None:
    builder = StreamsBuilder()
    texts = builder.stream("in", key_serde="string", value_serde="string")
    texts.to("kept")
    texts.to("given", value_serde="long")
    texts.map_values(len).to("mapped")
    texts.select_key(len).to("rekeyed")
    texts.map(lambda k, v: (k, v)).to("both")
    texts.filter(bool).peek(print).to("looked-at")
    texts.merge(builder.stream("other")).to("merged")
    topology = builder.build()
    string, long = Serdes.string(), Serdes.long()
    found = {
        topic: (sink(topology, topic).key_serde, sink(topology, topic).value_serde)
        for topic in ("kept", "given", "mapped", "rekeyed", "both", "looked-at", "merged")
    }
    assert found == {
        "kept": (string, string),
        "given": (string, long),
        "mapped": (string, None),
        "rekeyed": (None, string),
        "both": (None, None),
        "looked-at": (string, string),
        "merged": (None, None),
    }


def test_serdes_of_tables() -> None:
    builder = StreamsBuilder()
    table = builder.table("in", key_serde="string", value_serde="json")
    table.filter(bool).to_stream().to("filtered")
    table.map_values(str).to_stream().to("mapped")
    table.join(builder.table("other", value_serde="long")).to_stream().to("joined")
    builder.stream("s", key_serde="string").group_by_key().count().to_stream().to("counted")
    topology = builder.build()
    string, json, long = Serdes.string(), Serdes.json(), Serdes.long()
    assert (sink(topology, "filtered").key_serde, sink(topology, "filtered").value_serde) == (string, json)
    assert (sink(topology, "mapped").key_serde, sink(topology, "mapped").value_serde) == (string, None)
    assert (sink(topology, "joined").key_serde, sink(topology, "joined").value_serde) == (string, None)
    assert (sink(topology, "counted").key_serde, sink(topology, "counted").value_serde) == (string, long)
