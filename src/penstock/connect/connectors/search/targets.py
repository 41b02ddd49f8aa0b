"""Indices and data streams: created if they are missing, with a mapping from the schema of the first record."""

from __future__ import annotations

import logging
from collections.abc import Mapping
from typing import Any

from penstock.connect.connectors.search import keys
from penstock.connect.connectors.search.client import SearchClient, path_of, refused
from penstock.connect.connectors.search.mapping import mapping_of
from penstock.connect.connectors.search.naming import Naming
from penstock.connect.data import Schema
from penstock.connect.errors import ConnectError

log = logging.getLogger("penstock.connect")

_EXISTS = "resource_already_exists_exception"


class Targets:
    """What the task writes to; what was found or made once is not looked for again.

    Args:
        settings: The sink's settings.
        client: The cluster.
        naming: Names by topic.
    """

    def __init__(self, settings: Mapping[str, Any], client: SearchClient, naming: Naming) -> None:
        self._client = client
        self._naming = naming
        self._compact: bool = settings[keys.COMPACT_MAPS]
        self._template_priority = 200
        self._ready: set[str] = set()
        self._mapped: set[str] = set()
        self._names: dict[str, str] = {}

    def of(self, topic: str) -> str:
        """The name of what a topic is written to; it is there when this returns.

        Raises:
            ConnectError: It is not, and cannot be made.
        """
        name = self._names.get(topic)
        if name is None:
            name = self._names[topic] = self._naming.resource(topic)
        if name not in self._ready:
            self._prepare(name)
            self._ready.add(name)
        return name

    def map(self, name: str, schema: Schema | None) -> None:
        """Give an index its mapping, unless it has one.

        Raises:
            DataError: There is no mapping for such a schema.
            ConnectError: The server refuses it.
        """
        if name in self._mapped:
            return
        if not self._has_mapping(name):
            answer = self._client.request(
                "PUT", path_of(name, "_mapping"), mapping_of(schema, compact_maps=self._compact)
            )
            if answer.status != 200:
                raise refused(
                    answer,
                    f"Giving the index {name} a mapping from the schema of its records",
                    hint=f"Make the mapping yourself, or set {keys.SCHEMA_IGNORE}=true.",
                )
            log.info("The index %s has a mapping from the schema of its records now", name)
        self._mapped.add(name)

    def forget(self, name: str) -> None:
        """Somebody has deleted it: look again."""
        self._ready.discard(name)
        self._mapped.discard(name)

    def _prepare(self, name: str) -> None:
        answer = self._client.request("HEAD", path_of(name))
        if answer.status == 200:
            return
        if answer.status != 404:
            raise refused(answer, f"Looking for {name}")
        if self._naming.made_by_others:
            raise ConnectError(
                f"There is no index, data stream or alias {name}.",
                hint=f"Create it, or correct {keys.RESOURCE_MAPPING}; {keys.RESOURCE_USAGE} says that others make it.",
            )
        if self._naming.data_stream:
            self._create_stream(name)
        else:
            self._create_index(name)

    def _create_index(self, name: str) -> None:
        answer = self._client.request("PUT", path_of(name))
        # Another task may have been faster, or the answer to an earlier try got lost.
        if answer.status == 200 or answer.error[0] == _EXISTS:
            log.info("Created the index %s", name)
            return
        raise refused(
            answer,
            f"Creating the index {name}",
            hint="The transform RegexRouter gives records of a topic another name.",
        )

    def _create_stream(self, name: str) -> None:
        answer = self._client.request("PUT", path_of("_data_stream", name))
        if answer.status == 400 and "no matching index template" in answer.error[1]:
            self._create_template(name)
            answer = self._client.request("PUT", path_of("_data_stream", name))
        if answer.status == 200 or answer.error[0] == _EXISTS:
            log.info("Created the data stream %s", name)
            return
        raise refused(answer, f"Creating the data stream {name}")

    def _create_template(self, name: str) -> None:
        """Elasticsearch has templates for logs-*-* and metrics-*-*, OpenSearch has none."""
        template = {"index_patterns": [name], "data_stream": {}, "priority": self._template_priority}
        answer = self._client.request("PUT", path_of("_index_template", name), template)
        if answer.status != 200:
            raise refused(answer, f"Creating an index template for the data stream {name}")
        log.info("Created an index template for the data stream %s", name)

    def _has_mapping(self, name: str) -> bool:
        answer = self._client.request("GET", path_of(name, "_mapping"))
        if answer.status != 200:
            raise refused(answer, f"Reading the mapping of {name}")
        return any(index.get("mappings", {}).get("properties") for index in answer.body.values())
