"""MERGE, of Oracle, SQL Server, Db2, HANA and Sybase."""

from __future__ import annotations

from collections.abc import Sequence

from penstock.connect.connectors.jdbc.sink.dialects.dialect import MARK, Dialect
from penstock.connect.connectors.jdbc.table_id import TableId

_DB2 = " FROM sysibm.sysdummy1"
_SELECT_FROM = {"oracle": " FROM dual", "hana": " FROM dummy", "db2": _DB2, "ibm_db_sa": _DB2}
_TARGET = {"mssql": " WITH (HOLDLOCK)", "sybase": " WITH (HOLDLOCK)"}
_END = {"mssql": ";", "sybase": ";"}


class MergeDialect(Dialect):
    """Upserts by MERGE; types by SQLAlchemy."""

    def upsert(self, table: TableId, keys: Sequence[str], others: Sequence[str]) -> str:
        backend = self.database.backend
        columns = [*keys, *others]
        selected = ", ".join(f"{MARK} AS {self.quote(name)}" for name in columns)
        same = " AND ".join(f"target.{self.quote(name)} = incoming.{self.quote(name)}" for name in keys)
        incoming = ", ".join(f"incoming.{self.quote(name)}" for name in columns)
        changes = ", ".join(f"target.{self.quote(name)} = incoming.{self.quote(name)}" for name in others)
        parts = [
            f"MERGE INTO {self.table(table)}{_TARGET.get(backend, '')} target",
            f"USING (SELECT {selected}{_SELECT_FROM.get(backend, '')}) incoming ON ({same})",
            *([f"WHEN MATCHED THEN UPDATE SET {changes}"] if changes else []),
            f"WHEN NOT MATCHED THEN INSERT ({self.names(columns)}) VALUES ({incoming}){_END.get(backend, '')}",  # noqa: S608
        ]
        return " ".join(parts)
