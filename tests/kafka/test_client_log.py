from __future__ import annotations

import logging

from penstock.kafka.client_log import REPEAT_SECONDS, NotRepeated


def line(text: str) -> logging.LogRecord:
    return logging.LogRecord("x", logging.WARNING, "f", 1, text, None, None)


def test_a_complaint_passes_once_a_minute_whatever_its_timings() -> None:
    now = [0.0]
    quiet = NotRepeated(clock=lambda: now[0])
    first = "FAIL [penstock#producer-1] [thrd:a:1/bootstrap]: refused (after 0ms in state CONNECT)"
    again = "FAIL [penstock#producer-2] [thrd:a:1/bootstrap]: refused (after 12ms in state CONNECT)"
    assert quiet.filter(line(first))
    assert not quiet.filter(line(again))
    assert quiet.filter(line("FAIL [penstock#producer-1]: another broker"))
    now[0] += REPEAT_SECONDS
    assert quiet.filter(line(again))


def test_the_memory_of_complaints_is_bounded() -> None:
    quiet = NotRepeated()
    assert all(quiet.filter(line(f"complaint {chr(65 + i % 26)}{'x' * i}")) for i in range(1_500))
    assert len(quiet._passed) <= 1_000
