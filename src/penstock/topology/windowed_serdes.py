"""Serdes of windowed keys around an inner serde that may be known only when the topology runs."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, NoReturn

from penstock.durations import MAX_LONG
from penstock.errors import SerdeError
from penstock.records import Windowed
from penstock.serde.serde import CodecSerde, Serde
from penstock.serde.windowed import SessionWindowedSerde, TimeWindowedSerde
from penstock.windows import SessionWindows, SlidingWindows, TimeWindows, Windows


def windowed_serde(inner: Serde[Any] | None, windows: Windows) -> Serde[Windowed[Any]]:
    """The serde of the keys of a table aggregated by these windows."""
    if inner is None:
        return DefaultWindowedSerde(windows)
    if isinstance(windows, SessionWindows):
        return SessionWindowedSerde(inner)
    return TimeWindowedSerde(inner, _size(windows))


def _size(windows: Windows) -> int:
    if isinstance(windows, TimeWindows):
        return windows.size
    return windows.difference if isinstance(windows, SlidingWindows) else MAX_LONG


@dataclass(frozen=True, slots=True)
class DefaultWindowedSerde(CodecSerde[Windowed[Any]]):
    """Stands for the windowed serde around the configured default of keys; `with_defaults` gives the real one."""

    windows: Windows

    def with_defaults(self, key_serde: Any, value_serde: Any) -> Serde[Windowed[Any]]:
        """The serde around the default one for keys."""
        return self if key_serde is None else windowed_serde(key_serde, self.windows)

    def encoder(self, topic: str) -> Callable[[Windowed[Any] | None], bytes | None]:
        """Refused: there is no inner serde."""
        self._refuse(topic)

    def decoder(self, topic: str) -> Callable[[bytes | None], Windowed[Any] | None]:
        """Refused: there is no inner serde."""
        self._refuse(topic)

    def _refuse(self, topic: str) -> NoReturn:
        raise SerdeError(
            f"the windowed keys of topic {topic} have no serde and there is no default",
            hint='Give the aggregation key_serde="string" (or another), or set default.key.serde.',
        )
