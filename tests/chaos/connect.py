"""`python -m tests.chaos.connect --rounds 10`: file -> topic -> file while the worker is killed; every line once."""

from __future__ import annotations

import argparse
import collections
import os
import random
import signal
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from penstock.broker import LocalBroker
from penstock.kafka.admin import Admin
from tests.chaos.processes import kill

PARTITIONS = 3
KINDS = ("worker", "task", "jvm")


class Round:
    """One worker, its files, and what is done to it.

    Args:
        broker: The Kafka of the round.
        folder: Where everything of it is: files, state, sockets.
        lines: How many.
        topic: The topic's name; one of the folder's if it is not given.
    """

    def __init__(self, broker: LocalBroker, folder: Path, lines: int, topic: str = "") -> None:
        self._broker = broker
        self._folder = folder
        self.lines = lines
        self.given, self.written = folder / "in.txt", folder / "out.txt"
        self._log = (folder / "worker.log").open("wb")
        self._worker: subprocess.Popen[bytes] | None = None
        self.starts = 0
        self.topic = topic or f"lines-{folder.name}"
        Admin({"bootstrap.servers": broker.bootstrap_servers}).create_topic(self.topic, partitions=PARTITIONS)

    def ensure_worker(self) -> None:
        """Start the worker if it does not run."""
        if self._worker is not None and self._worker.poll() is None:
            return
        self.starts += 1
        self._worker = subprocess.Popen(
            self.command(), stdout=self._log, stderr=self._log, env={**os.environ, "TMPDIR": str(self._folder)}
        )

    def command(self) -> list[str]:
        """What runs the worker."""
        files = [str(self._folder / "state"), str(self.given), str(self.written), self.topic]
        return [sys.executable, "-m", "tests.chaos.connect_app", self._broker.bootstrap_servers, *files]

    def processes(self) -> dict[int, str]:
        """All processes of the round, known by the temporary folder they were started with: what they run."""
        mark = f"TMPDIR={self._folder}\0".encode()
        found: dict[int, str] = {}
        for entry in Path("/proc").iterdir():
            if entry.name.isdigit():
                try:
                    if mark in (entry / "environ").read_bytes() + b"\0":
                        found[int(entry.name)] = (entry / "cmdline").read_bytes().replace(b"\0", b" ").decode()
                except OSError:
                    continue
        return found

    def disturb(self, kind: str) -> str | None:
        """Kill something; None if there was nothing of that kind."""
        assert self._worker is not None
        if kind == "worker":
            kill(self._worker.pid)
            self._worker.wait()
            return kind
        mark = "org.apache.spark" if kind == "jvm" else "penstock.spark.worker_daemon"
        found = [pid for pid, line in self.processes().items() if mark in line]
        if not found:
            return None
        kill(random.choice(found))
        return kind

    def count(self) -> int:
        """Lines that are written."""
        return self.written.read_bytes().count(b"\n") if self.written.exists() else 0

    def wrong(self) -> list[str]:
        """What is wrong with the lines."""
        seen = collections.Counter(self.written.read_text().splitlines())
        wanted = {line(number) for number in range(self.lines)}
        missing, more = wanted - seen.keys(), {text for text, count in seen.items() if count > 1 or text not in wanted}
        return [f"{len(missing)} missing: {sorted(missing)[:3]}"] * bool(missing) + [
            f"{len(more)} twice or unknown: {sorted(more)[:3]}"
        ] * bool(more)

    def close(self) -> None:
        """End everything of the round."""
        if self._worker is not None:
            self._worker.send_signal(signal.SIGTERM)
            try:
                self._worker.wait(30)
            except subprocess.TimeoutExpired:
                kill(self._worker.pid)
                self._worker.wait()
        for pid in self.processes():
            kill(pid)
        self._log.close()


def line(number: int) -> str:
    """A line of the input."""
    return f"line {number:08d} {'x' * (number % 40)}"


def play(round_: Round, chance: random.Random, kills: int, patience: float) -> tuple[list[str], list[str]]:
    """Feed, kill, wait: what was killed, and what is wrong at the end."""
    done: list[str] = []
    parts = kills * 3 + 2
    moments = set(chance.sample(range(1, parts), kills))
    with round_.given.open("w") as file:
        for part in range(parts):
            for number in range(round_.lines * part // parts, round_.lines * (part + 1) // parts):
                file.write(line(number) + "\n")
            file.flush()
            round_.ensure_worker()
            if part in moments:
                wait_for_more(round_, chance)
                done += [killed for killed in [round_.disturb(chance.choice(KINDS))] if killed]
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline and round_.count() < round_.lines:
        round_.ensure_worker()
        time.sleep(0.5)
    time.sleep(2)  # a line that comes twice would come now
    return done, round_.wrong()


def wait_for_more(round_: Round, chance: random.Random) -> None:
    """Until lines come out, then a random moment more: something is under way."""
    before, until = round_.count(), time.monotonic() + 60
    while round_.count() == before and time.monotonic() < until:
        round_.ensure_worker()
        time.sleep(0.02)
    time.sleep(chance.random() * 0.5)


def main() -> int:
    """Run the rounds; 1 if any went wrong."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=10)
    parser.add_argument("--lines", type=int, default=200_000)
    parser.add_argument("--kills", type=int, default=4)
    parser.add_argument("--seed", type=int, default=int(time.time()))
    parser.add_argument("--patience", type=float, default=180)
    options = parser.parse_args()
    print(f"seed {options.seed}")
    failed = 0
    with LocalBroker() as broker:
        for number in range(options.rounds):
            chance = random.Random(f"{options.seed}-{number}")
            begin = time.monotonic()
            with tempfile.TemporaryDirectory(ignore_cleanup_errors=True) as folder:
                round_ = Round(broker, Path(folder), options.lines)
                try:
                    done, wrong = play(round_, chance, options.kills, options.patience)
                finally:
                    round_.close()
                if wrong:
                    failed += 1
                    print(Path(folder, "worker.log").read_bytes()[-6000:].decode(errors="replace"))
            print(
                f"round {number + 1}: {options.lines} lines, killed {', '.join(done) or 'nothing'}, {round_.starts} starts, "
                f"{'; '.join(wrong) or 'every line once'}, {time.monotonic() - begin:.0f} s",
                flush=True,
            )
    print(f"{options.rounds - failed} passed, {failed} failed")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
