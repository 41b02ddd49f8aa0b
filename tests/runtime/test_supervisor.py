"""What depends on time: a clock of the test's own."""

from __future__ import annotations

import math

import pytest

from penstock.kafka.errors import BrokerUnreachable
from penstock.runtime.states import Lifecycle, StreamsState
from penstock.runtime.supervisor import Patience, Supervisor, is_transient
from tests.runtime.scripted_host import Failed, ScriptedHost


class Clock:
    now = 0.0

    def __call__(self) -> float:
        return self.now


def supervised(clock: Clock, patience: Patience, check_seconds: float = 0) -> tuple[Supervisor, ScriptedHost]:
    host, life = ScriptedHost(), Lifecycle("app")
    life.begin()
    supervisor = Supervisor(
        host,
        life,
        application_id="app",
        release=host.close,
        patience=patience,
        check_seconds=check_seconds,
        clock=clock,
    )
    supervisor.POLL_SECONDS = 0.001
    assert supervisor._start_query()
    life.move(StreamsState.RUNNING)
    return supervisor, host


AWAY = Failed("away", transient=True)


def test_waits_double_up_to_the_longest() -> None:
    supervisor, _ = supervised(Clock(), Patience(first_wait=0.5, longest_wait=3))
    assert [supervisor._wait_before_restart(AWAY) for _ in range(5)] == [0.5, 1.0, 2.0, 3.0, 3.0]


def test_transient_failures_have_until_the_timeout_and_the_last_wait_ends_there() -> None:
    clock = Clock()
    supervisor, _ = supervised(clock, Patience(transient_ms=10_000, first_wait=4, longest_wait=30))
    assert supervisor._wait_before_restart(AWAY) == 4
    clock.now = 4
    assert supervisor._wait_before_restart(AWAY) == 6
    clock.now = 10
    assert supervisor._wait_before_restart(AWAY) is None


def test_a_query_that_is_idle_long_enough_has_recovered_even_without_data() -> None:
    clock = Clock()
    supervisor, _ = supervised(clock, Patience(transient_ms=10_000, first_wait=1, healthy_after=60))
    supervisor._wait_before_restart(AWAY)
    clock.now = 59
    supervisor._step()
    assert supervisor._wait_before_restart(AWAY) is None
    clock.now = 60
    supervisor._step()
    assert supervisor._wait_before_restart(AWAY) == 1


def test_time_with_a_batch_at_work_is_no_recovery() -> None:
    clock = Clock()
    supervisor, host = supervised(clock, Patience(transient_ms=10_000, first_wait=1, healthy_after=60))
    query = host.next_query()
    supervisor._wait_before_restart(AWAY)
    # At work for an hour, between two times of rest that are together not long enough.
    for clock.now, query.idle in (50.0, True), (3000.0, False), (3600.0, False), (3609.0, True):
        supervisor._step()
    assert supervisor._wait_before_restart(AWAY) is None
    clock.now = 3610
    supervisor._step()
    assert supervisor._wait_before_restart(AWAY) == 1


@pytest.mark.parametrize("seconds", [30.0, 70.0, 3600.0])
@pytest.mark.parametrize(("transient", "starts"), [(False, 11), (True, None)])
def test_a_batch_that_fails_each_time_ends_it_however_long_it_takes(
    seconds: float, transient: bool, starts: int | None
) -> None:
    clock = Clock()
    supervisor, host = supervised(clock, Patience(first_wait=0.001, longest_wait=0.001))
    supervisor.uncaught = lambda error: "REPLACE_THREAD" if not transient else None
    started = 0
    while started < 100:
        query = host.next_query()
        started += 1
        query.idle = False
        for _ in range(10):  # a look every now and then, while it is at work
            clock.now += seconds / 10
            assert supervisor._step()
        query.happen(Failed("the same batch", transient=transient))
        if not supervisor._step():
            break
    # Once for each attempt after the first start; or until the first failure is five minutes old.
    assert started == (starts or 1 + math.ceil(300 / seconds))
    assert supervisor._life.state is StreamsState.ERROR


def test_the_host_is_tended_and_the_topics_looked_at_every_few_seconds() -> None:
    clock = Clock()
    supervisor, host = supervised(clock, Patience(), check_seconds=8)
    host.changed.set()
    for clock.now in (4.9, 5, 7.9):
        supervisor._step()
    assert (host.tended, host.queries.qsize()) == (1, 1)
    clock.now = 8
    supervisor._step()
    assert host.queries.qsize() == 2
    assert supervisor.restarts == 1


def test_a_host_that_cannot_be_tended_only_warns(caplog: pytest.LogCaptureFixture) -> None:
    clock = Clock()
    supervisor, host = supervised(clock, Patience())
    host.tend = lambda: (_ for _ in ()).throw(OSError("disk full"))  # type: ignore[method-assign]
    clock.now = 5
    assert supervisor._step()
    assert caplog.messages == ["app: disk full"]


def test_what_is_transient() -> None:
    assert is_transient(BrokerUnreachable("h:1"))
    assert is_transient(AWAY)
    assert not is_transient(Failed("x"))
    assert not is_transient(ValueError("x"))
