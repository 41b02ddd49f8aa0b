"""Records of a source that Kafka does not take: found out when they are sent, left out when the batch is sent again.

The client tells of some at once, of others when the broker has answered. By then others of the batch are on their way, and a
transaction with a refused record can only be rolled back. A batch gives the same records each time, so it is sent again, and
those known to be refused are skipped or fail the task before they are sent. A broker refuses all records of a request for the
sake of one; where it cannot be told which one it is, those that may be are sent alone the next time.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from confluent_kafka import KafkaError

from penstock.connect.errors import ConnectError
from penstock.kafka.error_codes import BESIDE_REFUSED, TOO_LARGE, UNKNOWN_PARTITION
from penstock.kafka.errors import KafkaClientError, RefusedRecord, TopicMissing
from penstock.kafka.record_size import batch_bytes

Identity = tuple[str, "bytes | None", "bytes | None"]


class RecordsRefused(Exception):
    """Some records of a batch were refused; it has to be sent again without them."""

    def __init__(self, records: Sequence[RefusedRecord]) -> None:
        self.records = records
        super().__init__(f"{len(records)} records were refused")


class Refusals:
    """What is known to be refused of one batch.

    Args:
        limit: The largest record batch that a topic takes, in bytes, if that is known.
    """

    def __init__(self, limit: Callable[[str], int | None]) -> None:
        self._limit = limit
        self._known: dict[Identity, KafkaClientError] = {}
        self._suspects: set[Identity] = set()

    def add(self, refused: Sequence[RefusedRecord]) -> None:
        """Remember records that were refused.

        Raises:
            ConnectError: There is nothing new among them, so that sending the batch again would not help.
        """
        before = len(self._known), len(self._suspects)
        blamed = [one for one in refused if self._is_to_blame(one)]
        if not blamed:
            sent_alone = [one for one in refused if len(refused) == 1 or one.identity in self._suspects]
            blamed = sent_alone
            if not sent_alone:
                self._suspects.update(one.identity for one in refused)
        self._known.update({one.identity: self._error(one) for one in blamed})
        if (len(self._known), len(self._suspects)) == before:
            first = refused[0]
            raise ConnectError(
                f"Kafka refuses records for {first.topic}-{first.partition}, also without those it refused before: "
                f"{first.reason}",
                hint=f"See `penstock topics describe {first.topic}`.",
            )

    def _is_to_blame(self, one: RefusedRecord) -> bool:
        """Whether it is to be seen that others were refused for the sake of this one."""
        if one.code == TOO_LARGE:
            limit = self._limit(one.topic)
            return limit is not None and _bytes(one) > limit
        if one.code == KafkaError.INVALID_RECORD:
            return one.key is None  # a compacted topic wants keys
        return one.code not in {KafkaError.INVALID_TIMESTAMP, BESIDE_REFUSED}

    def is_suspect(self, topic: str, key: bytes | None, value: bytes | None) -> bool:
        """Whether a record has to be sent alone, to find out whether it is the one that is refused."""
        return bool(self._suspects) and (topic, key, value) in self._suspects

    def find(
        self, topic: str, key: bytes | None, value: bytes | None, partition: int | None = None
    ) -> KafkaClientError | None:
        """Why a record is refused; None if it is not known to be."""
        if not self._known:
            return None
        found = self._known.get((topic, key, value))
        if isinstance(found, TopicMissing) and partition != found.partition:
            return None  # the same record for a partition that exists
        return found

    def _error(self, refused: RefusedRecord) -> KafkaClientError:
        topic, code = refused.topic, refused.code
        if code == UNKNOWN_PARTITION:
            return TopicMissing(topic, partition=refused.partition)
        if code == TOO_LARGE:
            return KafkaClientError(
                f"A record for {topic} is larger than the topic takes: {_bytes(refused)} bytes without its headers",
                hint=f"Raise max.message.bytes of {topic}, which is {self._limit(topic) or 'as the broker has it'}.",
            )
        hint = "A compacted topic takes only records with a key." if code == KafkaError.INVALID_RECORD else ""
        return KafkaClientError(f"Kafka refused a record for {topic}: {refused.reason}", hint=hint)


def _bytes(record: RefusedRecord) -> int:
    """Its size without headers: the client does not say which ones a refused record had."""
    return batch_bytes(record.key, record.value)
