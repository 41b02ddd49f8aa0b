"""Asking again while Kafka's leaders and coordinators are on the move, as after a restart of a broker."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TypeVar

from confluent_kafka import KafkaException

from penstock.kafka.clients import REACHABLE_SECONDS
from penstock.kafka.error_codes import MOVING, STALE_LEADER

T = TypeVar("T")
_AGAIN_SECONDS = 0.05


def patiently(ask: Callable[[], T], refresh: Callable[[], None] | None = None) -> T:
    """The answer to a question.

    Args:
        ask: Asks.
        refresh: Called when the client went by a leader of the past: it would go on with that.

    Raises:
        KafkaException: What is wrong does not pass, or does not within the time in which Kafka is to be reachable.
    """
    deadline = time.monotonic() + REACHABLE_SECONDS
    while True:
        try:
            return ask()
        except KafkaException as error:
            code = error.args[0].code()
            if code not in MOVING or time.monotonic() > deadline:
                raise
            time.sleep(_AGAIN_SECONDS)
            if refresh is not None and code in STALE_LEADER:
                refresh()
