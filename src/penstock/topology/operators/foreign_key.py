"""The five steps of a foreign-key join of two tables.

left table  -> SubscriptionSend -> [topic keyed by foreign key] -> SubscriptionReceive -> SubscriptionJoin --+
right table -> ForeignTableJoin ------------------------------------------------------------------------------+
    -> [topic keyed by primary key, to the left partition] -> ResponseResolver -> result
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.functions import Function
from penstock.topology.operators.base import Edge, Operator
from penstock.topology.views import View


@dataclass(frozen=True, slots=True)
class SubscriptionSend(Operator):
    """Turns changes of the left table into subscriptions: records keyed by foreign key."""

    takes: ClassVar[Edge] = Edge.TABLE
    left_join: bool
    extractor: Function
    foreign_key_serde: Any
    primary_key_serde: Any
    value_serde: Any
    versioned: bool = False


@dataclass(frozen=True, slots=True)
class SubscriptionReceive(Operator):
    """Stores or removes a subscription and passes it on."""

    store: str
    foreign_key_serde: Any
    primary_key_serde: Any


@dataclass(frozen=True, slots=True)
class SubscriptionJoin(Operator):
    """Answers a new subscription with the current row of the right table."""

    right: View
    primary_key_serde: Any


@dataclass(frozen=True, slots=True)
class ForeignTableJoin(Operator):
    """Answers every subscription of a key of the right table when its row changes."""

    takes: ClassVar[Edge] = Edge.TABLE
    store: str
    foreign_key_serde: Any
    primary_key_serde: Any
    versioned: bool = False


@dataclass(frozen=True, slots=True)
class ResponseResolver(Operator):
    """Joins an answer with the current left row, unless that row changed since it asked."""

    left_join: bool
    left: View
    joiner: Function
    value_serde: Any
