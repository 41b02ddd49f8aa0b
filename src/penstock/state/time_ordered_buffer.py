"""What the two buffers ordered by time share: serdes, and the smallest time they hold."""

from __future__ import annotations

from typing import Any

from penstock.durations import MAX_LONG
from penstock.errors import ProcessorStateError
from penstock.serde import Serde
from penstock.state.ordered_bytes import unpack_long
from penstock.state.store import StateStore, StoreEnvironment


class TimeOrderedBuffer(StateStore):
    """Entries that wait for a time.

    Attributes:
        min_time: Time of the oldest entry; the largest number there is if the buffer is empty.
    """

    def __init__(
        self,
        name: str,
        environment: StoreEnvironment,
        key_serde: Serde[Any],
        value_serde: Serde[Any],
        *,
        times: bytes,
        times_end: bytes | None,
    ) -> None:
        StateStore.__init__(self, name)
        topic = environment.changelog_topic(name)
        self.key_serde = key_serde
        self.value_serde = value_serde
        self._context = environment.context
        self._rows = environment.bytes_store(name)
        self._encode_key = key_serde.encoder(topic)
        self._decode_key = key_serde.decoder(topic)
        self._encode = value_serde.encoder(topic)
        self._decode = value_serde.decoder(topic)
        # Where the keys of the bytes store that start with a time begin and end
        self._times = times
        self._times_end = times_end
        self.min_time = self._oldest_time()

    def raw_key(self, key: Any) -> bytes:
        """The serialised key; None is refused."""
        raw = self._encode_key(key)
        if raw is None:
            raise ProcessorStateError(f"a record without a key was put into the buffer {self.name}")
        return raw

    def _oldest_time(self) -> int:
        oldest = self._rows.first(self._times, self._times_end)
        return MAX_LONG if oldest is None else int(unpack_long(oldest[0], len(self._times))[0])
