"""The sugar of the DSL, run: what is written in a line must also compute."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from penstock import (
    BufferConfig,
    EmitStrategy,
    Materialized,
    Named,
    StreamsBuilder,
    Suppressed,
    TopologyTestDriver,
    Window,
    Windowed,
    fn,
    ts,
    v,
)

CONFIG = {"default.key.serde": "string", "default.value.serde": "json"}


class Run:
    """Sends records to topics and reads what came out."""

    def __init__(self, driver: TopologyTestDriver) -> None:
        self.driver = driver

    def send(self, topic: str, *records: tuple[Any, Any, int]) -> None:
        pipe = self.driver.create_input_topic(topic)
        for key, value, timestamp in records:
            pipe.pipe_input(key, value, timestamp=timestamp)

    def read(self, topic: str = "out") -> list[tuple[Any, Any]]:
        output = self.driver.create_output_topic(topic)
        return [tuple(pair) for pair in output.read_key_values_to_list()]


@contextmanager
def running(builder: StreamsBuilder, **config: Any) -> Iterator[Run]:
    settings = CONFIG | {key.replace("_", "."): value for key, value in config.items()}
    with TopologyTestDriver(builder, settings) as driver:
        yield Run(driver)


def test_word_count() -> None:
    builder = StreamsBuilder()
    words = builder.stream("in").flat_map_values(str.split).group_by(lambda word: word)
    words.count(name="counts").to_stream().to("out")
    with running(builder) as run:
        run.send("in", (None, "a b a", 0))
        assert run.read() == [("a", 1), ("b", 1), ("a", 2)]
        assert run.driver.get_key_value_store("counts").get("a") == 2


def test_expressions_everywhere() -> None:
    builder = StreamsBuilder()
    big = builder.stream("in").filter(v.price > 1).map_values(fn.upper(v.name)).select_key(ts)
    big.to("out", key_serde="long")
    with running(builder) as run:
        run.send("in", ("k", {"price": 1, "name": "a"}, 5), ("k", {"price": 2, "name": "b"}, 6))
        assert run.read() == [(6, "B")]


def test_branches() -> None:
    builder = StreamsBuilder()
    found = builder.stream("in").branches(big=v > 10, small=lambda value: value > 0, default="rest")
    for name, stream in found.items():
        stream.to(name)
    with running(builder) as run:
        run.send("in", ("k", 11, 0), ("k", 5, 0), ("k", -1, 0))
        assert [run.read(topic) for topic in ("big", "small", "rest")] == [[("k", 11)], [("k", 5)], [("k", -1)]]


def test_agg_over_windows_emitted_once() -> None:
    builder = StreamsBuilder()
    windows = builder.stream("in").group_by_key().tumbling("10ms").emit_strategy(EmitStrategy.on_window_close())
    stats = windows.agg(Materialized.as_("stats"), n=fn.count(), mean=fn.avg(v.x), top=fn.max(v.x))
    stats.to_stream().to("out")
    with running(builder) as run:
        run.send("in", ("k", {"x": 1}, 0), ("k", {"x": 2}, 3), ("k", {"x": 9}, 10))
        assert run.read() == [(Windowed("k", Window(0, 10)), {"n": 2, "mean": 1.5, "top": 2})]


def test_agg_over_sessions() -> None:
    builder = StreamsBuilder()
    stats = (
        builder.stream("in").group_by_key().session(5, grace=10).agg(Named.as_("stats"), n=fn.count(), total=fn.sum(v))
    )
    stats.to_stream(lambda key, value: f"{key.window.start}-{key.window.end}").to("out")
    with running(builder, statestore_cache_max_bytes=0) as run:
        run.send("in", ("k", 1, 0), ("k", 2, 8), ("k", 4, 4))
        assert run.read() == [
            ("0-0", {"n": 1, "total": 1}),
            ("8-8", {"n": 1, "total": 2}),
            ("0-0", None),
            ("8-8", None),
            ("0-8", {"n": 3, "total": 7}),
        ]


def test_emit_close_and_suppress_say_the_same() -> None:
    builder = StreamsBuilder()
    groups = builder.stream("in").group_by_key().tumbling(10)
    groups.count(emit="close").to_stream().to("closed")
    groups.count().suppress(until="window_closes").to_stream().to("suppressed")
    final = Suppressed.until_window_closes(BufferConfig.unbounded())
    groups.count().suppress(final).to_stream().to("object")
    with running(builder) as run:
        run.send("in", ("k", 1, 0), ("k", 1, 5), ("k", 1, 12))
        wanted = [(Windowed("k", Window(0, 10)), 2)]
        assert [run.read(topic) for topic in ("closed", "suppressed", "object")] == [wanted] * 3


def test_through_and_a_repartition_topic_of_the_users() -> None:
    builder = StreamsBuilder()
    builder.stream("in").through("between").repartition(topic="spread").map_values(v + 1).to("out")
    with running(builder) as run:
        run.send("in", ("k", 1, 0))
        assert [run.read(topic) for topic in ("between", "spread", "out")] == [[("k", 1)], [("k", 1)], [("k", 2)]]


def test_within_pairs_records_of_two_streams() -> None:
    builder = StreamsBuilder()
    builder.stream("left").left_join(builder.stream("right"), within=5).to("out")
    with running(builder) as run:
        run.send("left", ("k", "a", 0))
        run.send("right", ("k", "b", 5), ("k", "c", 6))
        assert run.read() == [("k", ["a", "b"])]


def test_a_versioned_table_answers_as_of() -> None:
    builder = StreamsBuilder()
    builder.stream("s").join(builder.table("t", versioned="1h")).to("out")
    with running(builder) as run:
        run.send("t", ("k", "old", 1), ("k", "new", 10))
        run.send("s", ("k", "x", 5))
        assert run.read() == [("k", ["x", "old"])]


def test_a_table_grouped_by_an_expression() -> None:
    builder = StreamsBuilder()
    builder.table("in").group_by(v.region).count(name="regions").to_stream().to("out")
    with running(builder) as run:
        run.send("in", ("a", {"region": "E"}, 0), ("a", {"region": "W"}, 1))
        assert run.read() == [("E", 1), ("E", 0), ("W", 1)]


def test_a_foreign_key_and_a_global_table() -> None:
    builder = StreamsBuilder()
    orders, users = builder.table("orders"), builder.table("users")
    orders.join(users, lambda order, user: {**order, "name": user}, on=v.user).to_stream().to("out")
    countries = builder.global_table("countries")
    builder.stream("visits").join(countries, lambda key, visit, country: [key, country], on=v.country).to("seen")
    with running(builder) as run:
        run.send("users", ("u1", "Ann", 0))
        run.send("orders", ("o1", {"user": "u1"}, 1))
        run.send("countries", ("de", "Germany", 0))
        run.send("visits", ("k", {"country": "de"}, 0))
        assert run.read() == [("o1", {"user": "u1", "name": "Ann"})]
        assert run.read("seen") == [("k", ["k", "Germany"])]


def test_cogroup() -> None:
    builder = StreamsBuilder()
    views, buys = builder.stream("views").group_by_key(), builder.stream("buys").group_by_key()
    both = views.cogroup(lambda value, total: total + 1).cogroup(buys, lambda value, total: total + 10)
    both.aggregate(0, name="score").to_stream().to("out")
    with running(builder) as run:
        run.send("views", ("k", 1, 0))
        run.send("buys", ("k", 1, 0))
        assert run.read() == [("k", 1), ("k", 11)]
