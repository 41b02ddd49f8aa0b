"""Converters: bytes of Kafka records <-> Connect data."""

from penstock.connect.converters.converter import Converter, HeaderConverter
from penstock.connect.converters.registry import (
    CONVERTERS,
    HEADER_CONVERTERS,
    configured_converter,
    configured_header_converter,
)

__all__ = [
    "CONVERTERS",
    "HEADER_CONVERTERS",
    "Converter",
    "HeaderConverter",
    "configured_converter",
    "configured_header_converter",
]
