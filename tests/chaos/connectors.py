"""`python -m tests.chaos.connectors --rounds 10`: a table -> topic -> a table and files while the worker is killed.

PostgreSQL's rows are inserted and updated all the while. At the end the tables are equal, the topic has each state of a row at
most once, in order, and the last one always, and the files have the records of the topic, each once.
"""

from __future__ import annotations

import argparse
import random
import signal
import sys
import tempfile
import time
from pathlib import Path

from penstock.broker import LocalBroker
from tests.chaos.connect import KINDS, PARTITIONS, Round, wait_for_more
from tests.chaos.connectors_outcome import Files, Topic, wrong_files, wrong_records
from tests.chaos.connectors_rows import COLUMNS, TABLE, RowWriter
from tests.chaos.processes import kill
from tests.connect.running_worker import PENSTOCK
from tests.servers.fixtures import OwnDatabase
from tests.servers.postgres import PostgresServer

ALL = "everything"
FORMATS = ("JsonFormat", "ParquetFormat")
JSON = "org.apache.kafka.connect.json.JsonConverter"


class TableRound(Round):
    """One worker with three connectors, its database and files.

    Args:
        broker: The Kafka of the round.
        database: The database of the round.
        folder: Where everything else is.
        rows: How many.
        file_format: The format of the files.
    """

    def __init__(self, broker: LocalBroker, database: OwnDatabase, folder: Path, rows: int, file_format: str) -> None:
        super().__init__(broker, folder, rows, topic=f"{folder.name}-{TABLE}")
        self._database = database
        database.execute(
            f"CREATE TABLE {TABLE} (id bigserial PRIMARY KEY, version integer NOT NULL DEFAULT 0, price numeric(10,2), note text, "
            "paid boolean NOT NULL, weight double precision, changed timestamptz(3) NOT NULL DEFAULT clock_timestamp())",
            f"CREATE INDEX ON {TABLE} (changed, id)",
            f"CREATE TABLE copies (LIKE {TABLE} INCLUDING INDEXES)",
        )
        self.files = Files(folder / "lake" / "topics" / self.topic)
        self.records = Topic(broker, self.topic, PARTITIONS)
        self._format = file_format
        self._properties = [self._write(name, settings) for name, settings in self._settings().items()]

    def _settings(self) -> dict[str, dict[str, str]]:
        worker = {
            "bootstrap.servers": self._broker.bootstrap_servers, "listeners": "http://127.0.0.1:0",
            "key.converter": JSON, "value.converter": JSON, "exactly.once.source.support": "enabled",
            "offset.storage.file.filename": str(self._folder / "connect.offsets"), "state.dir": str(self._folder / "state"),
        }  # fmt: skip
        source = {
            "name": "rows", "connector.class": "JdbcSource", **self._database.config, "table.whitelist": TABLE,
            "mode": "timestamp+incrementing", "timestamp.column.name": "changed", "incrementing.column.name": "id",
            # A statement takes the time for its first row before it has written anything: the source cannot know of it.
            "timestamp.delay.interval.ms": "500",
            "topic.prefix": self.topic.removesuffix(TABLE), "poll.interval.ms": "100",
            "batch.max.rows": "100",  # many batches, so that many of them are hit
            "transforms": "key", "transforms.key.type": "org.apache.kafka.connect.transforms.ValueToKey",
            "transforms.key.fields": "id",
        }  # fmt: skip
        upsert = {
            "name": "copies", "connector.class": "JdbcSink", **self._database.config, "tasks.max": "2",
            "topics": self.topic, "table.name.format": "copies", "insert.mode": "upsert", "pk.mode": "record_value", "pk.fields": "id",
        }  # fmt: skip
        lake = {
            "name": "lake", "connector.class": "FileSystemSink", "tasks.max": "2", "topics": self.topic,
            "store.url": str(self._folder / "lake"), "format.class": self._format, "flush.size": "500",
            "rotate.schedule.interval.ms": "3000", "timezone": "UTC",
        }  # fmt: skip
        return {"worker": worker, "rows": source, "copies": upsert, "lake": lake}

    def _write(self, name: str, settings: dict[str, str]) -> Path:
        file = self._folder / f"{name}.properties"
        file.write_text("".join(f"{key}={value}\n" for key, value in settings.items()))
        return file

    def command(self) -> list[str]:
        """The worker as a user runs it."""
        return [str(PENSTOCK), "connect", "standalone", *map(str, self._properties)]

    def disturb(self, kind: str) -> str | None:
        """Kill the worker's main process, its JVM, a task process, or all of them at once."""
        if kind != ALL:
            return super().disturb(kind)
        for pid in self.processes():
            kill(pid)
        assert self._worker is not None
        self._worker.wait()
        return kind

    def count(self) -> int:
        """Rows and files that came out."""
        return int(self._database.query("SELECT count(*) FROM copies")[0][0]) + len(self.files.paths())

    def differing(self) -> int:
        """Rows of which the copy is not equal, in all columns."""
        first, second = (f"SELECT {COLUMNS} FROM {table}" for table in (TABLE, "copies"))
        both = f"({first} EXCEPT ALL {second}) UNION ALL ({second} EXCEPT ALL {first})"
        return int(self._database.query(f"SELECT count(DISTINCT id) FROM ({both}) AS one")[0][0])

    def settled(self) -> bool:
        """Whether everything has come out; the sums are cheap, so that asking does not slow the worker down."""
        sums = [self._database.query(f"SELECT count(*), sum(version) FROM {table}") for table in (TABLE, "copies")]
        return sums[0] == sums[1] and self.differing() == 0 and self.records.read() <= self.files.count()

    def wrong(self) -> list[str]:
        """What is wrong at the end."""
        self.records.read()
        final = dict(self._database.query(f"SELECT id, version FROM {TABLE}"))
        found = [f"{len(final)} rows instead of {self.lines}"] * (len(final) != self.lines)
        differing = self.differing()
        found += [f"{differing} rows differ"] * bool(differing)
        return [
            *found, *wrong_records(self.records.records, final), *wrong_files(self.files.read(), self.records.records),
        ]  # fmt: skip

    def close(self) -> None:
        """End everything of the round."""
        super().close()
        self.records.close()


def play(round_: TableRound, writer: RowWriter, chance: random.Random, kills: int, patience: float) -> list[str]:
    """Write, kill, wait: what was killed."""
    done: list[str] = []
    # Each kind comes as often as the others, in any order.
    kinds = [kind for _ in range(kills) for kind in chance.sample([*KINDS, ALL], len(KINDS) + 1)][:kills]
    for number, kind in enumerate(kinds):
        writer.allow(round_.lines * (number + 2) // (kills + 2))
        round_.ensure_worker()
        wait_for_more(round_, chance)
        time.sleep(chance.choice((0, 0, 4)) * chance.random())  # the first batches, or some in the middle
        done += [killed for killed in [round_.disturb(kind)] if killed]
    writer.allow(round_.lines)
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        round_.ensure_worker()
        if writer.finish() and round_.settled():
            break
        time.sleep(1)
    time.sleep(3)  # what comes twice would come now
    return done


def main() -> int:
    """Run the rounds; 1 if any went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--rows", type=int, default=100_000)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--patience", type=float, default=180)
    options = parser.parse_args()
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(1))  # the worker is ended on the way out
    print(f"seed {options.seed}", flush=True)
    failed = 0
    with LocalBroker() as broker, PostgresServer() as server:
        for number in range(options.rounds):
            chance = random.Random(f"{options.seed}-{number}")
            begin = time.monotonic()
            database = OwnDatabase(server, server.create_database())
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                file_format = chance.choice(FORMATS)
                round_ = TableRound(broker, database, Path(folder), options.rows, file_format)
                try:
                    with RowWriter(database, options.rows, chance.random()) as writer:
                        done = play(round_, writer, chance, options.kills, options.patience)
                    wrong = round_.wrong()
                finally:
                    round_.close()
                failed += bool(wrong)
                if wrong:
                    print(Path(folder, "worker.log").read_bytes()[-8000:].decode(errors="replace"))
                print(
                    f"round {number + 1}: killed {', '.join(done) or 'nothing'}, {round_.starts} starts, {options.rows} rows, "
                    f"{len(round_.records.records)} records, {len(round_.files.paths())} files ({file_format}), "
                    f"{'WRONG: ' + '; '.join(wrong) if wrong else 'right'}, {time.monotonic() - begin:.0f} s",
                    flush=True,
                )
            server.drop_database(database.name)
    print(f"{options.rounds - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
