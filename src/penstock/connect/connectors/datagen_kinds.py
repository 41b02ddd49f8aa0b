"""Kinds of made-up records."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from random import Random
from typing import Any

from penstock.connect.data import (
    BOOLEAN_SCHEMA,
    FLOAT64_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    Struct,
)

_REGIONS = tuple(f"Region_{number}" for number in range(1, 10))
_GENDERS = ("MALE", "FEMALE", "OTHER")
_SYMBOLS = ("ZVV", "ZVZZT", "ZWZZT", "ZXZZT", "ZJZZT", "ZTEST", "ZBZX")
_PAGES = ("/", "/catalog", "/basket", "/checkout", "/search", "/account", "/help")
_AGENTS = ("Mozilla/5.0", "curl/8.5", "Googlebot/2.1")


@dataclass(frozen=True, slots=True)
class Kind:
    """A kind of records.

    Attributes:
        schema: Of the value.
        key_field: The field whose text is the key.
        fields: The values of one record, in the order of the schema.
    """

    schema: Schema
    key_field: str
    fields: Callable[[Random, int, int], tuple[Any, ...]]

    def value(self, chance: Random, number: int, now: int) -> Struct:
        """One record."""
        struct = Struct(self.schema)
        for field, value in zip(self.schema.fields, self.fields(chance, number, now), strict=True):
            struct.put(field.name, value)
        return struct


def _schema(name: str, **fields: Schema) -> Schema:
    builder = SchemaBuilder.struct().name(f"penstock.datagen.{name}")
    for field, schema in fields.items():
        builder = builder.field(field, schema)
    return builder.build()


def _users(chance: Random, number: int, now: int) -> tuple[Any, ...]:
    return (
        now - chance.randrange(10**10),
        f"User_{chance.randrange(1, 10)}",
        chance.choice(_REGIONS),
        chance.choice(_GENDERS),
    )


def _pageviews(chance: Random, number: int, now: int) -> tuple[Any, ...]:
    return (number * 10 + 1, f"User_{chance.randrange(1, 10)}", f"Page_{chance.randrange(10, 100)}")


def _orders(chance: Random, number: int, now: int) -> tuple[Any, ...]:
    return (
        now,
        number,
        f"Item_{chance.randrange(1000)}",
        round(chance.uniform(1, 10), 6),
        f"City_{chance.randrange(100)}",
    )


def _stock_trades(chance: Random, number: int, now: int) -> tuple[Any, ...]:
    side, symbol = chance.choice(("BUY", "SELL")), chance.choice(_SYMBOLS)
    return (side, symbol, chance.randrange(1, 5000), chance.randrange(5, 1000), f"account-{chance.randrange(100)}", now)


def _clickstream(chance: Random, number: int, now: int) -> tuple[Any, ...]:
    address = f"111.{chance.randrange(256)}.{chance.randrange(256)}.{chance.randrange(256)}"
    status = chance.choice((200, 200, 200, 302, 404, 500))
    return (
        address,
        chance.randrange(1, 40),
        now,
        f"GET {chance.choice(_PAGES)}",
        status,
        chance.randrange(100, 20_000),
        chance.choice(_AGENTS),
    )


def _sensors(chance: Random, number: int, now: int) -> tuple[Any, ...]:
    return (
        f"sensor-{chance.randrange(20)}",
        now,
        round(chance.gauss(20, 5), 2),
        round(chance.uniform(20, 90), 1),
        chance.random() < 0.01,
    )


KINDS: dict[str, Kind] = {
    "users": Kind(
        _schema("users", registertime=INT64_SCHEMA, userid=STRING_SCHEMA, regionid=STRING_SCHEMA, gender=STRING_SCHEMA),
        "userid",
        _users,
    ),
    "pageviews": Kind(
        _schema("pageviews", viewtime=INT64_SCHEMA, userid=STRING_SCHEMA, pageid=STRING_SCHEMA), "viewtime", _pageviews
    ),
    "orders": Kind(
        _schema(
            "orders", ordertime=INT64_SCHEMA, orderid=INT32_SCHEMA, itemid=STRING_SCHEMA, orderunits=FLOAT64_SCHEMA,
            city=STRING_SCHEMA,
        ),
        "orderid",
        _orders,
    ),
    "stock_trades": Kind(
        _schema(
            "stock_trades", side=STRING_SCHEMA, symbol=STRING_SCHEMA, quantity=INT32_SCHEMA, price=INT32_SCHEMA,
            account=STRING_SCHEMA, tradetime=INT64_SCHEMA,
        ),
        "symbol",
        _stock_trades,
    ),
    "clickstream": Kind(
        _schema(
            "clickstream", ip=STRING_SCHEMA, userid=INT32_SCHEMA, time=INT64_SCHEMA, request=STRING_SCHEMA,
            status=INT32_SCHEMA, bytes=INT32_SCHEMA, agent=STRING_SCHEMA,
        ),
        "ip",
        _clickstream,
    ),
    "sensors": Kind(
        _schema(
            "sensors", sensor=STRING_SCHEMA, time=INT64_SCHEMA, temperature=FLOAT64_SCHEMA, humidity=FLOAT64_SCHEMA,
            alarm=BOOLEAN_SCHEMA,
        ),
        "sensor",
        _sensors,
    ),
}  # fmt: skip
