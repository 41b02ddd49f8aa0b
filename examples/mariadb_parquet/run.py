"""MariaDB to a topic to Parquet to Spark, all of it on this machine: make example-mariadb-parquet."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from examples.whole import check_running, show, step, until, worker
from penstock.broker import LocalBroker
from tests.servers.mariadb import MariaDBServer

HERE = Path(__file__).parent
BOATS = ("Heron", "Otter", "Pike")
TABLE = """
    CREATE TABLE trips (
        id INT AUTO_INCREMENT PRIMARY KEY,
        boat VARCHAR(20) NOT NULL,
        minutes INT NOT NULL,
        price DECIMAL(8, 2) NOT NULL,
        changed DATETIME(6) NOT NULL DEFAULT CURRENT_TIMESTAMP(6) ON UPDATE CURRENT_TIMESTAMP(6)
    )
"""
ROWS = 1000


def trips(first: int) -> str:
    """A statement that inserts rows."""
    rows = (f"('{BOATS[i % 3]}', {20 + i % 100}, {(20 + i % 100) * 0.25:.2f})" for i in range(first, first + ROWS))
    return f"INSERT INTO trips (boat, minutes, price) VALUES {', '.join(rows)}"


def main() -> list[tuple[Any, ...]]:
    """Runs everything; what Spark finds."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="penstock-example-")))
        lake = folder / "lake"
        step("starting MariaDB and Kafka")
        mariadb = stack.enter_context(MariaDBServer())
        kafka = stack.enter_context(LocalBroker())
        mariadb.execute("CREATE DATABASE hire")
        mariadb.execute(TABLE, trips(0), database="hire")

        step("starting a Connect worker with source.properties and sink.properties")
        environment = {
            "HIRE_PORT": mariadb.port,
            "HIRE_USER": mariadb.user,
            "HIRE_PASSWORD": mariadb.password,
            "HIRE_LAKE": lake,
        }
        with worker(folder, kafka.bootstrap_servers, HERE, environment) as running:

            def files() -> list[Path]:
                check_running(running)
                return sorted(lake.glob("topics/hire-trips/**/*.parquet"))

            until(f"{ROWS} rows are in two files", lambda: len(files()) == 2)
            step(f"{ROWS} rows more")
            mariadb.execute(trips(ROWS), database="hire")
            for file in until("they are in two files more", lambda: files() if len(files()) == 4 else None):
                step(f"  {file.relative_to(lake)}")
        found = _read_by_spark(lake / "topics" / "hire-trips")
        show("trips by boat, from Parquet", ("boat", "trips", "minutes", "price"), found)
        rows = mariadb.query(
            "SELECT boat, count(*), sum(minutes), sum(price) FROM trips GROUP BY boat ORDER BY boat", database="hire"
        )
        step("the same as in MariaDB" if [tuple(map(str, row)) for row in rows] == found else f"MariaDB has {rows}")
        return found


def _read_by_spark(table: Path) -> list[tuple[Any, ...]]:
    from pyspark.sql import SparkSession

    step("reading the files with Spark")
    builder = SparkSession.builder.master("local[1]").config("spark.ui.enabled", False)
    spark = builder.config("spark.ui.showConsoleProgress", False).getOrCreate()
    try:
        spark.read.parquet(str(table)).createOrReplaceTempView("trips")
        query = "SELECT boat, count(*), sum(minutes), sum(price) FROM trips GROUP BY boat ORDER BY boat"
        return [tuple(map(str, row)) for row in spark.sql(query).collect()]
    finally:
        spark.stop()


if __name__ == "__main__":
    main()
