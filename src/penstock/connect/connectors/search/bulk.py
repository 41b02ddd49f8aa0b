"""Bulk requests: what they hold, what is sent again, and what the server refuses for good."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from enum import Enum
from typing import Any

from penstock.connect.connectors.search import keys
from penstock.connect.connectors.search.actions import Action
from penstock.connect.connectors.search.client import RETRIABLE, SearchClient, Unanswered, described, refused
from penstock.connect.errors import ConnectError

_CONFLICT = "version_conflict_engine_exception"
_MALFORMED = (
    "strict_dynamic_mapping_exception",
    "mapper_parsing_exception",
    "illegal_argument_exception",
    "action_request_validation_exception",
    "document_parsing_exception",
)


class Cause(Enum):
    """Why a document was refused."""

    MALFORMED = "malformed"  # something is wrong with it
    CONFLICT = "conflict"  # the server has it, or a newer one
    MISSING = "missing"  # the index is gone
    OTHER = "other"  # something is wrong with the server


@dataclass(frozen=True, slots=True)
class Refusal:
    """An action the server did not do and will not do."""

    action: Action
    cause: Cause
    reason: str


def bulks(actions: Sequence[Action], most: int, most_bytes: int) -> Iterator[list[Action]]:
    """Actions in requests of at most so many, and so many bytes (-1: any number)."""
    bulk: list[Action] = []
    size = 0
    for action in actions:
        length = len(action.lines)
        if bulk and (len(bulk) >= most or (most_bytes >= 0 and size + length > most_bytes)):
            yield bulk
            bulk, size = [], 0
        bulk.append(action)
        size += length
    if bulk:
        yield bulk


class BulkWriter:
    """Sends actions to the cluster, several requests at a time.

    Args:
        settings: The sink's settings.
        client: The cluster.
    """

    def __init__(self, settings: Mapping[str, Any], client: SearchClient) -> None:
        self._client = client
        self._most: int = settings[keys.BATCH_SIZE]
        self._most_bytes: int = settings[keys.BULK_BYTES]
        # Updates of a document have no version that would tell the server their order.
        in_turn = settings[keys.FLUSH_SYNCHRONOUSLY] or settings[keys.WRITE_METHOD].lower() == "upsert"
        self._pool = ThreadPoolExecutor(1 if in_turn else settings[keys.IN_FLIGHT], thread_name_prefix="search-sink")

    def write(self, actions: Sequence[Action]) -> list[Refusal]:
        """Write all; what the server refuses is returned, in the order of the actions.

        Raises:
            ConnectError: The server does not answer, or cannot serve.
        """
        deadline = self._client.deadline()
        running = [
            self._pool.submit(self._write, bulk, deadline) for bulk in bulks(actions, self._most, self._most_bytes)
        ]
        try:
            return [refusal for one in running for refusal in one.result()]
        finally:
            # After a failure the others must not write behind the back of a task that is given the records again.
            for one in running:
                one.cancel()
            for one in running:
                if not one.cancelled():
                    one.exception()

    def close(self) -> None:
        """End the threads."""
        self._pool.shutdown(cancel_futures=True)

    def _write(self, actions: list[Action], deadline: float) -> list[Refusal]:
        refusals: list[Refusal] = []
        attempts = self._client.attempts(f"Writing {len(actions)} documents ({_where(actions)})", deadline)
        while actions:
            try:
                answer = self._client.send("POST", "/_bulk", b"".join(one.lines for one in actions), lines=True)
            except Unanswered as error:
                attempts.wait(str(error))
                continue
            if answer.status in RETRIABLE:
                attempts.wait(f"{answer.url} answered {answer.status}: {answer.error[1]}")
                continue
            if answer.status in {400, 413}:
                # One action can make the server refuse all: halves find it, and also fit where a whole does not.
                if len(actions) > 1:
                    middle = len(actions) // 2
                    halves = [self._write(half, deadline) for half in (actions[:middle], actions[middle:])]
                    return [*refusals, *halves[0], *halves[1]]
                return [*refusals, Refusal(actions[0], Cause.MALFORMED, f"{answer.status} {answer.error[1]}")]
            if answer.status != 200:
                raise refused(answer, f"Writing {len(actions)} documents ({_where(actions)})")
            actions, reason = _sort_out(actions, answer.body, refusals)
            if actions:
                attempts.wait(f"{answer.url} answered for {len(actions)} of them: {reason}")
        return refusals


def _sort_out(actions: list[Action], body: Any, refusals: list[Refusal]) -> tuple[list[Action], str]:
    """The actions to send again, and why; what is refused for good is added to `refusals`."""
    if not body.get("errors", True):
        return [], ""
    items = [next(iter(item.values())) for item in body["items"]]
    if len(items) != len(actions):
        raise ConnectError(f"The server answered for {len(items)} documents of {len(actions)}.")
    again: list[Action] = []
    late: set[tuple[str, str | None]] = set()
    why = ""
    for action, item in zip(actions, items, strict=True):
        at = (action.resource, action.id)
        if at in late and not action.once:
            # It came in before an older one that comes again now.
            again.append(action)
            continue
        error = item.get("error")
        if error is None:
            continue
        kind, reason = described(error)
        status = item.get("status", 500)
        if status in RETRIABLE or (kind == _CONFLICT and not action.once):
            again.append(action)
            late.add(at)
            why = why or reason
        else:
            refusals.append(Refusal(action, _cause(kind, reason), reason))
    return again, why


def _cause(kind: str, reason: str) -> Cause:
    if kind == _CONFLICT:
        return Cause.CONFLICT
    if kind == "index_not_found_exception":
        return Cause.MISSING
    return Cause.MALFORMED if any(name in reason for name in _MALFORMED) else Cause.OTHER


def _where(actions: Sequence[Action]) -> str:
    first, last = actions[0].record, actions[-1].record
    if (first.topic, first.partition) == (last.topic, last.partition):
        return f"{first.topic}-{first.partition}, offsets {first.offset} to {last.offset}"
    return f"{first.topic}-{first.partition}, offset {first.offset}, to {last.topic}-{last.partition}, offset {last.offset}"
