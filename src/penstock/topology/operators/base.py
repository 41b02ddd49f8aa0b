"""What every operator specification has in common."""

from __future__ import annotations

from enum import Enum
from typing import ClassVar


class Edge(Enum):
    """What travels along an edge of the topology."""

    STREAM = "stream"  # (key, value, timestamp)
    TABLE = "table"  # (key, new, old, timestamp, is_latest)


class Operator:
    """The immutable specification of what a processor node does.

    A specification holds functions, store names and settings, never running state; `penstock.interpreter` has one
    builder for each class below this one and turns a specification into code.
    """

    __slots__ = ()
    takes: ClassVar[Edge] = Edge.STREAM
    gives: ClassVar[Edge] = Edge.STREAM
