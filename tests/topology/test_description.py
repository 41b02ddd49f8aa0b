"""describe(): text, JSON and mermaid. Kafka's own texts are compared in test_kafka_descriptions.py."""

from __future__ import annotations

import json

from penstock import StreamsBuilder, Topology, fn, v


def topology() -> Topology:
    builder = StreamsBuilder()
    table = builder.global_table("facts", store="facts-store")
    orders = builder.stream("orders").filter(v.price > 10).join(table, on=v.user)
    orders.group_by_key().agg(total=fn.sum(v.price)).to_stream().to("totals")
    return builder.build()


def test_text_with_a_global_store() -> None:
    assert str(topology().describe()) == (
        "Topologies:\n"
        "   Sub-topology: 0 for global store (will not generate tasks)\n"
        "    Source: KSTREAM-SOURCE-0000000000 (topics: [facts])\n"
        "      --> KTABLE-SOURCE-0000000001\n"
        "    Processor: KTABLE-SOURCE-0000000001 (stores: [facts-store])\n"
        "      --> none\n"
        "      <-- KSTREAM-SOURCE-0000000000\n"
        "  Sub-topology: 1\n"
        "    Source: KSTREAM-SOURCE-0000000002 (topics: [orders])\n"
        "      --> KSTREAM-FILTER-0000000003\n"
        "    Processor: KSTREAM-FILTER-0000000003 (stores: [])\n"
        "      --> KSTREAM-LEFTJOIN-0000000004\n"
        "      <-- KSTREAM-SOURCE-0000000002\n"
        "    Processor: KSTREAM-LEFTJOIN-0000000004 (stores: [])\n"
        "      --> KSTREAM-AGGREGATE-0000000006\n"
        "      <-- KSTREAM-FILTER-0000000003\n"
        "    Processor: KSTREAM-AGGREGATE-0000000006 (stores: [KSTREAM-AGGREGATE-STATE-STORE-0000000005])\n"
        "      --> KTABLE-TOSTREAM-0000000007\n"
        "      <-- KSTREAM-LEFTJOIN-0000000004\n"
        "    Processor: KTABLE-TOSTREAM-0000000007 (stores: [])\n"
        "      --> KSTREAM-SINK-0000000008\n"
        "      <-- KSTREAM-AGGREGATE-0000000006\n"
        "    Sink: KSTREAM-SINK-0000000008 (topic: totals)\n"
        "      <-- KTABLE-TOSTREAM-0000000007\n\n"
    )


def test_json_says_what_operators_do() -> None:
    described = json.loads(topology().describe().to_json())
    (subtopology,) = described["subtopologies"]
    assert subtopology["id"] == 1
    assert subtopology["nodes"][1] == {
        "name": "KSTREAM-FILTER-0000000003",
        "kind": "processor",
        "successors": ["KSTREAM-LEFTJOIN-0000000004"],
        "predecessors": ["KSTREAM-SOURCE-0000000002"],
        "operator": "Filter((v.price > 10))",
    }
    assert subtopology["nodes"][3]["operator"] == "StreamAggregate(agg(total=fn.sum(v.price)))"
    assert subtopology["nodes"][-1]["topic"] == "totals"
    assert described["global_stores"][0]["processor"]["stores"] == ["facts-store"]


def test_objects() -> None:
    description = topology().describe()
    assert [s.id for s in description.subtopologies] == [1]
    assert description.subtopologies[0].nodes[0].topics == ("orders",)
    assert [g.processor.stores for g in description.global_stores] == [("facts-store",)]


def test_mermaid() -> None:
    builder = StreamsBuilder()
    builder.stream("in").group_by_key().count(name="n").to_stream().to("out")
    assert builder.build().describe().to_mermaid() == (
        "flowchart TD\n"
        '  subgraph g0["Sub-topology 0"]\n'
        '    KSTREAM_2d_SOURCE_2d_0000000000["KSTREAM-SOURCE-0000000000"]\n'
        '    n["n"]\n'
        '    KTABLE_2d_TOSTREAM_2d_0000000002["KTABLE-TOSTREAM-0000000002"]\n'
        '    KSTREAM_2d_SINK_2d_0000000003["KSTREAM-SINK-0000000003"]\n'
        "  end\n"
        '  topic_20_in[/"in"/]\n'
        '  store_20_n[("n")]\n'
        '  topic_20_out[/"out"/]\n'
        "  KSTREAM_2d_SOURCE_2d_0000000000 --> n\n"
        "  topic_20_in --> KSTREAM_2d_SOURCE_2d_0000000000\n"
        "  n --> KTABLE_2d_TOSTREAM_2d_0000000002\n"
        "  n --- store_20_n\n"
        "  KTABLE_2d_TOSTREAM_2d_0000000002 --> KSTREAM_2d_SINK_2d_0000000003\n"
        "  KSTREAM_2d_SINK_2d_0000000003 --> topic_20_out\n"
    )


def test_mermaid_with_a_pattern_and_a_global_store() -> None:
    builder = StreamsBuilder()
    builder.global_table("facts")
    builder.stream(pattern='in-"x".*').to(lambda key, value: "out")
    text = builder.build().describe().to_mermaid()
    assert '["Global store 0"]' in text
    assert 'in-#quot;x#quot;.*"/]' in text


def test_an_empty_topology() -> None:
    assert str(Topology().describe()) == "Topologies:\n "
