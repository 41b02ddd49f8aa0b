"""Records that brokers do not take: which of those that were sent together are to blame.

A broker refuses a batch of records for the sake of one of them, and the client does not say of which. What a broker refuses
follows from the settings of the topic, so these are asked. Where they explain nothing (a topic's settings may be secret, the
clocks may differ), every record is sent in a batch of its own the next time.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Iterable, Mapping, Sequence

from confluent_kafka import KafkaError

from penstock.kafka.error_codes import BESIDE_REFUSED, TOO_LARGE, UNKNOWN_PARTITION
from penstock.kafka.errors import RecordRefused, RefusedRecord
from penstock.kafka.record_size import batch_bytes
from penstock.spark.tasks.outgoing import Outgoing

TopicSettings = Mapping[str, str]

BATCH_BYTES, BATCH_RECORDS = "batch.size", "batch.num.messages"


class Refusals:
    """Finds the records of a slot's batch that are refused.

    Args:
        topic_settings: Gives the settings that count for a topic; none of them if they cannot be had.
        compressed: Whether batches are compressed: then a broker sees another size than that of the records.

    Attributes:
        narrowed: Settings of the producer that have to change before records are sent again.
    """

    def __init__(self, topic_settings: Callable[[str], TopicSettings], *, compressed: bool) -> None:
        self._ask = topic_settings
        self._compressed = compressed
        self._settings: dict[str, TopicSettings] = {}
        self.narrowed: dict[str, int] = {}

    def blame(
        self, reported: Sequence[RefusedRecord], sent: Iterable[Outgoing]
    ) -> list[tuple[Outgoing, RecordRefused]]:
        """The records that are to blame, also those that the broker did not get to see yet. None of them: `narrowed`
        has changed, and sending again tells more.

        Args:
            reported: What was refused, the innocent among them.
            sent: Everything that was sent, but for what was blamed before.

        Raises:
            RecordRefused: It cannot be found out which record is to blame.
        """
        before = dict(self.narrowed)
        alone = BATCH_RECORDS in before
        suspects = [one for one in reported if one.code != BESIDE_REFUSED]
        why = {(one.topic, one.code): one for one in reversed(suspects)}
        known = {one.identity for one in suspects}
        found = []
        for record in sent:
            topic, value, key = record[:3]
            for (refused_topic, _), one in why.items():
                if topic != refused_topic:
                    continue
                is_reported = (topic, key, value) in known
                if (alone and is_reported) or self._is_to_blame(record, one, is_reported=is_reported):
                    found.append((record, self._error(record, one)))
                    break
        for one in why.values():
            if one.code == TOO_LARGE:
                self._narrow(one.topic)
        if not found and self.narrowed == before:
            if alone:
                raise RecordRefused(reported[0].topic, reported[0].key, reported[0].reason)
            self.narrowed[BATCH_RECORDS] = 1
        return found

    def _is_to_blame(self, record: Outgoing, one: RefusedRecord, *, is_reported: bool) -> bool:
        topic, value, key, partition, _, _, timestamp, headers = record
        settings = self._of(topic)
        if one.code == TOO_LARGE:
            limit = self._limit(topic)
            if limit is None or batch_bytes(key, value, headers) <= limit:
                return False
            # Compressed it may be small enough, unless it was refused where it was the only one of its batch.
            return not self._compressed or (is_reported and self.narrowed.get(BATCH_BYTES, limit + 1) <= limit)
        if one.code == KafkaError.INVALID_RECORD:
            return key is None and "compact" in settings.get("cleanup.policy", "compact")
        if one.code == KafkaError.INVALID_TIMESTAMP:
            ahead = timestamp - time.time_ns() // 1_000_000
            after, back = (settings.get(f"message.timestamp.{side}.max.ms") for side in ("after", "before"))
            return (after is not None and ahead > int(after)) or (back is not None and -ahead > int(back))
        if one.code == UNKNOWN_PARTITION:
            return partition == one.partition
        return True  # the topic itself is to blame

    def _of(self, topic: str) -> TopicSettings:
        if topic not in self._settings:
            self._settings[topic] = self._ask(topic)
        return self._settings[topic]

    def _limit(self, topic: str) -> int | None:
        limit = self._of(topic).get("max.message.bytes")
        return None if limit is None else int(limit)

    def _narrow(self, topic: str) -> None:
        """A topic may take less than the client puts into a batch: that none of its records is too large helps nobody."""
        limit = self._limit(topic)
        if limit is not None:
            self.narrowed[BATCH_BYTES] = min(limit, self.narrowed.get(BATCH_BYTES, limit))

    def _error(self, record: Outgoing, one: RefusedRecord) -> RecordRefused:
        topic, value, key, *_, headers = record
        if one.code != TOO_LARGE:
            return RecordRefused(topic, key, one.reason)
        limit = self._limit(topic)
        return RecordRefused(
            topic,
            key,
            f"{one.reason}, {batch_bytes(key, value, headers)} bytes",
            hint=f"Raise max.message.bytes of {topic}{'' if limit is None else f', which is {limit}'}.",
        )
