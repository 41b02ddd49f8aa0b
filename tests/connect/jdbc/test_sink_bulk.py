"""Many rows at once: COPY in PostgreSQL, statements of many rows in MariaDB, and where those ways are closed."""

from __future__ import annotations

import pytest

from penstock.connect.data import (
    BYTES_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_BOOLEAN_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    SchemaBuilder,
    Struct,
    decimal_schema,
)
from tests.connect.jdbc.sink_records import Sink, order, order_key, record, wide
from tests.servers.fixtures import OwnDatabase

UPSERT = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"}
TEXTS = ["\x1f", "a\x1fb", "'", '"', "\\", "\\N", "\n\r\t", "%s %d %%", "NULL", "", "🚰", "a,b;--", "\x1a", None]


def test_every_text_survives(database: OwnDatabase) -> None:
    schema = (
        SchemaBuilder.struct()
        .field("id", INT64_SCHEMA)
        .field("text", OPTIONAL_STRING_SCHEMA)
        .field("number", OPTIONAL_FLOAT64_SCHEMA)
        .field("flag", OPTIONAL_BOOLEAN_SCHEMA)
        .field("data", BYTES_SCHEMA)
        .field("amount", decimal_schema(2, optional=True))
        .build()
    )
    numbers = [1.5, None, 1e300, -0.1]
    flags = [True, None, False]
    expected = []
    for n in range(300):
        data = bytes([n % 256, 0, 39, 92])
        expected.append((n, TEXTS[n % len(TEXTS)], numbers[n % 4], flags[n % 3], data))
    records = [record(Struct.of(schema, [*row, None]), n) for n, row in enumerate(expected)]
    with Sink(database, UPSERT) as sink:
        sink.put(*records)
        sink.put(*records)
    assert sorted(database.query("SELECT id, text, number, flag, data FROM orders")) == expected
    with Sink(database, {"table.name.format": "plain"}) as sink:
        sink.put(*records)
    assert sorted(database.query("SELECT id, text, number, flag, data FROM plain")) == expected


def test_the_last_record_of_a_key_counts(database: OwnDatabase) -> None:
    with Sink(database, UPSERT) as sink:
        sink.put(*(record(order(n % 50, f"item {n}"), n) for n in range(1000)))
    assert wide(database.query("SELECT id, item FROM orders")) == [(n, f"item {n + 950}") for n in range(50)]


def test_several_batches_of_a_table_in_one_transaction(database: OwnDatabase) -> None:
    with Sink(database, {**UPSERT, "batch.size": "60"}) as sink:
        sink.put(*(record(order(n % 100, f"item {n}"), n) for n in range(500)))
    assert wide(database.query("SELECT id, item FROM orders")) == [(n, f"item {n + 400}") for n in range(100)]


def test_many_deletes(database: OwnDatabase) -> None:
    key = SchemaBuilder.struct().field("id", INT64_SCHEMA).field("item", STRING_SCHEMA).build()
    settings = {"insert.mode": "upsert", "pk.mode": "record_key", "delete.enabled": "true"}
    with Sink(database, settings) as sink:
        keys = [Struct(key, {"id": n, "item": f"it's {n}"}) for n in range(200)]
        sink.put(*(record(order(n), n, key=keys[n]) for n in range(200)))
        sink.put(*(record(None, n, key=keys[n]) for n in range(0, 200, 2)))
    assert wide(database.query("SELECT id FROM orders")) == [(n,) for n in range(1, 200, 2)]
    with Sink(database, {**settings, "table.name.format": "single"}) as sink:
        sink.put(*(record(order(n), n, key=order_key(n)) for n in range(200)))
        sink.put(*(record(None, n, key=order_key(n)) for n in range(150)))
    assert wide(database.query("SELECT id FROM single")) == [(n,) for n in range(150, 200)]


def test_rows_larger_than_one_statement(mariadb_database: OwnDatabase) -> None:
    with Sink(mariadb_database, UPSERT) as sink:
        sink.put(*(record(order(n, "x" * 60_000), n) for n in range(40)))
    assert mariadb_database.query("SELECT count(*), min(length(item)) FROM orders") == [(40, 60_000)]


@pytest.mark.parametrize(
    "closed",
    [
        [
            "CREATE COLLATION nocase (provider = icu, locale = 'und-u-ks-level2', deterministic = false)",
            "CREATE TABLE orders (code TEXT COLLATE nocase PRIMARY KEY, id BIGINT, item TEXT, price FLOAT)",
        ],
        [
            "CREATE TABLE orders (code TEXT PRIMARY KEY, id BIGINT, item TEXT, price FLOAT)",
            "REVOKE TEMPORARY ON DATABASE {database} FROM PUBLIC",
        ],
    ],
    ids=["keys-without-case", "no-temporary-tables"],
)
def test_where_copy_cannot_be_used_rows_are_written_all_the_same(
    postgres_database: OwnDatabase, closed: list[str]
) -> None:
    postgres_database.execute(*(statement.replace("{database}", postgres_database.name) for statement in closed))
    user = f"writer_{postgres_database.name}"
    postgres_database.execute(f"CREATE USER {user} PASSWORD 'writes'", f"GRANT ALL ON orders TO {user}")
    settings = {"insert.mode": "upsert", "pk.mode": "record_key", "pk.fields": "code"}
    connection = {"connection.user": user, "connection.password": "writes"}
    try:
        with Sink(postgres_database, {**settings, **connection}) as sink:
            keys = [f"{'K' if n % 2 else 'k'}{n // 2}" for n in range(200)]
            sink.put(*(record(order(n), n, key=key, key_schema=STRING_SCHEMA) for n, key in enumerate(keys)))
        expected = 100 if "COLLATION" in closed[0] else 200
        assert postgres_database.query("SELECT count(*), max(id) FROM orders") == [(expected, 199)]
    finally:
        postgres_database.execute(f"DROP OWNED BY {user}", f"DROP USER {user}")


def test_row_security_closes_copy(postgres_database: OwnDatabase) -> None:
    user = f"writer_{postgres_database.name}"
    postgres_database.execute(
        "CREATE TABLE orders (id BIGINT, item TEXT, price FLOAT)",
        "ALTER TABLE orders ENABLE ROW LEVEL SECURITY",
        "CREATE POLICY everything ON orders USING (true) WITH CHECK (true)",
        f"CREATE USER {user} PASSWORD 'writes'",
        f"GRANT ALL ON orders TO {user}",
    )
    try:
        with Sink(postgres_database, {"connection.user": user, "connection.password": "writes"}) as sink:
            sink.put(*(record(order(n), n) for n in range(100)))
        assert postgres_database.query("SELECT count(*) FROM orders") == [(100,)]
    finally:
        postgres_database.execute(f"DROP OWNED BY {user}", f"DROP USER {user}")


@pytest.mark.parametrize("mode", ["", "ANSI_QUOTES,NO_BACKSLASH_ESCAPES"])
def test_servers_with_another_sql_mode(mariadb_database: OwnDatabase, mode: str) -> None:
    """Texts keep their backslashes, and a server that would cut them must not."""
    ((before,),) = mariadb_database.query("SELECT @@GLOBAL.sql_mode")
    text = "a\\'b\" \\\\ \n"
    mariadb_database.execute(
        f"SET GLOBAL sql_mode = '{mode}'", "CREATE TABLE short (id BIGINT, item VARCHAR(3), price FLOAT)"
    )
    try:
        with Sink(mariadb_database, UPSERT) as sink:
            sink.put(*(record(order(n, text), n) for n in range(50)))
            sink.put(record(order(50, text), 50))
        assert mariadb_database.query("SELECT DISTINCT item FROM orders") == [(text,)]
        with Sink(mariadb_database, tolerant=True) as sink:
            sink.put(record(order(1, "too long"), topic="short"), record(order(2, "ok"), 1, topic="short"))
        assert mariadb_database.query("SELECT item FROM short") == [("ok",)]
        assert "Data too long for column 'item'" in sink.reports.messages[0]
    finally:
        mariadb_database.execute(f"SET GLOBAL sql_mode = '{before}'")
