"""The five steps of a foreign-key join of two tables.

The left side subscribes its rows to the foreign keys they name; the right side keeps the subscriptions and answers each
one, now and whenever the right row changes; the left side joins an answer with its row, unless the row has changed
since it asked: an answer carries the hash of the value that asked for it.
"""

from __future__ import annotations

import operator as python_operator
import struct
from collections.abc import Callable
from typing import Any

from penstock.interpreter.compiler import NodeContext, Process, builds
from penstock.serde import Serde
from penstock.topology.foreign_key_serdes import Instruction, Response, Subscription, value_hash
from penstock.topology.operators import (
    ForeignTableJoin,
    ResponseResolver,
    SubscriptionJoin,
    SubscriptionReceive,
    SubscriptionSend,
)

_UNSUBSCRIBE = int(Instruction.DELETE_KEY_NO_PROPAGATE)
_UNSUBSCRIBE_AND_ANSWER = int(Instruction.DELETE_KEY_AND_PROPAGATE)
_ANSWER_ALWAYS = int(Instruction.PROPAGATE_NULL_IF_NO_FK_VAL_AVAILABLE)
_ANSWER_IF_FOUND = int(Instruction.PROPAGATE_ONLY_IF_FK_VAL_AVAILABLE)

_UNSUBSCRIBES = frozenset({_UNSUBSCRIBE, _UNSUBSCRIBE_AND_ANSWER})

_PARTITION = struct.Struct(">i")  # a kept subscription is the left partition, then the hash of the left value

Hash = Callable[[Any], "bytes | None"]


@builds(SubscriptionSend)
def subscription_send(operator: SubscriptionSend, node: NodeContext) -> Process:
    """Turn changes of the left table into subscriptions."""
    build = _send_for_left_join if operator.left_join else _send_for_inner_join
    process = build(operator, node, _hash(operator.value_serde, node), _foreign_keys_differ(operator, node))
    if not operator.versioned:
        return process
    return _only_latest(process, node)


def _send_for_left_join(
    operator: SubscriptionSend, node: NodeContext, hash_of: Hash, differ: Callable[[Any, Any], bool]
) -> Process:
    """Every change gets an answer, so that every change gives a result; a null foreign key is answered too."""
    extract, forward, partition = operator.extractor.bind("key", "value"), node.forward, _partition(node)

    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        if new is None and old is None:
            return
        old_foreign = None if old is None else extract(key, old)
        new_foreign = None if new is None else extract(key, new)
        new_hash = hash_of(new)
        if old_foreign is not None and (new_foreign is None or differ(new_foreign, old_foreign)):
            forward(old_foreign, Subscription(_UNSUBSCRIBE, new_hash, key, partition), timestamp)
        forward(new_foreign, Subscription(_ANSWER_ALWAYS, new_hash, key, partition), timestamp)

    return process


def _send_for_inner_join(
    operator: SubscriptionSend, node: NodeContext, hash_of: Hash, differ: Callable[[Any, Any], bool]
) -> Process:
    """Null answers are asked for where a result may have to be taken back: nobody knows whether there was one."""
    extract, forward, partition = operator.extractor.bind("key", "value"), node.forward, _partition(node)
    drop = node.drop("null foreign key")

    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        old_foreign = None if old is None else extract(key, old)
        new_foreign = None if new is None else extract(key, new)
        new_hash = hash_of(new)
        if new_foreign is None:
            if new is not None:
                drop()
            if old_foreign is not None:
                forward(old_foreign, Subscription(_UNSUBSCRIBE_AND_ANSWER, new_hash, key, partition), timestamp)
        elif old_foreign is not None and differ(new_foreign, old_foreign):
            forward(old_foreign, Subscription(_UNSUBSCRIBE, new_hash, key, partition), timestamp)
            forward(new_foreign, Subscription(_ANSWER_ALWAYS, new_hash, key, partition), timestamp)
        else:
            forward(new_foreign, Subscription(_ANSWER_IF_FOUND, new_hash, key, partition), timestamp)

    return process


def _partition(node: NodeContext) -> int:
    """The left partition, which is the task's own: also while a cache flushes and no record is being processed."""
    return int(node.context.task_id.rpartition("_")[2])


def _hash(serde: Any, node: NodeContext) -> Hash:
    """Hash of a value's bytes. Both ends must hash alike, so the serde is given the same topic name by both."""
    encode = node.value_serde(serde).encoder(f"{node.config.application_id}-foreign-key-join-value-hash")
    return lambda value: None if value is None else value_hash(encode(value))


def _foreign_keys_differ(operator: SubscriptionSend, node: NodeContext) -> Callable[[Any, Any], bool]:
    """Foreign keys are compared as bytes; where equal keys have equal bytes, the keys themselves will do."""
    serde = node.key_serde(operator.foreign_key_serde)
    if serde.key_identity:
        return python_operator.ne
    encode = serde.encoder(f"{node.config.application_id}-{node.name}-foreign-key")
    return lambda one, other: bool(encode(one) != encode(other))


def _only_latest(process: Process, node: NodeContext) -> Process:
    """A version that is not the latest changes no current row, so it changes no join."""
    drop = node.drop("not the latest version in a foreign-key join")

    def latest(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        if is_latest:
            process(key, new, old, timestamp, is_latest)
        else:
            drop()

    return latest


@builds(SubscriptionReceive)
def subscription_receive(operator: SubscriptionReceive, node: NodeContext) -> Process:
    """Keep or remove the subscription, and pass it on."""
    put, forward = node.store(operator.store).put, node.forward
    foreign, primary = _key_serdes(operator, node)
    encode_foreign, encode_primary = foreign.encoder(_topic(operator, node)), primary.encoder(_topic(operator, node))
    pack, drop = _PARTITION.pack, node.drop("null foreign key")

    def process(key: Any, subscription: Subscription, timestamp: int) -> None:
        instruction, left_hash, primary_key, partition = subscription
        if key is None:
            # A left join asks for an answer without a right row; there is nothing to subscribe to.
            if instruction != _ANSWER_ALWAYS:
                drop()
                return
        else:
            row = None if instruction in _UNSUBSCRIBES else pack(partition) + (left_hash or b"")
            put(encode_foreign(key), encode_primary(primary_key), row, timestamp)
        forward(key, subscription, timestamp)

    return process


def _key_serdes(operator: SubscriptionReceive | ForeignTableJoin, node: NodeContext) -> tuple[Serde[Any], Serde[Any]]:
    return node.key_serde(operator.foreign_key_serde), node.key_serde(operator.primary_key_serde)


def _topic(operator: SubscriptionReceive | ForeignTableJoin, node: NodeContext) -> str:
    """The topic name given to the serdes of the subscription store's keys, the same for all who use it."""
    return f"{node.config.application_id}-{operator.store}-changelog"


@builds(SubscriptionJoin)
def subscription_join(operator: SubscriptionJoin, node: NodeContext) -> Process:
    """Answer a subscription with the right row of that moment.

    A change that still waits in the right side's cache is answered when it goes on. It may never go on: a row that comes and
    goes between two flushes does not, and an answer with it would never be taken back.
    """
    get, forward = node.view(operator.right, forwarded=True).get, node.forward

    def process(key: Any, subscription: Subscription, timestamp: int) -> None:
        instruction, left_hash, primary_key, partition = subscription
        if instruction == _UNSUBSCRIBE:
            return
        right, right_timestamp = (None if key is None else get(key)) or (None, -1)
        if right is None:
            if instruction == _ANSWER_IF_FOUND:
                return
        elif right_timestamp > timestamp:
            timestamp = right_timestamp
        if instruction == _UNSUBSCRIBE_AND_ANSWER:
            right = None
        forward(primary_key, Response(left_hash, right, partition), timestamp)

    return process


@builds(ForeignTableJoin)
def foreign_table_join(operator: ForeignTableJoin, node: NodeContext) -> Process:
    """Answer all subscriptions of a right row that changed, in the order of their primary keys' bytes."""
    subscribers, forward = node.store(operator.store).subscribers, node.forward
    foreign, primary = _key_serdes(operator, node)
    encode_foreign, decode_primary = foreign.encoder(_topic(operator, node)), primary.decoder(_topic(operator, node))
    unpack, size = _PARTITION.unpack_from, _PARTITION.size

    def process(key: Any, new: Any, old: Any, timestamp: int, is_latest: Any) -> None:
        for primary_key, (row, _) in subscribers(encode_foreign(key)):
            response = Response(row[size:] or None, new, unpack(row)[0])
            forward(decode_primary(primary_key), response, timestamp)

    return _only_latest(process, node) if operator.versioned else process


@builds(ResponseResolver)
def response_resolver(operator: ResponseResolver, node: NodeContext) -> Process:
    """Join an answer with the left row, if that is still the one that asked."""
    get, forward, left_join = node.view(operator.left).get, node.forward, operator.left_join
    hash_of, join = _hash(operator.value_serde, node), operator.joiner.bind("key", "left", "right")
    drop = node.drop("answer to an earlier left row of a foreign-key join")

    def process(key: Any, response: Response, timestamp: int) -> None:
        left_hash, right, _ = response
        row = get(key)
        left = None if row is None else row[0]
        if hash_of(left) != left_hash:
            drop()
        elif right is None and (left is None or not left_join):
            forward(key, None, timestamp)
        else:
            forward(key, join(key, left, right), timestamp)

    return process
