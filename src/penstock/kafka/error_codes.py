# ruff: noqa: SLF001
"""The error codes penstock tells apart, grouped by what they mean.

The client library's own codes, as opposed to the broker's, start with an underscore.
"""

from __future__ import annotations

from confluent_kafka import KafkaError

ALL_BROKERS_DOWN = KafkaError._ALL_BROKERS_DOWN
OFFSET_RESET = KafkaError._AUTO_OFFSET_RESET
PARTITION_EOF = KafkaError._PARTITION_EOF
FATAL = KafkaError._FATAL
STATE = KafkaError._STATE
TIMED_OUT = KafkaError._TIMED_OUT
UNKNOWN_PARTITION = KafkaError._UNKNOWN_PARTITION

TOO_LARGE = KafkaError.MSG_SIZE_TOO_LARGE

# The record itself is to blame: sending it again gives the same answer, while others get through.
RECORD_REFUSED = frozenset(
    {
        TOO_LARGE,
        UNKNOWN_PARTITION,
        KafkaError.INVALID_RECORD,
        KafkaError.INVALID_TIMESTAMP,
        KafkaError.TOPIC_EXCEPTION,
    }
)
# Another record of its batch is to blame, says the broker: sent without that one, it gets through.
BESIDE_REFUSED = KafkaError._INVALID_DIFFERENT_RECORD
DENIED = frozenset(
    {
        KafkaError._AUTHENTICATION,
        KafkaError._SSL,
        KafkaError.SASL_AUTHENTICATION_FAILED,
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.TRANSACTIONAL_ID_AUTHORIZATION_FAILED,
    }
)
UNREACHABLE = frozenset(
    {
        KafkaError._TRANSPORT,
        KafkaError._ALL_BROKERS_DOWN,
        KafkaError._RESOLVE,
        KafkaError._TIMED_OUT,
    }
)
UNKNOWN_TOPIC = frozenset(
    {
        KafkaError._UNKNOWN_TOPIC,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError.UNKNOWN_TOPIC_ID,
    }
)
# What the client knows of a partition's leader is from before its last election.
STALE_LEADER = frozenset(
    {
        KafkaError.NOT_LEADER_FOR_PARTITION,
        KafkaError.UNKNOWN_LEADER_EPOCH,
        KafkaError.FENCED_LEADER_EPOCH,
    }
)
# A partition or a coordinator that was created, or moved, a moment ago.
MOVING = STALE_LEADER | frozenset(
    {
        KafkaError.LEADER_NOT_AVAILABLE,
        KafkaError.UNKNOWN_TOPIC_OR_PART,
        KafkaError._NOENT,
        KafkaError.COORDINATOR_LOAD_IN_PROGRESS,
        KafkaError.COORDINATOR_NOT_AVAILABLE,
        KafkaError.NOT_COORDINATOR,
        KafkaError.UNSTABLE_OFFSET_COMMIT,
    }
)
FENCED = frozenset(
    {
        KafkaError._FENCED,
        KafkaError.PRODUCER_FENCED,
        KafkaError.INVALID_PRODUCER_EPOCH,
    }
)
