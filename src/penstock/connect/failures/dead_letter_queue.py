"""Dead letters: records that could not be handled, as they were, with what happened in their headers."""

from __future__ import annotations

import json
import traceback
from collections.abc import Callable

from penstock.connect.config.secrets import NO_SECRETS, Secrets
from penstock.connect.data import SourceRecord
from penstock.connect.errors import java_class_name
from penstock.connect.failures.letter_text import header_text, json_text
from penstock.connect.failures.report import ConsumedRecord, EncodedRecord, Failure
from penstock.connect.failures.settings import ErrorSettings
from penstock.errors import PenstockError
from penstock.handlers import DeadLetter
from penstock.kafka.errors import RecordTooLarge
from penstock.records import Headers

PREFIX = "__connect.errors."
_LONGEST = 2000  # characters of a text in a letter that has to be short


class DeadLetterQueue:
    """Sends records that failed to a topic: the bytes they came in from Kafka or were to be sent as. A source record that
    has none yet is sent as JSON.

    Args:
        connector: Name of the connector.
        task: Number of the task.
        settings: The topic, and whether headers say what happened.
        send: Sends one record; the worker flushes before it commits offsets.
        secrets: What must not be in headers: who reads the topic is not always who may see the settings.
    """

    def __init__(
        self,
        connector: str,
        task: int,
        settings: ErrorSettings,
        send: Callable[[DeadLetter], None],
        *,
        secrets: Secrets = NO_SECRETS,
    ) -> None:
        self._connector = connector
        self._task = task
        self._settings = settings
        self._send = send
        self._secrets = secrets
        self.sent = 0

    def report(self, failure: Failure) -> None:
        """Sends the record of a failure; failures without a record leave no letter."""
        record = failure.record
        if not self._settings.dead_letter_topic or record is None:
            return
        try:
            self._send(self.letter(record, failure))
        except RecordTooLarge:
            self._send(self._short_letter(record, failure))
        self.sent += 1

    def letter(self, record: ConsumedRecord | SourceRecord, failure: Failure) -> DeadLetter:
        """The record to send: key, value, headers and timestamp are those of the original."""
        encoded = _encoded(record, failure)
        headers = encoded.headers
        if self._settings.dead_letter_headers:
            headers = Headers((*headers, *self._headers(record, failure)))
        return self._letter(record, encoded.key, encoded.value, headers)

    def _short_letter(self, record: ConsumedRecord | SourceRecord, failure: Failure) -> DeadLetter:
        """What can be kept of a record that is too large for a letter: where it is from, and what happened."""
        encoded = _encoded(record, failure)
        size = len(encoded.key or b"") + len(encoded.value or b"")
        headers = [(name, text and text[:_LONGEST]) for name, text in self._headers(record, failure)]
        left_out = f"key and value of {size} bytes are left out: too large for a letter"
        return self._letter(record, None, None, Headers((*headers, (f"{PREFIX}left.out", left_out.encode()))))

    def _letter(
        self, record: ConsumedRecord | SourceRecord, key: bytes | None, value: bytes | None, headers: Headers
    ) -> DeadLetter:
        timestamp = record.timestamp if record.timestamp is not None else -1
        return DeadLetter(
            topic=self._settings.dead_letter_topic, key=key, value=value, timestamp=timestamp, headers=headers
        )

    def _headers(self, record: ConsumedRecord | SourceRecord, failure: Failure) -> list[tuple[str, bytes | None]]:
        error = failure.error
        context = {
            **(_consumed_from(record) if isinstance(record, ConsumedRecord) else _read_from(record)),
            "connector.name": self._connector,
            "task.id": str(self._task),
            "stage": failure.stage.value,
            "class.name": failure.executing_class,
            "exception.class.name": java_class_name(error),
            "exception.message": self._secrets.redact(
                error.message if isinstance(error, PenstockError) else str(error)
            ),
            "exception.stacktrace": self._secrets.redact("".join(traceback.format_exception(error))),
        }
        return [(PREFIX + name, text.encode()) for name, text in context.items()]


def _consumed_from(record: ConsumedRecord) -> dict[str, str]:
    return {"topic": record.topic, "partition": str(record.partition), "offset": str(record.offset)}


def _read_from(record: SourceRecord) -> dict[str, str]:
    """Of a source: the topic it was for, and where in the source it was. The names are ours, Kafka has no such letters."""
    found = {
        "topic": record.topic or "",
        "source.partition": json.dumps(record.source_partition, default=str),
        "source.offset": json.dumps(record.source_offset, default=str),
    }
    return found if record.partition is None else {**found, "partition": str(record.partition)}


def _encoded(record: ConsumedRecord | SourceRecord, failure: Failure) -> EncodedRecord:
    if isinstance(record, ConsumedRecord):
        return EncodedRecord(record.key, record.value, record.headers)
    if failure.encoded is not None:
        return failure.encoded
    return EncodedRecord(
        json_text(record.key_schema, record.key),
        json_text(record.value_schema, record.value),
        Headers((header.key, header_text(header)) for header in record.headers),
    )
