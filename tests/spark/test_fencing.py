from __future__ import annotations

from collections.abc import Callable

import pytest

from penstock.broker import LocalBroker
from penstock.kafka.errors import TransactionError
from penstock.kafka.transactions import TransactionalProducer
from penstock.spark.fencing import fence
from penstock.spark.job import transactional_id

pytestmark = pytest.mark.broker


def test_slots_of_an_earlier_run_cannot_commit_any_more(broker: LocalBroker, topic: Callable[..., str]) -> None:
    settings = {"bootstrap.servers": broker.bootstrap_servers}
    name = topic()
    cut_off = [TransactionalProducer(settings, transactional_id(name, level, slot)) for level, slot in ((0, 1), (1, 0))]
    for producer in cut_off:
        producer.init()
        producer.begin()
        producer.produce(name, b"late", b"k")
    fence(settings, name, [2, 1])
    for producer in cut_off:
        with pytest.raises(TransactionError):
            producer.commit()
        producer.close()
