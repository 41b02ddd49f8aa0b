"""A JVM that dies under an application: what PySpark then raises, and a session in a new one."""

from __future__ import annotations

import subprocess
import sys
import threading
from collections.abc import Callable
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest
from py4j.protocol import Py4JNetworkError
from pyspark import SparkContext

from penstock.spark import running, warm_up
from penstock.spark.lost_jvm import SessionJvm
from penstock.spark.running import RunningQuery

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

REFUSED = ConnectionRefusedError(111, "Connection refused")


class DeadQuery:
    """A query whose JVM is gone."""

    def __init__(self, error: Exception) -> None:
        self._error = error

    def __getattr__(self, name: str) -> Any:
        raise self._error


class TestQuery:
    """A RunningQuery over a query of the test's own."""

    @pytest.fixture
    def stopped(self, monkeypatch: pytest.MonkeyPatch) -> list[str]:
        """Runs whose slots were stopped."""
        stopped: list[str] = []
        monkeypatch.setattr(running, "stop_slots", stopped.append)
        monkeypatch.setattr(running, "publish_last", lambda job: None)
        return stopped

    @pytest.fixture
    def over(self, monkeypatch: pytest.MonkeyPatch, stopped: list[str]) -> Callable[[Any], RunningQuery]:
        def made(query: Any, *, paused: bool = False) -> RunningQuery:
            monkeypatch.setattr(running, "start_query", lambda *_, **__: query)
            job: Any = SimpleNamespace(run="r1")
            return RunningQuery(None, job, interval_ms=100, paused=paused)  # type: ignore[arg-type]

        return made

    @pytest.mark.parametrize("error", [REFUSED, Py4JNetworkError("Answer from Java side is empty")])
    def test_without_a_jvm(self, over: Any, stopped: list[str], error: Exception) -> None:
        query = over(DeadQuery(error))
        ended = query.poll(0.1)
        assert (ended.failure.kind, ended.failure.__cause__) == ("ConnectionLost", error)
        assert query.new_batches() == []
        assert not query.idle
        query.stop()
        assert stopped == ["r1"]

    def test_slots_end_though_the_last_offsets_cannot_be_published(
        self, over: Any, stopped: list[str], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        def fail(job: Any) -> None:
            raise OSError("disk")

        monkeypatch.setattr(running, "publish_last", fail)
        with pytest.raises(OSError, match="disk"):
            over(DeadQuery(REFUSED)).stop()
        assert stopped == ["r1"]

    @pytest.mark.parametrize(
        ("last", "at_work", "active", "idle"),
        [
            (None, False, True, False),  # it has not begun
            (None, True, True, False),
            ({"batchId": 3}, True, True, False),
            ({"batchId": 3}, False, False, False),  # it has failed
            ({"batchId": 3}, False, True, True),
        ],
    )
    def test_what_is_idle(self, over: Any, last: Any, at_work: bool, active: bool, idle: bool) -> None:
        query = SimpleNamespace(lastProgress=last, status={"isTriggerActive": at_work}, isActive=active)
        assert over(query).idle is idle

    def test_a_paused_one_is_idle(self, over: Any) -> None:
        assert over(None, paused=True).idle

    @pytest.mark.spark
    @pytest.mark.slow
    def test_with_spark(self, over: Any, spark: SparkSession, tmp_path: Path) -> None:
        at_work, may_end = threading.Event(), threading.Event()

        def work(batch: Any, number: int) -> None:
            at_work.set()
            may_end.wait(60)

        (tmp_path / "in").mkdir()
        rows = spark.readStream.text(str(tmp_path / "in"))
        writer = rows.writeStream.foreachBatch(work).option("checkpointLocation", str(tmp_path / "checkpoint"))
        query = over(writer.trigger(processingTime="100 milliseconds").start())
        assert _share(lambda: query.idle) > 0.2
        (tmp_path / "in" / "one.txt").write_text("a")
        assert at_work.wait(60)
        assert _share(lambda: query.idle) == 0
        may_end.set()
        assert _share(lambda: query.idle) > 0.2
        query.stop()


def _share(is_so: Callable[[], bool]) -> float:
    """How often it is so, within some seconds."""
    pause = threading.Event()
    found = []
    for _ in range(100):
        found.append(is_so())
        pause.wait(0.05)
    return sum(found) / len(found)


# ---------------------------------------------------------------------- the session


class Jvm:
    """A JVM that says whether it has ended."""

    def __init__(self, *, ended: bool = False, dies: bool = False) -> None:
        self.has_ended = ended
        self._dies = dies
        self.forgotten = 0

    def ended_by(self, error: BaseException) -> bool:
        self.has_ended = self._dies
        return self.has_ended

    def forget(self) -> None:
        self.forgotten += 1


class Session:
    def __init__(self, error: Exception | None = None) -> None:
        self._error = error
        self.stopped = 0

    def stop(self) -> None:
        self.stopped += 1
        if self._error is not None:
            raise self._error


def shared(session: Any, jvm: Any, users: int = 1) -> warm_up._Shared:
    made = warm_up._Shared(session, jvm)
    made.users = users
    return made


def test_the_last_user_stops_the_session() -> None:
    session, jvm = Session(), Jvm()
    both = shared(session, jvm, users=2)
    both.leave()
    assert session.stopped == 0
    both.leave()
    assert (session.stopped, jvm.forgotten) == (1, 0)


@pytest.mark.parametrize("error", [REFUSED, Py4JNetworkError("Answer from Java side is empty")])
def test_a_jvm_that_turns_out_to_be_gone_is_forgotten(error: Exception) -> None:
    jvm = Jvm(dies=True)
    shared(Session(error), jvm).leave()
    assert jvm.forgotten == 1


def test_a_session_that_nobody_gives_back_is_stopped_at_the_end_of_the_program(monkeypatch: pytest.MonkeyPatch) -> None:
    at_exit: list[Any] = []
    monkeypatch.setattr("atexit.register", at_exit.append)
    monkeypatch.setattr("atexit.unregister", at_exit.remove)
    session = Session()
    shared(session, Jvm())
    at_exit[0]()
    assert (session.stopped, at_exit) == (1, [])
    shared(session, Jvm()).leave()
    assert (session.stopped, at_exit) == (2, [])


def test_a_jvm_that_is_gone_is_forgotten_by_the_first_that_leaves() -> None:
    session, jvm = Session(), Jvm(ended=True)
    shared(session, jvm, users=2).leave()
    assert (session.stopped, jvm.forgotten) == (0, 1)


def test_a_session_that_cannot_be_stopped_is_told(caplog: pytest.LogCaptureFixture) -> None:
    shared(Session(REFUSED), Jvm()).leave()
    assert caplog.messages == ["Spark's session could not be stopped: [Errno 111] Connection refused"]


def test_what_pyspark_has_of_another_jvm_stays(monkeypatch: pytest.MonkeyPatch) -> None:
    lost, other, context = SimpleNamespace(), SimpleNamespace(), object()
    monkeypatch.setattr(SparkContext, "_gateway", lost)
    jvm = SessionJvm(SimpleNamespace(sparkContext=None))  # type: ignore[arg-type]
    monkeypatch.setattr(SparkContext, "_gateway", other)
    monkeypatch.setattr(SparkContext, "_active_spark_context", context)
    jvm.forget()
    assert (SparkContext._gateway, SparkContext._active_spark_context) == (other, context)


PROGRAM = """
import os, signal
from pyspark import SparkContext
from penstock.spark.warm_up import start_warm_up

def kill():
    process = SparkContext._gateway.proc
    os.kill(process.pid, signal.SIGKILL)
    return process

first, second = start_warm_up(), start_warm_up()
assert first.wait() is second.wait()
kill().wait()
first.close()
third = start_warm_up()
print(third.wait().range(3).count())
second.close()  # of the session that is gone: the new one stays
print(third.wait().range(4).count())
kill()
third.close()  # while it dies
fourth = start_warm_up()
print(fourth.wait().range(5).count())
fourth.close()
"""


@pytest.mark.spark
@pytest.mark.slow
def test_sessions_of_a_process_whose_jvm_is_killed() -> None:
    done = subprocess.run([sys.executable, "-c", PROGRAM], capture_output=True, text=True, timeout=400, check=False)
    assert done.stdout.split() == ["3", "4", "5"], done.stderr
