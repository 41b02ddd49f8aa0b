"""The search sink: each record becomes a document of Elasticsearch or OpenSearch."""

from __future__ import annotations

import logging
from collections import Counter
from collections.abc import Iterable, Mapping
from typing import Any, ClassVar

from penstock.connect.api import SinkConnector, SinkTask, TopicPartition
from penstock.connect.config import ConfigDef, ConfigValue
from penstock.connect.connectors.search import keys
from penstock.connect.connectors.search.actions import Action, Actions, MalformedDocument
from penstock.connect.connectors.search.bulk import BulkWriter, Cause, Refusal
from penstock.connect.connectors.search.checks import check
from penstock.connect.connectors.search.client import SearchClient
from penstock.connect.connectors.search.documents import Documents
from penstock.connect.connectors.search.naming import Naming
from penstock.connect.connectors.search.targets import Targets
from penstock.connect.data import SinkRecord
from penstock.connect.errors import ConnectError, DataError, RetriableError

log = logging.getLogger("penstock.connect")


class SearchSinkTask(SinkTask):
    """Writes documents with the bulk API. Everything put is written when `put` returns, so there is nothing to flush.

    A record that is given again has the same id and version: the server refuses it as a conflict, which counts as written.
    """

    def __init__(self, config: Mapping[str, str]) -> None:
        super().__init__(config)
        settings = self.settings(config)
        self._settings = settings
        self._naming = self.naming(settings)
        self._buffered: int = settings[keys.BUFFERED]
        self._drops_invalid: bool = settings[keys.DROP_INVALID]
        self._on_malformed: str = settings[keys.MALFORMED].lower()
        self._on_conflict: str = settings[keys.VERSION_CONFLICT].lower()
        self._tolerant = config.get("errors.tolerance", "none").lower() == "all"

    @classmethod
    def settings(cls, config: Mapping[str, str]) -> dict[str, Any]:
        """The parsed settings."""
        return ElasticsearchSinkConnector.CONFIG.parse(config)

    def naming(self, settings: Mapping[str, Any]) -> Naming:
        """Names of what is written to."""
        return Naming(settings)

    def start(self) -> None:
        self._client = SearchClient(self._settings)
        try:
            # A wrong password or address is told now and not with the first record. Not every user may see the answer.
            self._client.request("GET", "/")
        except BaseException:
            self._client.close()
            raise
        self._targets = Targets(self._settings, self._client, self._naming)
        documents = Documents(
            compact_maps=self._settings[keys.COMPACT_MAPS],
            timestamps=self._settings[keys.STREAM_TIMESTAMP] if self._naming.data_stream else None,
        )
        self._actions = Actions(self._settings, documents, data_stream=self._naming.data_stream)
        self._writer = BulkWriter(self._settings, self._client)

    def put(self, records: list[SinkRecord]) -> None:
        refused: list[tuple[SinkRecord, ConnectError]] = []
        left_out: Counter[str] = Counter()
        for begin in range(0, len(records), self._buffered):
            actions: list[Action] = []
            for record in records[begin : begin + self._buffered]:
                try:
                    action = self._action(record)
                except DataError as error:
                    refused.append((record, type(error)(f"{_place(record)}: {error.message}", hint=error.hint)))
                else:
                    if action is None:
                        left_out["have no value"] += 1
                    else:
                        actions.append(action)
            refused += [(refusal.action.record, self._error(refusal)) for refusal in self._writer.write(actions)]
        # Last: if records have to be put again, none of them was reported yet.
        for record, why in refused:
            self._settle(record, why, left_out)
        if left_out:
            log.info("%s: of %d records were left out: %s", self.config.get("name"), len(records), _counts(left_out))

    def flush(self, offsets: Mapping[TopicPartition, int]) -> None:
        pass

    def stop(self) -> None:
        if hasattr(self, "_writer"):
            self._client.close()
            self._writer.close()

    def _action(self, record: SinkRecord) -> Action | None:
        if self._actions.skips(record):
            return None
        assert record.topic is not None
        resource = self._targets.of(record.topic)
        action = self._actions.of(record, resource)
        if record.value is not None and not self._actions.schema_ignored(record):
            self._map(resource, record)
        return action

    def _map(self, resource: str, record: SinkRecord) -> None:
        try:
            self._targets.map(resource, record.value_schema)
        except DataError as error:
            # The settings are wrong and not this one record, so it is not left out.
            raise ConnectError(
                f"{_place(record)}: no mapping for {resource}: {error.message}", hint=error.hint
            ) from error

    def _error(self, refusal: Refusal) -> ConnectError:
        """The error for a record the server refused.

        Raises:
            RetriableError: The index is gone: it is made again when the records come again.
            ConnectError: It is not the record's fault.
        """
        record, resource = refusal.action.record, refusal.action.resource
        where = f"{_place(record)}, document {refusal.action.id} of {resource}"
        if refusal.cause is Cause.MALFORMED:
            return MalformedDocument(f"{where}: {refusal.reason}")
        if refusal.cause is Cause.CONFLICT:
            # In a data stream nothing is replaced: a key that is there may be that of another record.
            taken = self._naming.data_stream and self._actions.id_is_key(record)
            return (_TakenKey if taken else _Conflict)(f"{where}: {refusal.reason}")
        if refusal.cause is Cause.MISSING:
            self._targets.forget(resource)
            raise RetriableError(f"{where}: {refusal.reason}")
        raise ConnectError(f"{where} was not written: {refusal.reason}")

    def _settle(self, record: SinkRecord, error: ConnectError, left_out: Counter[str]) -> None:
        """A record that was not written: leave it out and say so, or fail."""
        if isinstance(error, _TakenKey):
            behaviour, kind = (
                "fail" if self._on_conflict == "fail" else "warn",
                "have a key the data stream has already",
            )
        elif isinstance(error, _Conflict):
            behaviour, kind = self._on_conflict, "are there already, in this version or a newer one"
        elif isinstance(error, MalformedDocument):
            behaviour, kind = self._on_malformed, "are malformed"
        else:
            behaviour, kind = "warn" if self._drops_invalid else "fail", "cannot become documents"
        if behaviour == "fail":
            self.context.report(record, error)
            raise error
        left_out[kind] += 1
        if type(error) is _Conflict and behaviour != "report":
            log.log(logging.WARNING if behaviour == "warn" else logging.DEBUG, "Counts as written: %s", error)
            return
        if self._tolerant:
            self.context.report(record, error)
        if behaviour == "warn" or not self._tolerant:
            log.warning("Left out: %s", error)


class _Conflict(ConnectError):
    """The server has the document already, or a newer one."""


class _TakenKey(_Conflict):
    """The data stream has a document of this key: this record, or another one."""


def _place(record: SinkRecord) -> str:
    return f"topic {record.topic}, partition {record.partition}, offset {record.offset}"


def _counts(counts: Counter[str]) -> str:
    return ", ".join(f"{count} {kind}" for kind, count in counts.items())


class ElasticsearchSinkConnector(SinkConnector):
    """Writes records as documents to Elasticsearch or OpenSearch."""

    CONFIG: ClassVar[ConfigDef] = keys.CONFIG
    TASK: ClassVar[type[SinkTask]] = SearchSinkTask

    @classmethod
    def validate(cls, config: Mapping[str, str]) -> Iterable[ConfigValue]:
        return check(config, cls.CONFIG)
