"""What a checkpoint remembers of its application, so that a changed one is noticed before it harms its state."""

from __future__ import annotations

import uuid
from collections.abc import Mapping, Sequence
from dataclasses import asdict, dataclass, field, replace

from penstock.errors import TopologyError
from penstock.state.builders import StoreBuilder
from penstock.state.disk.checkpoint_files import read_json, write_json
from penstock.topology.topology import Topology

FILE = "application.json"
OVERRIDE = "penstock.topology.changed"


@dataclass(frozen=True, slots=True)
class Remembered:
    """The parts of an application that its state depends on.

    Attributes:
        stores: Each store's sub-topology.
        internal_topics: Number of partitions of each repartition topic: state is spread by it, so it never changes.
        slots: How many slots of each level write in transactions; none without them.
        history: Names the life of the checkpoint, which ends with a reset.
        kinds: The kind of each store that there is or was.
        sources: The topics of Kafka that each sub-topology reads, by its number.
    """

    stores: dict[str, int]
    internal_topics: dict[str, int]
    slots: list[int] = field(default_factory=list)
    history: str = field(default_factory=lambda: uuid.uuid4().hex)
    kinds: dict[str, str] = field(default_factory=dict)
    sources: dict[str, list[str]] = field(default_factory=dict)


def remember(
    topology: Topology, partitions: Mapping[str, int], *, slots: Sequence[int] = (), before: Remembered | None = None
) -> Remembered:
    """What is to be remembered of a topology.

    Args:
        topology: The topology.
        partitions: Partition counts of its topics.
        slots: How many slots of each level write in transactions.
        before: What was remembered until now, if it is not a new checkpoint.
    """
    stores = {store: part.id for part in topology.subtopologies() for store in part.stores}
    builders = [topology.stores[store] for store in stores]
    kinds = {b.name: _kind(b) for b in builders if b.kind != "custom"}  # those leave no rows
    topics = {name: partitions[name] for name in topology.internal_topics}
    sources = {
        str(part.id): sorted({*part.source_topics, *part.source_patterns} - topology.internal_topics.keys())
        for part in topology.subtopologies()
    }
    now = Remembered(stores, topics, list(slots), kinds=kinds, sources=sources)
    # The rows of a store that is gone are kept, and so is what they are.
    return now if before is None else replace(now, history=before.history, kinds={**before.kinds, **kinds})


def _kind(builder: StoreBuilder) -> str:
    """What the rows of a store look like."""
    parts = [builder.kind.replace("_", " ")]
    if getattr(builder, "retain_duplicates", False):
        parts.append("with duplicates")
    if getattr(builder, "on_close", False):
        parts.append("emitted when closed")
    return " ".join(parts)


def recall(checkpoint: str) -> Remembered | None:
    """What a checkpoint remembers; None for a new one."""
    kept = read_json(checkpoint, FILE)
    return None if kept is None else Remembered(**kept)


def write(checkpoint: str, remembered: Remembered) -> None:
    """Keep it."""
    write_json(checkpoint, FILE, asdict(remembered))


def check_kinds(before: Remembered, now: Remembered, checkpoint: str) -> None:
    """Refuse a store that would read rows of another kind of store.

    Raises:
        TopologyError: There is one; the text lists all of them.
    """
    other = [
        f"{store} ({before.kinds[store]} before, {kind} now)"
        for store, kind in sorted(now.kinds.items())
        if before.kinds.get(store, kind) != kind
    ]
    if other:
        raise TopologyError(
            f"the state in {checkpoint} has stores of these names, but of another kind: {', '.join(other)}",
            hint="Give the store another name, under which it starts empty, or use a new application.id.",
        )


def check_numbers(before: Remembered, now: Remembered, checkpoint: str) -> None:
    """Refuse other sub-topologies under the numbers of those that are in the middle of a batch.

    Kafka knows by number which of them have committed it: another one would be taken to have done so, too.

    Raises:
        TopologyError: There are such numbers.
    """
    other = [
        f"{number} (read {', '.join(topics) or 'no topic'} before, reads {', '.join(now.sources[number]) or 'none'} now)"
        for number, topics in sorted(before.sources.items())
        if number in now.sources and topics != now.sources[number] and not {*topics} & {*now.sources[number]}
    ]
    if other:
        raise TopologyError(
            f"the last batch in {checkpoint} was cut off, and sub-topologies have other numbers now: {'; '.join(other)}",
            hint="Let the application finish the batch with its earlier streams (functions may be mended), then change "
            "them. Or add new streams behind the others.",
        )


def check_unchanged(before: Remembered, now: Remembered, checkpoint: str) -> None:
    """Refuse a topology whose state would be lost or mixed up.

    Raises:
        TopologyError: Stores are gone, new or elsewhere; the text lists them.
    """
    orphaned = sorted(set(before.stores) - set(now.stores))
    new = sorted(set(now.stores) - set(before.stores))
    moved = sorted(s for s in set(before.stores) & set(now.stores) if before.stores[s] != now.stores[s])
    if not (orphaned or new or moved):
        return
    parts = [
        f"{what}: {', '.join(names)}"
        for what, names in (("orphaned stores", orphaned), ("new stores", new), ("stores in another task", moved))
        if names
    ]
    raise TopologyError(
        f"the topology does not fit the state in {checkpoint} ({'; '.join(parts)})",
        hint='Give stores names of their own (name="...") so that they survive edits; set '
        f'{OVERRIDE}="allow" to go on (new stores start empty, orphaned ones are kept in case their names come back), '
        "or use a new application.id.",
    )
