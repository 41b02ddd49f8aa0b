"""PostgreSQL to topics to a stream-table join to PostgreSQL, all of it on this machine: make example-postgres-join."""

from __future__ import annotations

import subprocess
import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import Any

from typing_extensions import Self

from examples.postgres_join import CUSTOMERS, DETAILS, ORDERS
from examples.whole import check_running, show, step, until, worker
from penstock.broker import LocalBroker
from penstock.broker.process import Watchdog, stop
from penstock.kafka.admin import Admin
from tests.connect.running_worker import PENSTOCK, RunningWorker
from tests.servers.postgres import PostgresServer

HERE = Path(__file__).parent
TABLES = (
    "CREATE TABLE customers (id int PRIMARY KEY, name text NOT NULL)",
    "CREATE TABLE orders (id int PRIMARY KEY, customer int NOT NULL, item text NOT NULL, amount int NOT NULL)",
    "INSERT INTO customers VALUES (1, 'Ann'), (2, 'Bo'), (3, 'Cy')",
    "INSERT INTO orders VALUES (1, 1, 'kettle', 1), (2, 2, 'rope', 20), (3, 1, 'tent', 1)",
)
CHANGES = (
    "UPDATE customers SET name = 'Bob' WHERE id = 2",
    "INSERT INTO customers VALUES (4, 'Dee')",
)
LATER = (
    "INSERT INTO orders VALUES (4, 2, 'hook', 5), (5, 4, 'map', 1), (6, 9, 'lamp', 1)",
    "UPDATE orders SET amount = 2 WHERE id = 3",
)
COLUMNS = ("id", "customer", "item", "amount")


def main() -> list[tuple[Any, ...]]:
    """Runs everything; the table that comes out."""
    with ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="penstock-example-")))
        step("starting PostgreSQL and Kafka")
        postgres = stack.enter_context(PostgresServer())
        kafka = stack.enter_context(LocalBroker())
        postgres.execute("CREATE DATABASE shop")
        postgres.execute(*TABLES, database="shop")
        admin = Admin({"bootstrap.servers": kafka.bootstrap_servers})
        admin.create_topic(DETAILS, partitions=2)

        step("starting a Connect worker with source.properties and sink.properties")
        environment = {"SHOP_PORT": postgres.port, "SHOP_USER": postgres.user, "SHOP_PASSWORD": postgres.password}
        running = stack.enter_context(worker(folder, kafka.bootstrap_servers, HERE, environment))
        until(
            "the rows of both tables are in topics",
            lambda: check_running(running) and {ORDERS, CUSTOMERS} <= admin.topics().keys(),
        )
        step("starting the join: penstock run examples.postgres_join:topology")
        join = stack.enter_context(Application(folder, kafka.bootstrap_servers))

        def rows() -> list[tuple[Any, ...]]:
            check_running(running)
            join.check_running()
            try:
                return postgres.query(f"SELECT {', '.join(COLUMNS)} FROM order_details ORDER BY id", database="shop")
            except Exception as error:
                if type(error).__name__ == "UndefinedTable":
                    return []  # the sink makes it with the first record
                raise

        until("the join has come through", lambda: len(rows()) == 3)
        show("order_details", COLUMNS, rows())
        step("a customer is renamed, another one comes; then there are new orders, and one changes")
        postgres.execute(CHANGES[0], database="shop")
        before = _log_position(postgres)
        postgres.execute(CHANGES[1], database="shop")
        until("the changed customers are in their topic", lambda: _source_position(running) >= before)
        postgres.execute(*LATER, database="shop")
        until("the changes have come through", lambda: len(found := rows()) == 6 and found[2][3] == 2)
        show("order_details", COLUMNS, found := rows())
        step("stopping")
        return found


class Application:
    """The join, as a user runs it, in a process of its own.

    Args:
        folder: For its state and its log.
        bootstrap_servers: Where Kafka is.
    """

    def __init__(self, folder: Path, bootstrap_servers: str) -> None:
        self._log = folder / "join.log"
        settings = {
            "state.dir": folder / "join",
            "processing.guarantee": "exactly_once_v2",
        }
        options = [part for name, value in settings.items() for part in ("-X", f"{name}={value}")]
        command = [str(PENSTOCK), "run", "examples.postgres_join:topology", "-b", bootstrap_servers, *options]
        with self._log.open("wb") as log:
            self._process = subprocess.Popen(command, cwd=HERE.parents[1], stdout=log, stderr=log)
        self._watchdog = Watchdog(self._process.pid, delete=None)

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        stop(self._process)
        self._watchdog.dismiss()

    def check_running(self) -> None:
        """Raises RuntimeError if it has ended."""
        if self._process.poll() is not None:
            raise RuntimeError(f"The join ended:\n{self._log.read_text()}")


def _log_position(postgres: PostgresServer) -> int:
    ((lsn,),) = postgres.query("SELECT (pg_current_wal_insert_lsn() - '0/0')::bigint")
    return int(lsn)


def _source_position(running: RunningWorker) -> int:
    """The commit that was delivered last."""
    check_running(running)
    (entry,) = running.http.get("/connectors/shop-changes/offsets").json()["offsets"]
    return int(entry["offset"].get("lsn_commit", 0))


if __name__ == "__main__":
    main()
