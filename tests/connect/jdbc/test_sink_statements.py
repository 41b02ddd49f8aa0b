"""Statements as texts, also for databases that are not here."""

from __future__ import annotations

import pytest
from sqlalchemy.dialects import mssql, oracle

from penstock.connect.connectors.jdbc.connection import Database
from penstock.connect.connectors.jdbc.sink.dialects import DIALECTS, MARK, Dialect
from penstock.connect.connectors.jdbc.sink.fields import Origin, SinkField
from penstock.connect.connectors.jdbc.sink.settings import SinkSettings
from penstock.connect.connectors.jdbc.table_id import TableId
from penstock.connect.data import DATE_SCHEMA, INT64_SCHEMA, OPTIONAL_STRING_SCHEMA, STRING_SCHEMA, decimal_schema
from penstock.connect.errors import ConnectError

TABLE = TableId(None, "shop", "orders")
KEYS, OTHERS = ["id"], ["item", "50%"]


def dialect(backend: str) -> Dialect:
    """What is spoken there; types and quotes are SQLAlchemy's own for that database."""
    settings = {"connection.url": "jdbc:sqlite:/nowhere.db"}
    database = Database(settings)
    database.backend = backend
    known = {"oracle": oracle.dialect, "mssql": mssql.dialect}
    if backend in known:
        database.engine.dialect = known[backend]()
    return DIALECTS.get(backend, Dialect)(database, SinkSettings.of(settings))


def test_postgresql() -> None:
    found = dialect("postgresql")
    assert found.upsert(TABLE, KEYS, OTHERS).replace(MARK, "?") == (
        'INSERT INTO "shop"."orders" ("id", "item", "50%") VALUES (?, ?, ?) ON CONFLICT ("id") '
        'DO UPDATE SET "item" = EXCLUDED."item", "50%" = EXCLUDED."50%"'
    )
    assert found.upsert(TABLE, KEYS, []).endswith('ON CONFLICT ("id") DO NOTHING')


def test_mysql_with_nothing_but_keys() -> None:
    assert (
        dialect("mysql")
        .upsert(TABLE, ["a", "b"], [])
        .endswith('ON DUPLICATE KEY UPDATE "a" = VALUES("a"), "b" = VALUES("b")')
    )


@pytest.mark.parametrize(
    ("backend", "begin", "end"),
    [
        ("oracle", 'MERGE INTO "shop"."orders" target USING (SELECT ? AS "id", ? AS "item", ? AS "50%" FROM dual)', ""),
        ("mssql", "MERGE INTO [shop].[orders] WITH (HOLDLOCK) target USING (SELECT ? AS [id], ? AS [item]", ";"),
        ("ibm_db_sa", 'MERGE INTO "shop"."orders" target USING (SELECT', ""),
    ],
)
def test_merge(backend: str, begin: str, end: str) -> None:
    found = dialect(backend).upsert(TABLE, KEYS, OTHERS).replace(MARK, "?")
    assert found.startswith(begin)
    assert "WHEN MATCHED THEN UPDATE SET target." in found
    assert "WHEN NOT MATCHED THEN INSERT (" in found
    assert found.endswith(f"){end}")


def test_signs_of_drivers() -> None:
    found = dialect("sqlite")
    statement = found.update(TABLE, KEYS, OTHERS)
    assert found.finished(statement) == 'UPDATE "shop"."orders" SET "item" = ?, "50%" = ? WHERE "id" = ?'
    found._paramstyle = "pyformat"
    assert found.finished(statement) == 'UPDATE "shop"."orders" SET "item" = %s, "50%%" = %s WHERE "id" = %s'
    found._paramstyle = "named"
    assert found.finished(statement) == 'UPDATE "shop"."orders" SET "item" = :1, "50%" = :2 WHERE "id" = :3'


def test_types_of_other_databases() -> None:
    fields = [
        SinkField("id", STRING_SCHEMA, Origin.KEY, is_key=True),
        SinkField("n", INT64_SCHEMA, Origin.VALUE_FIELD),
        SinkField("amount", decimal_schema(2, optional=True), Origin.VALUE_FIELD),
        SinkField("d", DATE_SCHEMA, Origin.VALUE_FIELD),
        SinkField("s", OPTIONAL_STRING_SCHEMA, Origin.VALUE_FIELD),
    ]
    assert dialect("mssql").create_table(TABLE, fields[:3]).replace("\n", " ") == (
        "CREATE TABLE [shop].[orders] ( [id] VARCHAR(255) NOT NULL, [n] BIGINT NOT NULL, [amount] NUMERIC(38, 2) NULL, "
        "PRIMARY KEY ([id]))"
    )
    assert '"s" CLOB NULL' in dialect("oracle").create_table(TABLE, fields)


@pytest.mark.parametrize(("scale", "expected"), [(2, 2), (30, 30), (31, 30), (127, 30)])
def test_decimals_of_mysql_have_a_scale_it_knows(scale: int, expected: int) -> None:
    field = SinkField("n", decimal_schema(scale), Origin.VALUE_FIELD)
    assert dialect("mysql").column_type(field) == f"DECIMAL(65,{expected})"


def test_databases_without_an_upsert_we_know_say_so() -> None:
    with pytest.raises(ConnectError, match=r"No upsert is known for firebird. Use insert.mode=insert"):
        dialect("firebird").upsert(TABLE, KEYS, OTHERS)
