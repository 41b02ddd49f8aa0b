"""Tables that are created, columns that are added, names that are odd, and tables that do not fit."""

from __future__ import annotations

import pytest

from penstock.connect.data import (
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Schema,
    SchemaBuilder,
    Struct,
    Type,
)
from penstock.connect.errors import ConnectError, DataError
from tests.connect.jdbc.sink_records import ORDER, Sink, order, record, wide
from tests.servers.fixtures import OwnDatabase

UPSERT = {"insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id"}


def grown(schema: Schema) -> Schema:
    builder = SchemaBuilder.struct()
    for field in ORDER.fields:
        builder.field(field.name, field.schema)
    return builder.field("extra", schema).build()


def quoted(database: OwnDatabase, name: str) -> str:
    mark = "`" if database.kind == "mariadb" else '"'
    return f"{mark}{name.replace(mark, mark * 2)}{mark}"


def test_a_missing_table_is_an_error_unless_it_may_be_created(database: OwnDatabase) -> None:
    with (
        Sink(database, {"auto.create": "false"}) as sink,
        pytest.raises(ConnectError, match=r"Table orders is missing and auto-creation is disabled.*auto.create=true"),
    ):
        sink.put(record(order(1)))


def test_records_for_a_missing_table_go_to_the_dead_letters_while_others_are_written(database: OwnDatabase) -> None:
    database.execute("CREATE TABLE orders (id BIGINT, item VARCHAR(10), price FLOAT)")
    with Sink(database, {"auto.create": "false"}, tolerant=True) as sink:
        sink.put(record(order(1)), record(order(1), 1, topic="others"), record(order(2), 2))
    assert wide(database.query("SELECT id FROM orders")) == [(1,), (2,)]
    assert sink.reports.offsets == [1]


def test_columns_are_in_the_order_of_the_value(database: OwnDatabase) -> None:
    schema = SchemaBuilder.struct().field("b", INT32_SCHEMA).field("id", INT64_SCHEMA).field("a", INT32_SCHEMA).build()
    with Sink(database, UPSERT) as sink:
        sink.put(record(Struct(schema, {"b": 1, "id": 2, "a": 3})))
    assert database.query("SELECT * FROM orders") == [(1, 2, 3)]


def test_new_optional_fields_become_columns(database: OwnDatabase) -> None:
    with Sink(database, {**UPSERT, "auto.evolve": "true"}) as sink:
        wider = grown(OPTIONAL_STRING_SCHEMA)
        sink.put(
            record(order(1), 0),
            record(Struct(wider, {"id": 2, "extra": "x"}), 1),
            record(order(3), 2),
            record(Struct(wider, {"id": 1, "extra": "y"}), 3),
        )
    rows = wide([(number, str(extra)) for number, extra in database.query("SELECT id, extra FROM orders")])
    assert rows == [(1, "y"), (2, "x"), (3, "None")]


@pytest.mark.parametrize(
    ("schema", "expected"),
    [
        (Schema(Type.INT32, default=7), 7),
        (Schema(Type.STRING, default="it's 100% \\ fine"), "it's 100% \\ fine"),
        (Schema(Type.BOOLEAN, default=True), 1),
        (Schema(Type.BYTES, default=b"\x00\xff"), b"\x00\xff"),
        (Schema(Type.FLOAT64, default=-2.5), -2.5),
    ],
    ids=["int", "text", "boolean", "bytes", "float"],
)
def test_new_fields_with_a_default_fill_the_rows_that_are_there(
    database: OwnDatabase, schema: Schema, expected: object
) -> None:
    with Sink(database, {**UPSERT, "auto.evolve": "true"}) as sink:
        sink.put(record(order(1)))
        sink.put(record(Struct.of(grown(schema), [2, None, None, None]), 1))
    assert [extra for _, extra in wide(database.query("SELECT id, extra FROM orders"))] == [expected, expected]


def test_nulls_stay_null_if_defaults_are_not_wanted(database: OwnDatabase) -> None:
    schema = grown(Schema(Type.INT32, default=7, optional=True))
    with Sink(database, {**UPSERT, "replace.null.with.default": "false"}) as sink:
        sink.put(record(Struct.of(schema, [2, None, None, None]), 1))
    assert database.query("SELECT extra FROM orders") == [(None,)]


@pytest.mark.parametrize(
    ("settings", "schema", "message"),
    [
        ({}, OPTIONAL_INT32_SCHEMA, "Table orders is missing fields and auto-evolution is disabled: extra"),
        (
            {"auto.evolve": "true"},
            INT32_SCHEMA,
            "Cannot ALTER TABLE orders to add missing field extra, as the field is not optional and does not have a default",
        ),
    ],
)
def test_fields_that_cannot_be_added(
    database: OwnDatabase, settings: dict[str, str], schema: Schema, message: str
) -> None:
    with Sink(database, {**UPSERT, **settings}) as sink:
        sink.put(record(order(1)))
        with pytest.raises(ConnectError, match=message):
            sink.put(record(Struct(grown(schema), {"id": 2, "extra": 1}), 1))
        sink.put(record(order(3), 2))
    assert wide(database.query("SELECT id FROM orders")) == [(1,), (3,)]


def test_columns_added_by_hand_are_seen_without_a_restart(database: OwnDatabase) -> None:
    with Sink(database, UPSERT) as sink:
        sink.put(record(order(1)))
        database.execute("ALTER TABLE orders ADD extra INT")
        sink.put(record(Struct(grown(OPTIONAL_INT32_SCHEMA), {"id": 2, "extra": 5}), 1))
    assert wide(database.query("SELECT id, extra FROM orders WHERE extra IS NOT NULL")) == [(2, 5)]


def test_two_tasks_create_and_change_a_table_at_once(database: OwnDatabase) -> None:
    settings = {**UPSERT, "auto.evolve": "true"}
    with Sink(database, settings) as one, Sink(database, settings) as two:
        one.put(record(order(1)))
        two.put(record(order(2), partition=1))
        wider = grown(OPTIONAL_INT32_SCHEMA)
        one.put(record(Struct(wider, {"id": 3, "extra": 1}), 1))
        two.put(record(Struct(wider, {"id": 4, "extra": 2}), 1, partition=1))
    assert wide(database.query("SELECT id FROM orders")) == [(1,), (2,), (3,), (4,)]


ODD = ['a"b', "a`b", "select", "per%cent %s", "Sp ace", "umläut", "semi;colon--", "dot.ted", "new\nline", "it's"]


def test_odd_names_of_columns_and_tables(database: OwnDatabase) -> None:
    builder = SchemaBuilder.struct().field("Odd Key%", INT64_SCHEMA)
    for name in ODD:
        builder.field(name, OPTIONAL_STRING_SCHEMA)
    schema = builder.build()
    settings = {**UPSERT, "pk.fields": "Odd Key%", "table.name.format": '"odd.%s ${topic}"', "auto.evolve": "true"}
    with Sink(database, settings) as sink:
        sink.put(record(Struct(schema, {"Odd Key%": 1, **dict.fromkeys(ODD, "x")}), topic="select"))
        sink.put(record(Struct(schema, {"Odd Key%": 1, **{name: name for name in ODD}}), 1, topic="select"))
    columns = ", ".join(quoted(database, name) for name in ODD)
    table = quoted(database, "odd.%s select")
    assert database.query(f"SELECT {columns} FROM {table}") == [tuple(ODD)]


def test_names_are_not_quoted_if_that_is_wanted(database: OwnDatabase) -> None:
    schema = SchemaBuilder.struct().field("Id", INT64_SCHEMA).field("Item", STRING_SCHEMA).build()
    settings = {**UPSERT, "pk.fields": "Id", "quote.sql.identifiers": "never"}
    with Sink(database, settings) as sink:
        sink.put(record(Struct(schema, {"Id": 1, "Item": "a"}), topic="Orders"))
        sink.put(record(Struct(schema, {"Id": 1, "Item": "b"}), 1, topic="Orders"))
    assert database.query("SELECT id, item FROM Orders") == [(1, "b")]


def test_columns_are_found_whatever_their_case(database: OwnDatabase) -> None:
    database.execute(
        f"CREATE TABLE orders ({quoted(database, 'ID')} BIGINT PRIMARY KEY, {quoted(database, 'Item')} VARCHAR(10))"
    )
    with Sink(database, {**UPSERT, "fields.whitelist": "item"}) as sink:
        sink.put(record(order(1, "a")))
        sink.put(record(order(1, "b"), 1))
    assert database.query("SELECT * FROM orders") == [(1, "b")]


def test_of_two_fields_for_one_column_the_one_of_its_name_is_written(
    database: OwnDatabase, caplog: pytest.LogCaptureFixture
) -> None:
    database.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, name VARCHAR(10))")
    schema = SchemaBuilder.struct().field("id", INT64_SCHEMA)
    for name in ("Name", "name"):
        schema.field(name, OPTIONAL_STRING_SCHEMA)
    records = [record(Struct(schema.build(), {"id": n, "Name": "wrong", "name": "right"}), n) for n in range(2)]
    with Sink(database, UPSERT, tolerant=True) as sink:
        sink.put(records[0])
        sink.put(records[1])
    if database.kind == "postgres":  # it could have a column for each
        assert "fields name and Name both belong to column name of table orders" in sink.reports.messages[0]
    else:
        assert database.query("SELECT id, name FROM orders ORDER BY id") == [(0, "right"), (1, "right")]
        assert caplog.text.count("field Name is not written") == 1


def test_two_fields_for_a_column_of_another_name_are_refused(database: OwnDatabase) -> None:
    database.execute("CREATE TABLE orders (id BIGINT PRIMARY KEY, name VARCHAR(10))")
    schema = SchemaBuilder.struct().field("id", INT64_SCHEMA)
    for name in ("Name", "NAME"):
        schema.field(name, OPTIONAL_STRING_SCHEMA)
    value = Struct(schema.build(), {"id": 1, "Name": "a", "NAME": "b"})
    with Sink(database, UPSERT) as sink, pytest.raises(DataError, match="Name and NAME both belong to column name"):
        sink.put(record(value))


def test_tables_in_a_schema(postgres_database: OwnDatabase) -> None:
    postgres_database.execute("CREATE SCHEMA shop")
    with Sink(postgres_database, {**UPSERT, "table.name.format": "shop.${topic}"}) as sink:
        sink.put(record(order(1)))
    assert postgres_database.query("SELECT id FROM shop.orders") == [(1,)]


def test_a_schema_that_is_missing_is_named(postgres_database: OwnDatabase) -> None:
    with (
        Sink(postgres_database, {"table.name.format": "shop.${topic}"}) as sink,
        pytest.raises(ConnectError, match=r'schema "shop" does not exist'),
    ):
        sink.put(record(order(1)))


def test_tables_in_another_catalog(mariadb_database: OwnDatabase) -> None:
    with Sink(mariadb_database, {**UPSERT, "table.name.format": f"{mariadb_database.name}.${{topic}}"}) as sink:
        sink.put(record(order(1)))
    assert mariadb_database.query("SELECT id FROM orders") == [(1,)]


def test_views_are_written_only_if_they_are_allowed(database: OwnDatabase) -> None:
    database.execute(
        "CREATE TABLE base (id BIGINT PRIMARY KEY, item VARCHAR(10))", "CREATE VIEW orders AS SELECT id, item FROM base"
    )
    settings = {"fields.whitelist": "id,item", "auto.evolve": "true"}
    with (
        Sink(database, settings) as sink,
        pytest.raises(ConnectError, match=r"orders is a view, but table.types allows"),
    ):
        sink.put(record(order(1)))
    with (
        Sink(database, {"auto.evolve": "true", "table.types": "TABLE,VIEW"}) as sink,
        pytest.raises(ConnectError, match="View orders lacks columns, and views are not altered: price"),
    ):
        sink.put(record(order(1)))
    if database.kind != "sqlite":  # its views take no rows
        with Sink(database, {**settings, "table.types": "TABLE,VIEW"}) as sink:
            sink.put(record(order(1)))
        assert database.query("SELECT id FROM base") == [(1,)]


def test_an_upsert_needs_a_key_in_the_table(database: OwnDatabase) -> None:
    database.execute("CREATE TABLE orders (id BIGINT, item VARCHAR(10), price FLOAT)")
    with (
        Sink(database, UPSERT) as sink,
        pytest.raises(ConnectError, match=r"needs a primary key or unique constraint on \(id\); it has none"),
    ):
        sink.put(record(order(1)))
    database.execute("CREATE UNIQUE INDEX one ON orders (id)")
    with Sink(database, UPSERT) as sink:
        sink.put(record(order(1)), record(order(1, "b"), 1))
    assert database.query("SELECT id, item FROM orders") == [(1, "b")]
