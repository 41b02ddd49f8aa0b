"""What a running application sends to Spark's workers: the topology, its layout and where everything is."""

from __future__ import annotations

import base64
import hashlib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from pyspark import cloudpickle

from penstock.interpreter.config import TaskConfig
from penstock.spark.layout import Layout
from penstock.spark.travelling import cannot_travel
from penstock.topology.topology import Topology


def transactional_id(application_id: str, level: int, slot: int) -> str:
    """Under which id a slot of a level writes."""
    return f"{application_id}-{level}-{slot}"


@dataclass(frozen=True, slots=True)
class Limits:
    """How much a batch may take.

    Attributes:
        max_records: Records of all topics in one batch.
        max_bytes: Bytes, as far as they can be estimated from earlier batches.
        target_ms: The batch time to aim at; the number of records adapts to it.
        interval_ms: Time between the starts of two batches.
    """

    max_records: int = 2_000_000
    max_bytes: int = 1 << 30
    target_ms: int = 1000
    interval_ms: int = 0


@dataclass(frozen=True, slots=True)
class Job:
    """One application on Spark. Travels to the workers once and is kept there.

    Attributes:
        run: Names this start of the application; what workers keep of other runs is not used.
        topology: What to do.
        layout: Tasks, levels and passes.
        slots: Spark partitions of a level.
        config: The settings tasks need.
        kafka: Client settings by role: consumer, producer, admin.
        exactly_once: Whether output is transactional.
        checkpoint: Folder of the query's checkpoint; state is in its `state` folder.
        local: Folder for LMDB on each node.
        history: Names the life of the checkpoint, which ends with a reset: local state of another one is not used.
        limits: Size of a batch.
        start: Where topics without a committed position start.
    """

    run: str
    topology: Topology
    layout: Layout
    slots: int
    config: TaskConfig
    kafka: Mapping[str, Mapping[str, Any]]
    exactly_once: bool
    checkpoint: str
    local: str
    limits: Limits = field(default_factory=Limits)
    start: Mapping[str, Any] = field(default_factory=dict)
    fail_on_data_loss: bool = True
    history: str = ""
    crash: str = ""  # a step at which workers die on purpose, for tests of exactly that

    @property
    def application_id(self) -> str:
        """The application's id."""
        return self.config.application_id

    def state_folder(self, task: str) -> str:
        """Folder of a task's segments."""
        return f"{self.checkpoint}/state/{task}"

    def local_folder(self, task: str) -> Path:
        """Folder of a task's LMDB environment."""
        # Another checkpoint of the same application has another state, and so has the same one after a reset: a reset
        # removes local state of its own machine, and numbers begin anew, so that a node could not tell.
        mark = hashlib.blake2b(f"{self.checkpoint}\n{self.history}".encode(), digest_size=6).hexdigest()
        return Path(self.local) / f"{self.application_id}-{mark}" / task

    def transactional_id(self, level: int, slot: int) -> str:
        """Under which id a slot of a level writes."""
        return transactional_id(self.application_id, level, slot)

    def real_topic(self, topic: str) -> str:
        """A topic's name in Kafka; internal topics carry the application's id."""
        return self.config.topic(topic, internal=topic in self.topology.internal_topics)

    def commits_topic(self, subtopology: int) -> str:
        """The topic whose group offsets say which batch of a task was committed."""
        return f"{self.application_id}-commits-{subtopology}"

    @property
    def commits_group(self) -> str:
        """The consumer group of those offsets."""
        return f"{self.application_id}-commits"

    def encode(self) -> str:
        """As text, for an option of the data source.

        Raises:
            TopologyError: A function refers to something that cannot be pickled.
        """
        try:
            return base64.b64encode(cloudpickle.dumps(self)).decode()  # type: ignore[no-untyped-call]
        except Exception as error:
            raise (cannot_travel(self.topology) or error) from error


_decoded: dict[str, Job] = {}


def decode(text: str) -> Job:
    """The job of an encoded text; each worker decodes it once."""
    job = _decoded.get(text)
    if job is None:
        _decoded.clear()
        job = _decoded[text] = cloudpickle.loads(base64.b64decode(text))
    return job
