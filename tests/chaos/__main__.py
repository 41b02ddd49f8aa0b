"""`python -m tests.chaos --rounds 30`: kill, restart, and compare what a read_committed reader sees with what went in."""

from __future__ import annotations

import argparse
import collections
import os
import random
import shutil
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path

from penstock.broker import LocalBroker
from penstock.kafka.admin import Admin
from penstock.kafka.clients import open_range_consumer
from penstock.kafka.errors import KafkaClientError
from penstock.kafka.producing import RecordProducer
from penstock.kafka.ranges import read_range
from penstock.runtime.application import local_state
from penstock.spark.masters import is_local
from penstock.spark.session_settings import LOCAL_MASTER
from penstock.spark.tasks.crashes import STEPS
from tests.chaos.processes import below, find, kill, no_executor_folders_left
from tests.chaos.scenarios import SCENARIOS, Output, Record, Scenario, parts

PARTITIONS = 3
BROKER_SECONDS = 60.0  # that a broker may take to answer again, with all that runs beside it
KINDS = ("slot", "slot", "worker", "jvm", "driver", "broker", "step", "step", "node")
SNAPSHOT_SEGMENTS = (
    "10"  # so few batches are between two snapshots of a task, and are behind the last when one is restored
)
CLUSTER_KINDS = (*KINDS, "executor", "executor", "executor")


class Round:
    """One application, its input, and what is done to it."""

    def __init__(
        self,
        scenario: Scenario,
        broker: LocalBroker,
        folder: Path,
        guarantee: str,
        chance: random.Random,
        master: str = LOCAL_MASTER,
        kinds: Sequence[str] = (),
    ) -> None:
        self.scenario = scenario
        self.guarantee = guarantee
        self.kinds = kinds or (KINDS if is_local(master) else CLUSTER_KINDS)
        self._master = master
        self._broker = broker
        self._folder = folder
        self._chance = chance
        self._log = (folder / "app.log").open("wb")
        self._app: subprocess.Popen[bytes] | None = None
        self.restarts = -1
        self.done: list[str] = []
        settings = {"bootstrap.servers": broker.bootstrap_servers}
        self._admin = Admin(settings)
        self._producer = RecordProducer(settings)
        for topic in (*scenario.topics, "out"):
            if topic in self._admin.topics():
                self._admin.delete_topics([topic])
        for topic in (*scenario.topics, "out"):
            self._admin.create_topic(topic, partitions=PARTITIONS)

    def ensure_app(self, crash: str = "") -> None:
        """Start the application if it does not run."""
        if self._app is not None and self._app.poll() is None:
            return
        self._kill_leftovers()
        self.restarts += 1
        command = [sys.executable, "-m", "tests.chaos.app", self.scenario.name, self._broker.bootstrap_servers]
        self._app = subprocess.Popen(
            [*command, str(self._folder / "state"), self.guarantee, crash, self._master],
            stdout=self._log, stderr=self._log, start_new_session=True,
            env={**os.environ, "PENSTOCK_SNAPSHOT_SEGMENTS": SNAPSHOT_SEGMENTS},
        )  # fmt: skip

    def _kill_leftovers(self) -> None:
        """What a killed driver left: its JVM and workers end by themselves, but not before the next start."""
        if self._app is not None:
            try:
                os.killpg(self._app.pid, signal.SIGKILL)
            except ProcessLookupError:
                pass
            self._app.wait()

    def produce(self, records: list[Record]) -> None:
        """Send a part of the input."""
        for topic, key, value, timestamp in records:
            raw = None if key is None else key.encode()
            self._producer.produce(topic, value.encode(), raw, timestamp=timestamp)
        self._producer.flush()

    def disturb(self, kind: str) -> None:
        """Kill something."""
        assert self._app is not None
        if kind == "broker":
            self._broker.kill()
            time.sleep(self._chance.random())
            self._broker.restart()
        elif kind == "driver":
            kill(self._app.pid)
            self._app.wait()
        elif kind == "node":  # all that runs dies with what it kept; a new node has nothing but the checkpoint
            for pid in (self._app.pid, *below(self._app.pid)):
                kill(pid)
            self._app.wait()
            for local in local_state(str(self._folder / "state"), f"chaos-{self.scenario.name}"):
                shutil.rmtree(local)
        elif kind == "step":
            # Only a new start can carry the order to crash: the step is hit in the batches that follow. In every fourth or
            # so, as there are three tasks: an application that crashes in most of them does little else.
            kill(self._app.pid)
            self._app.wait()
            step = self._chance.choice([*STEPS, "any"])
            self.ensure_app(f"{step}:0.1")
            kind = f"step {step}"
        else:
            found = find(self._app.pid, kind)
            if not found:
                return
            kill(self._chance.choice(found))
        self.done.append(kind)

    def outputs(self) -> list[Output]:
        """What a read_committed reader sees."""
        settings = {"bootstrap.servers": self._broker.bootstrap_servers, "isolation.level": "read_committed"}
        consumer = open_range_consumer(settings)
        found: list[Output] = []
        ends = self._ends()
        for (topic, partition), end in ends.items():
            for messages in read_range(consumer, topic, partition, 0, end):
                found += [(m.key(), m.value(), m.timestamp()[1]) for m in messages]
        consumer.close()
        return found

    def _ends(self) -> dict[tuple[str, int], int]:
        """How far the output goes. A broker that was killed may have no leaders for a while after it is back."""
        until = time.monotonic() + BROKER_SECONDS
        while True:
            try:
                return self._admin.end_offsets([("out", p) for p in range(PARTITIONS)], committed=True)
            except KafkaClientError:
                if time.monotonic() > until:
                    raise
                time.sleep(0.1)

    def close(self) -> None:
        """Stop the application and everything below it."""
        if self._app is not None:
            children = list(below(self._app.pid))
            self._app.send_signal(signal.SIGTERM)
            try:
                self._app.wait(20)
            except subprocess.TimeoutExpired:
                kill(self._app.pid)
            self._kill_leftovers()
            for pid in children:
                kill(pid)
        self._log.close()


def play(round_: Round, records: list[Record], chance: random.Random, disturbances: int, patience: float) -> list[str]:
    """Feed, disturb, wait while something comes out; what is wrong at the end."""
    feed = list(parts(records, disturbances * 3 + 3))
    moments = sorted(chance.sample(range(1, len(feed)), disturbances))
    round_.ensure_app()
    for i, part in enumerate(feed):
        round_.produce(part)
        if i in moments:
            _wait_for_output(round_, chance)
            round_.disturb(chance.choice(round_.kinds))
            round_.ensure_app()
    deadline, wrong = time.monotonic() + patience, ["nothing was read"]
    calm, seen = False, -1
    while time.monotonic() < deadline:
        round_.ensure_app()
        outputs = round_.outputs()
        if len(outputs) != seen:  # an application that crashes in every other batch goes on, if slowly
            deadline, seen = time.monotonic() + patience, len(outputs)
        wrong = round_.scenario.verdict(records, outputs, round_.guarantee != "at_least_once")
        if not wrong:
            if calm:
                return []
            calm = True  # once more, so that a late duplicate is seen
        time.sleep(1.0)
    return wrong


def _wait_for_output(round_: Round, chance: random.Random) -> None:
    """Until something came out since the last time, then a random moment more: the batch after it is under way."""
    before, until = len(round_.outputs()), time.monotonic() + 40
    while len(round_.outputs()) == before and time.monotonic() < until:
        round_.ensure_app()
        time.sleep(0.1)
        if before:
            break
    time.sleep(chance.random() * 0.7)


def main() -> int:
    """Run the rounds; 1 if any went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=30)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--records", type=int, default=20_000)
    parser.add_argument("--disturbances", type=int, default=3)
    parser.add_argument("--guarantee", default="exactly_once_v2")
    parser.add_argument(
        "--patience", type=float, default=240, help="seconds without any output before it counts as wrong"
    )
    parser.add_argument("--only", default="")
    parser.add_argument("--master", default=LOCAL_MASTER, help="local-cluster[2,1,1024] has executors to kill, too")
    parser.add_argument("--kinds", default="", help="what to kill, as slot,executor; by default anything")
    options = parser.parse_args()
    print(f"seed {options.seed}, {options.guarantee}")
    failed, counted = 0, collections.Counter[str]()
    for number in range(options.rounds):
        chance = random.Random(f"{options.seed}-{number}")
        scenario = chance.choice([s for s in SCENARIOS if not options.only or s.name in options.only.split(",")])
        records = scenario.records(chance, options.records)
        begin = time.monotonic()
        with (
            LocalBroker() as broker,
            tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder,
            no_executor_folders_left(options.master),
        ):
            kinds = [kind for kind in options.kinds.split(",") if kind]
            round_ = Round(scenario, broker, Path(folder), options.guarantee, chance, options.master, kinds)
            try:
                wrong = play(round_, records, chance, options.disturbances, options.patience)
            finally:
                round_.close()
            if wrong:
                failed += 1
                log = Path(folder, "app.log").read_bytes()[-6000:].decode(errors="replace")
                print(f"FAILED {scenario.name}: {len(wrong)} wrong: {wrong[:5]}\n{log}")
        counted.update(round_.done)
        took = time.monotonic() - begin
        print(
            f"round {number + 1}: {scenario.name}, {len(records)} records, {', '.join(round_.done)}, "
            f"{round_.restarts} restarts, {'WRONG' if wrong else 'right'}, {took:.0f} s",
            flush=True,
        )
    print(f"disturbances: {dict(counted)}")
    print(f"{options.rounds - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
