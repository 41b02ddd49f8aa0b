"""What tasks need to know of their connector; travels to Spark's workers."""

from __future__ import annotations

import base64
import pickle
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from penstock.connect.config.secrets import NO_SECRETS, Secrets
from penstock.connect.validation.connector_keys import ConnectorKind


@dataclass(frozen=True, slots=True, repr=False)
class ConnectJob:
    """One start of a connector.

    Attributes:
        run: Names this start; what processes keep of other runs is not used.
        name: The connector.
        kind: Source or sink.
        config: The connector's settings, with the worker's converters where it has none of its own. Never shown.
        tasks: The settings of each task.
        kafka: Client settings by role: consumer, producer, admin.
        exactly_once: Whether a source writes in transactions.
        incarnation: Names the offsets a source counts its batches from: new ones when they are changed from outside.
        commits_topic: The topic whose group offsets say which batch of a source task was committed.
        offsets_topic: The worker's topic of source offsets, if they are to be written with the records.
        secrets: What must not be in logs and dead letters of tasks.
    """

    run: str
    name: str
    kind: ConnectorKind
    config: Mapping[str, str]
    tasks: tuple[Mapping[str, str], ...]
    kafka: Mapping[str, Mapping[str, Any]]
    exactly_once: bool = False
    incarnation: str = ""
    commits_topic: str = ""
    offsets_topic: str = ""
    secrets: Secrets = NO_SECRETS

    @property
    def group(self) -> str:
        """The consumer group of a sink."""
        return self.config.get("consumer.override.group.id") or f"connect-{self.name}"

    def transactional_id(self, task: int) -> str:
        """The id of a source task's producer, and the group of its commits."""
        return f"connect-source-{self.name}-{task}"

    def encode(self) -> str:
        """As text."""
        return base64.b64encode(pickle.dumps(self)).decode()

    @staticmethod
    def decode(text: str) -> ConnectJob:
        """From text."""
        job: ConnectJob = pickle.loads(base64.b64decode(text))
        return job
