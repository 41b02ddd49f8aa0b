"""Keys and values to bytes and back. Imports nothing of penstock but errors, records and durations."""

from penstock.serde.factories import Serdes
from penstock.serde.names import register_serde, resolve_serde
from penstock.serde.serde import Serde
from penstock.serde.windowed import WindowedSerdes

__all__ = ["Serde", "Serdes", "WindowedSerdes", "register_serde", "resolve_serde"]
