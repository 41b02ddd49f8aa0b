"""Records that come again, and how to tell them from those of another topic of the same name.

After a kill Kafka gives records that are in files already: they are left out. A topic that was deleted and made again gives
other records under the same offsets: leaving those out would lose them. So a log keeps marks of two records.
"""

from __future__ import annotations

import hashlib
import logging
from collections.abc import Sequence
from typing import NamedTuple

from penstock.connect.api import TopicPartition
from penstock.connect.data import SinkRecord
from penstock.connect.errors import ConnectError

log = logging.getLogger("penstock.connect")

_RESET = (
    "Stop the connector, reset its offsets (DELETE /connectors/{name}/offsets), and resume it. Files of the same name are "
    "replaced then, unless topics.dir is another folder."
)


class Mark(NamedTuple):
    """What is remembered of a record.

    Attributes:
        offset: Its offset.
        time: Its timestamp.
        digest: A hash of its key and value.
    """

    offset: int
    time: int | None
    digest: str

    @staticmethod
    def of(record: SinkRecord) -> Mark:
        """The mark of a record."""
        assert record.original_offset is not None
        text = repr((record.key, record.value)).encode("utf-8", "surrogatepass")
        return Mark(record.original_offset, record.timestamp, hashlib.blake2b(text, digest_size=16).hexdigest())

    def is_other(self, found: Mark) -> bool:
        """Whether that is another record for certain: transforms may change the value or the time, but hardly both."""
        return found.time != self.time and found.digest != self.digest


class Reached(NamedTuple):
    """What a store has of a partition.

    Attributes:
        end: The offset behind it.
        marks: Of the first record and of the last one, where a log knows them.
    """

    end: int = 0
    marks: Sequence[Mark] = ()


class Replay:
    """Looks at the records of a partition that are left out.

    Args:
        at: The partition.
        reached: What the store had when the task began.
    """

    def __init__(self, at: TopicPartition, reached: Reached) -> None:
        self._at = at
        self._end = reached.end
        self._known = {mark.offset: mark for mark in reached.marks}
        self._first = reached.marks[0] if reached.marks else None
        self._is_told = False

    def look(self, records: Sequence[SinkRecord]) -> None:
        """Look at records that are not written, or not all of them, as they are in files.

        Raises:
            ConnectError: One of them is another than the one that was written.
        """
        begin = _offset(records[0])
        if begin >= self._end:
            return  # the task itself has them in hand
        is_sure = self._first is not None and begin >= self._first.offset
        for record in records:
            known = self._known.get(_offset(record))
            if known is None:
                continue
            found = Mark.of(record)
            if known.is_other(found):
                raise ConnectError(
                    f"The record at offset {found.offset} of {self._at.topic}-{self._at.partition} is another than the one "
                    "that is in files: the topic was deleted and made again",
                    hint=_RESET,
                )
            is_sure = is_sure and known == found
        if not self._is_told:
            self._is_told = True
            self._tell(begin, is_sure=is_sure)

    def _tell(self, begin: int, *, is_sure: bool) -> None:
        topic, partition = self._at
        log.log(
            logging.INFO if is_sure else logging.WARNING,
            "%d offsets of %s-%d (%d to %d) are in files already, and left out%s",
            self._end - begin, topic, partition, begin, self._end - 1,
            "" if is_sure else f". If the topic was deleted and made again: {_RESET}",
        )  # fmt: skip

    def marks(self, last: SinkRecord) -> list[Mark]:
        """What a log keeps when everything up to a record is in files."""
        end = Mark.of(last)
        return [self._first or end, end]

    def begin(self, record: SinkRecord) -> None:
        """A record is written; the first one of all is kept in mind."""
        if self._first is None:
            self._first = Mark.of(record)


def _offset(record: SinkRecord) -> int:
    assert record.original_offset is not None
    return record.original_offset
