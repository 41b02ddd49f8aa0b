"""The applications under attack: their topics, their input, and what must come out whatever happens."""

from __future__ import annotations

import json
import random
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from penstock import StreamsBuilder, Topology

Record = tuple[str, "str | None", str, int]  # topic, key, value, timestamp
Output = tuple["bytes | None", "bytes | None", int]
EPOCH = 1_700_000_000_000


@dataclass(frozen=True, slots=True)
class Scenario:
    """An application for chaos.

    Attributes:
        topics: Topics it reads.
        topology: What it does; writes to the topic `out`.
        records: Its input, by random generator and number.
        verdict: What is wrong with an output, given the input; nothing if all is well.
    """

    name: str
    topics: tuple[str, ...]
    topology: Callable[[], Topology]
    records: Callable[[random.Random, int], list[Record]]
    verdict: Callable[[list[Record], list[Output], bool], list[str]]


# ---------------------------------------------------------------------- words: a repartition and a count


def word_count() -> Topology:
    """Counts words."""
    builder = StreamsBuilder()
    words = builder.stream("lines").flat_map_values(str.split).group_by(lambda word: word)
    words.count(name="counts").to_stream().to("out", value_serde="long")
    return builder.build()


def _lines(chance: random.Random, count: int) -> list[Record]:
    return [
        ("lines", None, " ".join(f"w{int(chance.paretovariate(0.6)) % 500}" for _ in range(5)), EPOCH + i)
        for i in range(count)
    ]


def _count_verdict(records: list[Record], outputs: list[Output], exactly: bool) -> list[str]:
    wanted = Counter(word for _, _, line, _ in records for word in line.split())
    seen: dict[str, list[int]] = {}
    for key, value, _ in outputs:
        assert key is not None
        assert value is not None
        seen.setdefault(key.decode(), []).append(int.from_bytes(value, "big"))
    return _rising("word", wanted, seen, exactly)


def _rising(what: str, wanted: dict[Any, int], seen: dict[Any, list[int]], exactly: bool) -> list[str]:
    """Counts must end at what was put in; exactly once, no count may come twice or go back."""
    wrong = []
    for key, count in wanted.items():
        counts = seen.get(key, [])
        if not counts or counts[-1] != count:
            wrong.append(f"{what} {key}: ends at {counts[-1:] or 'nothing'}, not {count}")
        elif exactly and any(later <= earlier for earlier, later in pairwise(counts)):
            wrong.append(f"{what} {key}: repeats itself: {counts}")
    wrong += [f"{what} {key} was never put in" for key in seen if key not in wanted]
    return wrong


# ---------------------------------------------------------------------- stocks: hopping windows, no repartition


def stock_statistics() -> Topology:
    """Statistics of trades by stock in windows of 5 s that hop by 1 s."""
    builder = StreamsBuilder()
    trades = builder.stream("trades", value_serde="json")

    def add(trade: dict[str, Any], stats: Any) -> Any:
        price = trade["price"]
        if stats is None:
            return {"min": price, "count": 1, "sum": price}
        return {"min": min(price, stats["min"]), "count": stats["count"] + 1, "sum": stats["sum"] + price}

    (
        trades.group_by_key()
        .hopping("5s", "1s", grace="1h")
        .aggregate(lambda: None, add, name="stats", value_serde="json")
        .to_stream(lambda key, value: f"{key.key}@{key.window.start}")
        .to("out", value_serde="json")
    )
    return builder.build()


def _trades(chance: random.Random, count: int) -> list[Record]:
    return [
        (
            "trades",
            f"S{chance.randrange(50)}",
            json.dumps({"price": chance.randrange(1, 1000)}),
            EPOCH + i * 7 - chance.randrange(100),
        )
        for i in range(count)
    ]


def _stock_verdict(records: list[Record], outputs: list[Output], exactly: bool) -> list[str]:
    wanted: dict[str, list[int]] = {}
    for _, stock, text, timestamp in records:
        start = (timestamp - 5000 + 1000) // 1000 * 1000
        while start <= timestamp:
            if start + 5000 > timestamp:
                wanted.setdefault(f"{stock}@{start}", []).append(json.loads(text)["price"])
            start += 1000
    seen: dict[str, list[int]] = {}
    last: dict[str, Any] = {}
    for raw_key, value, _ in outputs:
        window = (raw_key or b"").decode()
        stats = json.loads(value or b"null")
        seen.setdefault(window, []).append(stats["count"])
        last[window] = stats
    wrong = _rising("window", {key: len(prices) for key, prices in wanted.items()}, seen, exactly)
    for key, prices in wanted.items():
        if key in last and (last[key]["min"], last[key]["sum"]) != (min(prices), sum(prices)):
            wrong.append(f"window {key}: {last[key]}, not min {min(prices)} and sum {sum(prices)}")
    return wrong


# ---------------------------------------------------------------------- clicks: two joins, every row counts


def clickstream() -> Topology:
    """Clicks joined with searches of the same user within a second, then with the user's profile."""
    builder = StreamsBuilder()
    profiles = builder.table("profiles", store="profiles")
    clicks, searches = builder.stream("clicks"), builder.stream("searches")
    both = clicks.join(searches, lambda click, search: f"{click}+{search}", within="1s", grace="1d")
    both.left_join(profiles, lambda pair, profile: f"{pair}+{profile}").to("out")
    return builder.build()


def _clicks(chance: random.Random, count: int) -> list[Record]:
    profiles: list[Record] = [("profiles", f"u{i}", f"p{i}", EPOCH - 1000) for i in range(100)]
    return profiles + [
        (chance.choice(["clicks", "searches"]), f"u{chance.randrange(100)}", f"e{i}", EPOCH + i * 20)
        for i in range(count)
    ]


def _click_verdict(records: list[Record], outputs: list[Output], exactly: bool) -> list[str]:
    sides: dict[str, dict[str | None, list[tuple[str, int]]]] = {"clicks": {}, "searches": {}}
    for topic, user, event, timestamp in records:
        if topic in sides:
            sides[topic].setdefault(user, []).append((event, timestamp))
    wanted = Counter(
        (user or "", f"{click}+{search}+p{(user or '')[1:]}")
        for user, clicks in sides["clicks"].items()
        for click, at in clicks
        for search, then in sides["searches"].get(user, ())
        if abs(at - then) <= 1000
    )
    seen = Counter(((key or b"").decode(), (value or b"").decode()) for key, value, _ in outputs)
    wrong = [f"lost: {row}" for row in (wanted - seen)]
    if exactly:
        wrong += [f"too many: {row}" for row in (seen - wanted)]
    wrong += [f"never happened: {row}" for row in seen if row not in wanted]
    return wrong


# ---------------------------------------------------------------------- orders: a foreign key, questions and answers


def orders_of_users() -> Topology:
    """Orders with the version of their user; some have none."""
    builder = StreamsBuilder()
    orders, users = builder.table("orders", value_serde="json"), builder.table("users")
    (
        orders.left_join(users, lambda order, user: f"{order['version']},{user or 0}", on=lambda order: order["user"])
        .to_stream()
        .to("out")
    )
    return builder.build()


def _orders(chance: random.Random, count: int) -> list[Record]:
    versions: Counter[str] = Counter()
    records: list[Record] = []
    for i in range(count):
        if chance.random() < 0.3:
            user = f"u{chance.randrange(100)}"
            versions[user] += 1
            records.append(("users", user, str(versions[user]), EPOCH + i))
            continue
        order = f"o{chance.randrange(500)}"
        versions[order] += 1
        # Orders never change their user, so what they see of him only rises.
        user_of = None if order.endswith("7") else f"u{int(order[1:]) % 100}"
        records.append(("orders", order, json.dumps({"user": user_of, "version": versions[order]}), EPOCH + i))
    return records


def _order_verdict(records: list[Record], outputs: list[Output], exactly: bool) -> list[str]:
    users: dict[str | None, int] = {}
    wanted: dict[str | None, tuple[int, int]] = {}
    for topic, key, text, _ in records:
        if topic == "users":
            users[key] = int(text)
    for topic, key, text, _ in records:
        if topic == "orders":
            order = json.loads(text)
            wanted[key] = (order["version"], users.get(order["user"], 0))
    seen: dict[str | None, list[tuple[int, int]]] = {}
    for raw_key, value, _ in outputs:
        version, _, user = (value or b"").decode().partition(",")
        seen.setdefault((raw_key or b"").decode(), []).append((int(version), int(user)))
    wrong = [
        f"order {key}: ends at {seen.get(key, [])[-1:]}, not {row}"
        for key, row in wanted.items()
        if row not in seen.get(key, [])[-1:]
    ]
    if exactly:  # the same may come twice: order and user may change in one batch, and each asks for an answer
        wrong += [
            f"order {key} goes back: {before}, {after}"
            for key, rows in seen.items()
            for before, after in pairwise(rows)
            if after[0] < before[0] or after[1] < before[1]
        ]
    return wrong


SCENARIOS = (
    Scenario("word_count", ("lines",), word_count, _lines, _count_verdict),
    Scenario("stock_statistics", ("trades",), stock_statistics, _trades, _stock_verdict),
    Scenario("clickstream", ("clicks", "searches", "profiles"), clickstream, _clicks, _click_verdict),
    Scenario("orders_of_users", ("orders", "users"), orders_of_users, _orders, _order_verdict),
)


def scenario(name: str) -> Scenario:
    """The scenario of that name."""
    return next(s for s in SCENARIOS if s.name == name)


def parts(records: list[Record], count: int) -> Iterable[list[Record]]:
    """The records in so many parts, in order."""
    size = -(-len(records) // count)
    return (records[i : i + size] for i in range(0, len(records), size))
