"""Builders of the stores that only operators use: buffers of joins and suppress, subscriptions of foreign-key joins."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from penstock.state.builders import StoreBuilder
from penstock.state.store import StateStore, StoreEnvironment, key_serde, value_serde


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinBufferBuilder(StoreBuilder):
    """Unmatched records of a stream-stream join; `value_serde` is the left side's."""

    kind: ClassVar[str] = "join_buffer"
    other_value_serde: Any = None

    def build(self, environment: StoreEnvironment) -> StateStore:
        from penstock.state.join_buffer import JoinBuffer

        return JoinBuffer(
            self.name,
            environment,
            key_serde(environment, self.key_serde, self.name),
            value_serde(environment, self.value_serde, self.name),
            value_serde(environment, self.other_value_serde, self.name),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SuppressBufferBuilder(StoreBuilder):
    """Updates that a suppress holds back: one entry a key."""

    kind: ClassVar[str] = "suppress_buffer"

    def build(self, environment: StoreEnvironment) -> StateStore:
        from penstock.state.suppress_buffer import SuppressBuffer

        return SuppressBuffer(
            self.name,
            environment,
            key_serde(environment, self.key_serde, self.name),
            value_serde(environment, self.value_serde, self.name),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class GraceBufferBuilder(StoreBuilder):
    """Stream records that wait for the grace period of a stream-table join."""

    kind: ClassVar[str] = "grace_buffer"

    def build(self, environment: StoreEnvironment) -> StateStore:
        from penstock.state.grace_buffer import GraceBuffer

        return GraceBuffer(
            self.name,
            environment,
            key_serde(environment, self.key_serde, self.name),
            value_serde(environment, self.value_serde, self.name),
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class SubscriptionStoreBuilder(StoreBuilder):
    """Subscriptions of a foreign-key join, by foreign key and primary key. Works on bytes: needs no serdes."""

    kind: ClassVar[str] = "subscription"

    def build(self, environment: StoreEnvironment) -> StateStore:
        from penstock.state.subscription_store import SubscriptionStore

        return SubscriptionStore(self.name, environment)
