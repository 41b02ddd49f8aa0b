"""Ending what slots of an earlier run may still be writing."""

from __future__ import annotations

import logging
from collections.abc import Sequence

from penstock.kafka.settings import Settings
from penstock.kafka.transactions import TransactionalProducer
from penstock.spark.job import transactional_id

log = logging.getLogger("penstock.output")


def fence(settings: Settings, application_id: str, slots: Sequence[int]) -> None:
    """Take the transactional ids of slots over, so that none of them can commit any more.

    A slot takes its own id over before its first batch. Where there are other numbers of slots than before, tasks are in
    other slots, under other ids: one that was cut off, and lives, could commit after its task's next slot has looked.

    Args:
        settings: The producer's.
        application_id: The application.
        slots: How many slots each level had.
    """
    log.info("%s has other slots than before: the earlier ones are fenced", application_id)
    for level, count in enumerate(slots):
        for slot in range(count):
            producer = TransactionalProducer(settings, transactional_id(application_id, level, slot))
            try:
                producer.init()
            finally:
                producer.close()
