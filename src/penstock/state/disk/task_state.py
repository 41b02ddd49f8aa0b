"""The state of one task: LMDB at the version a batch starts from, changes in memory, segments as the truth.

A batch never changes LMDB. Its changes are written to a segment, and go into LMDB when the next batch begins: then Spark
has committed the batch, so LMDB only ever holds what is final, and a replayed batch finds exactly the state it started
from. That needs no undo, and costs the same writes.

    segments   0 1 2 3 4 5 6 7        in the checkpoint, one for each batch (and pass) that changed something
    snapshot       ^ 2                a copy of LMDB from time to time; older segments are removed
    LMDB                   ^ 6        on the node's disk; behind after a move to another node: catches up

"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from itertools import compress, takewhile
from pathlib import Path
from typing import Any

import lmdb

from penstock.errors import ProcessorStateError
from penstock.state.disk.environments import META, adopt, boot_id, discard, environment, write
from penstock.state.disk.layered import Changes, LayeredBytesStore
from penstock.state.disk.lmdb_keys import MAX_KEY, stored_key, stored_value
from penstock.state.disk.segments import NONE, Segment, SegmentFolder
from penstock.state.disk.snapshots import Snapshots

log = logging.getLogger("penstock.state")

_SAVED = b"saved:"
# Rows that one transaction of LMDB changes. It holds each page that it changes in memory, and the process keeps that memory for
# the next one: 100 MB with 50,000 random keys, 16 MB with 4,000. As keys are sorted, a part of them is in a part of the pages,
# so many small transactions cost no more time than a large one, and leave a smaller file.
TRANSACTION_ROWS = 4_000


class TaskState:
    """LMDB, segments and the changes of the batch in hand, for one task in one process.

    Args:
        local: Folder of the LMDB environment.
        checkpoint: Folder of the segments (path or URI).
        begins_anew: State that is gone from the checkpoint begins empty, instead of being missed.
    """

    def __init__(self, local: Path, checkpoint: str, *, begins_anew: bool = False) -> None:
        self._local = local
        self._begins_anew = begins_anew
        self._folder = SegmentFolder(checkpoint)
        self._stores: dict[str, LayeredBytesStore] = {}
        self._txn: Any = None
        self._last = NONE  # the segment before the one to be written
        self._unapplied: list[tuple[Segment, dict[str, Changes]]] = []  # what this process wrote and LMDB does not have
        self._written: Segment | None = None  # by the pass in hand
        self._snapshots = Snapshots(local, self._folder)
        self._ran: int | None = None  # the last pass that this process finished
        self._version = NONE  # the segment that LMDB is at
        self._replaces = False  # another attempt of the pass in hand has published a segment
        self.metadata: dict[str, int] = {}

    def store(self, name: str) -> LayeredBytesStore:
        """The bytes of a store, as of the batch in hand."""
        if name not in self._stores:
            store = self._stores[name] = LayeredBytesStore(name)
            self._attach(store)
        return self._stores[name]

    def begin(self, batch_sequence: int, sequence: int, last_sequence: int) -> bool:
        """Bring the state to the start of a pass.

        Args:
            batch_sequence: Number of the batch's first pass: all segments before it are final.
            sequence: Number of this pass.
            last_sequence: Number of the last pass of the batch before.

        Returns:
            True if this process made the segment before this one and nothing intervened: what it has in memory holds.
        """
        with self._doing("opened"):
            return self._begin(batch_sequence, sequence, last_sequence)

    def _begin(self, batch_sequence: int, sequence: int, last_sequence: int) -> bool:
        self.end()  # an attempt that failed late may have left its transaction open
        self._written, self._replaces = None, False
        previous = last_sequence if sequence == batch_sequence else sequence - 1
        continued = self._apply_own(batch_sequence, sequence, previous)
        if not continued:
            self._unapplied = []
            self._catch_up(batch_sequence, sequence)
        self._snapshots.take_if_due(self._version)
        env = environment(self._local)
        self._txn = env.begin()
        _check_version(self._txn, env, self._version)
        for store in self._stores.values():
            store.begin()
            self._attach(store)
        if continued:
            for _, stores in self._unapplied:
                for name, changes in stores.items():
                    self.store(name).earlier.update(changes)
        elif sequence > batch_sequence:
            self._load_earlier(batch_sequence, sequence)
        return continued

    @contextmanager
    def _doing(self, what: str) -> Iterator[None]:
        try:
            yield
        except (OSError, lmdb.Error) as error:
            raise ProcessorStateError(
                f"the state of task {self._local.name} cannot be {what}: {type(error).__name__}: {error}",
                hint=f"Look at the disks of {self._local.parent} and {self._folder.location}: are they there, writable, and not "
                "full? No state is lost; the next start does the batch again.",
            ) from error

    def _apply_own(self, before: int, sequence: int, previous: int) -> bool:
        """Put what this process changed in earlier batches into LMDB, if LMDB is where that starts from.

        Args:
            before: Number of the batch's first pass: what is older is final.
            sequence: Number of this pass.
            previous: Number of the pass before this one.
        """
        # Another process may have run a pass in between. If this one ran the very last, none did; else look. A pass that
        # is done again starts from where it did before, not from what it left in memory.
        if self._ran is None or self._ran >= sequence or (self._ran != previous and self._newer(sequence)):
            return False
        self._version = self._stamp(b"version")
        while self._unapplied and self._unapplied[0][0].sequence < before:
            segment, changes = self._unapplied.pop(0)
            if self._version == segment.previous:
                self._write(segment, changes)
            elif self._version != segment.sequence:
                return False
        # What is in memory lies over the version that it was made on: others may have added to that, or taken LMDB back.
        return self._version == (self._unapplied[0][0].previous if self._unapplied else self._last)

    def _newer(self, before: int) -> bool:
        """Whether others changed something after what this process changed last. Their segments may be in a snapshot by now."""
        segments, snapshots = self._folder.sequences()
        if self._last != NONE and not segments and not snapshots:
            return True  # that cannot be: look more closely
        return any(self._last < s < before for s in (*segments, *snapshots))

    def _catch_up(self, before: int, sequence: int) -> None:
        for tries_left in (2, 1, 0):
            try:
                self._catch_up_once(before, sequence)
                return
            except FileNotFoundError:
                # Whoever had the task before took a snapshot this moment, and removed what is in it.
                if not tries_left:
                    raise

    def _catch_up_once(self, before: int, sequence: int) -> None:
        sizes, snapshots = self._folder.listing(certain=True)
        self._replaces = sequence in sizes
        segments = [s for s in sizes if s < before]
        newest = max((s for s in snapshots if s < before), default=NONE)
        if newest == NONE and snapshots:
            raise ProcessorStateError(
                f"the state of {self._local.name} before pass {before} is gone: the oldest snapshot is {snapshots[0]}",
                hint="If another process has the task now, it goes on. If not, the folders query and state of the checkpoint are of "
                "different times: restore both from one backup.",
            )
        self._version = self._stamp(b"version")
        if self._version != NONE and not sizes and not snapshots and not self._begins_anew:
            raise ProcessorStateError(
                f"the state of {self._local.name} is gone: {self._folder.location} is empty, and was not when this node had it",
                hint="Restore the folders query and state of the checkpoint from one backup. Or set penstock.restore=changelog to "
                "rebuild what has a changelog, or penstock.restore=empty to start without what is lost.",
            )
        if max(self._version, self._stamp(b"begun")) > max([newest, *segments]) or self._version < newest:
            self._restore_snapshot(newest)
        missing = [s for s in segments if s > self._version]
        if missing:
            log.info("state %s: applying %d segments after %d", self._local.name, len(missing), self._version)
        for number in missing:
            self._apply(*self._folder.read(number))
        self._last = self._version
        self._snapshots.found([sizes[s] for s in segments if s > newest])
        self.metadata = self._read_metadata()

    def _apply(self, segment: Segment, rows: Iterator[tuple[str, list[bytes], list[bytes | None]]]) -> None:
        if segment.previous > self._version:
            raise ProcessorStateError(
                f"state of {self._local.name}: segment {segment.sequence} follows {segment.previous}, "
                f"but the state is at {self._version}: a segment file is missing",
                hint="Restore the checkpoint folder from a backup, or start again with a new application id.",
            )
        if segment.previous < self._version:
            # At least once a pass may be done twice, and change something only once: by a punctuator that is not due again.
            log.warning("state %s: segment %d does not know of %d", self._local.name, segment.sequence, self._version)
        self._write(segment, {name: dict(zip(keys, values, strict=True)) for name, keys, values in rows})

    def _restore_snapshot(self, sequence: int) -> None:
        self._snapshots.join()  # it may be reading what is removed here
        discard(self._local)
        if sequence != NONE:
            self._local.mkdir(parents=True, exist_ok=True)
            part = self._local / "fetched.part"  # whoever dies while it comes leaves no half of it behind
            size = self._folder.fetch_snapshot(sequence, str(part))
            part.rename(self._local / "data.mdb")
            log.info("state %s: restored snapshot %d, %d bytes", self._local.name, sequence, size)
        adopt(self._local)  # the snapshot was taken at another start of the machine, or on another one
        self._version = self._stamp(b"version")
        if self._version != sequence:
            raise ProcessorStateError(
                f"the snapshot {sequence} of {self._local.name} holds the state after {self._version}",
                hint="Restore the checkpoint folder from a backup, or start again with a new application id.",
            )

    def _load_earlier(self, first: int, sequence: int) -> None:
        """Lay the changes of this batch's earlier passes over LMDB."""
        published = self._folder.sequences()[0]
        for number in (n for n in published if first <= n < sequence):
            segment, rows = self._folder.read(number)
            for name, keys, values in rows:
                self.store(name).earlier.update(zip(keys, values, strict=True))
            self._last = segment.sequence
            self.metadata = dict(segment.metadata)

    def finish(self, sequence: int, metadata: Mapping[str, int]) -> str | None:
        """Write the segment of this pass under a name of its own; None if nothing changed."""
        self._ran = sequence
        changes = {name: store.changes for name, store in self._stores.items() if store.changes}
        if not changes and dict(metadata) == self.metadata and not self._replaces:
            return None
        with self._doing("written"):
            attempt, segment = self._folder.write(sequence, self._last, changes, metadata)
        self._written = segment
        self._unapplied.append((segment, changes))
        self._last = sequence
        self.metadata = dict(metadata)
        return attempt

    @property
    def segment_bytes(self) -> int:
        """Size of the segment that `finish` wrote; 0 if nothing changed."""
        return 0 if self._written is None else self._written.bytes

    def publish(self, sequence: int, attempt: str) -> None:
        """Make the segment final: its output is committed."""
        self._folder.publish(sequence, attempt)
        if self._written is not None:
            self._snapshots.add(self._written.bytes)

    def forget(self) -> None:
        """Drop what is in memory: the next batch starts from LMDB and the segments."""
        self._unapplied, self._written = [], None
        self._ran = None
        self.end()

    def look(self) -> None:
        """Open what `end` closed, to read what the last batch left; what is written is not kept."""
        if self._txn is None:
            self._txn = environment(self._local).begin()
            for store in self._stores.values():
                self._attach(store)

    def end(self) -> None:
        """Let go of the read transaction, so that LMDB can reuse pages."""
        if self._txn is not None:
            self._txn.abort()
            self._txn = None
            for store in self._stores.values():
                store.attach(None, None)

    def size(self) -> tuple[int, int]:
        """Rows and bytes in LMDB, as of the start of the batch."""
        env = environment(self._local)
        with env.begin() as txn:
            rows = sum(
                txn.stat(env.open_db(name, txn=txn, create=False))["entries"]
                for name in txn.cursor().iternext(values=False)
                if name != META
            )
            info = env.info()
            return rows, info["last_pgno"] * env.stat()["psize"]

    # ------------------------------------------------------------------ LMDB

    def _attach(self, store: LayeredBytesStore) -> None:
        if self._txn is None:
            return
        env = environment(self._local)
        try:
            db = env.open_db(store.name.encode(), txn=self._txn, create=False)
        except lmdb.NotFoundError:
            db = None
        store.attach(self._txn, db)

    def _stamp(self, name: bytes) -> int:
        env = environment(self._local)
        with env.begin() as txn:
            return _stamp_of(txn, env, name)

    def _read_metadata(self) -> dict[str, int]:
        env = environment(self._local)
        with env.begin() as txn:
            try:
                db = env.open_db(META, txn=txn, create=False)
            except lmdb.NotFoundError:
                return {}
            return {key[len(_SAVED) :].decode(): int(txn.get(key, db=db) or 0) for key in _saved_keys(txn, db)}

    def _write(self, segment: Segment, stores: Mapping[str, Mapping[bytes, bytes | None]]) -> None:
        """Bring LMDB from one segment to the next.

        In several transactions if it is much. Whoever dies between two of them writes all of them again: LMDB says which
        segment was begun.
        """
        env = environment(self._local)
        env.reader_check()  # what a killed process was reading would keep its pages from being used again
        parts = [
            (name, changes, keys[start : start + TRANSACTION_ROWS])
            for name, changes in stores.items()
            for keys in [sorted(changes)]
            for start in range(0, len(keys), TRANSACTION_ROWS)
        ]

        def work(txn: Any, mine: list[Any]) -> None:
            _check_version(txn, env, self._version)
            for name, changes, keys in mine:
                apply_changes(txn, env.open_db(name.encode(), txn=txn), changes, keys)
            meta = env.open_db(META, txn=txn)
            txn.put(b"boot", boot_id(), db=meta)
            txn.put(b"begun", str(segment.sequence).encode(), db=meta)

        def last(txn: Any) -> None:
            work(txn, parts)
            meta = env.open_db(META, txn=txn)
            txn.put(b"version", str(segment.sequence).encode(), db=meta)
            saved = {_SAVED + name.encode()[:400]: str(value).encode() for name, value in segment.metadata.items()}
            for key in _saved_keys(txn, meta) - saved.keys():
                txn.delete(key, db=meta)
            for key, value in saved.items():
                txn.put(key, value, db=meta)

        while sum(len(keys) for _, _, keys in parts) > TRANSACTION_ROWS:
            write(env, partial(work, mine=[parts.pop(0)]))
        write(env, last)
        self._version = segment.sequence


def _stamp_of(txn: Any, env: lmdb.Environment, name: bytes) -> int:
    try:
        stamp = txn.get(name, db=env.open_db(META, txn=txn, create=False))
    except lmdb.NotFoundError:
        return NONE
    return NONE if stamp is None else int(stamp)


def _check_version(txn: Any, env: lmdb.Environment, expected: int) -> None:
    """What was decided about LMDB holds only as long as no other process of the node changes it, such as one given up by Spark."""
    found = _stamp_of(txn, env, b"version")
    if found != expected:
        raise ProcessorStateError(
            f"the local state {env.path()} went from {expected} to {found}: another process has this task, too",
            hint="Nothing has to be done: the next attempt begins with what is there.",
        )


def _saved_keys(txn: Any, meta: Any) -> set[bytes]:
    with txn.cursor(db=meta) as cursor:
        if not cursor.set_range(_SAVED):
            return set()
        return set(takewhile(lambda key: key.startswith(_SAVED), cursor.iternext(values=False)))


def apply_changes(
    txn: Any, db: Any, changes: Mapping[bytes, bytes | None], keys: Sequence[bytes] | None = None
) -> None:
    """Write changes in key order: neighbours share pages, which makes it twice as fast as any other order.

    Args:
        txn: A write transaction.
        db: The store.
        changes: What changed.
        keys: Which of them, in order; all if None.
    """
    keys = sorted(changes) if keys is None else keys
    if not keys:
        return
    values = [changes[key] for key in keys]
    puts: Iterable[tuple[bytes, bytes | None]] = zip(keys, values, strict=True)
    if None in values or not keys[0] or max(map(len, keys)) > MAX_KEY:  # else they stand there as they are
        for key in compress(keys, (value is None for value in values)):
            txn.delete(stored_key(key), db=db)
        puts = [(stored_key(key), stored_value(key, value)) for key, value in puts if value is not None]
    with txn.cursor(db=db) as cursor:
        cursor.putmulti(puts)
