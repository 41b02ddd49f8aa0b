"""Records as actions of the bulk API."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass
from typing import Any

import orjson

from penstock.connect.connectors.search import keys
from penstock.connect.connectors.search.documents import Documents
from penstock.connect.data import SinkRecord
from penstock.connect.errors import DataError, shown

_LONGEST_ID = 512
_LONGEST_VERSION = 2**63 - 1


class MalformedDocument(DataError):
    """The server would refuse the document, and perhaps the whole request with it."""


@dataclass(frozen=True, slots=True)
class Action:
    """One action of a bulk request.

    Attributes:
        record: The record it is for.
        lines: The action as the bulk API wants it, line ends included.
        id: The document's id; None if the server makes one up.
        resource: What it is written to.
        once: Whether the server recognises an action that comes again or too late: by a version, or because a
            document of that id may only be created.
    """

    record: SinkRecord
    lines: bytes
    id: str | None
    resource: str
    once: bool


class Actions:
    """Makes actions by the sink's settings.

    Args:
        settings: The sink's settings.
        documents: Writes documents.
        data_stream: Whether documents are only ever added.
    """

    def __init__(self, settings: Mapping[str, Any], documents: Documents, *, data_stream: bool) -> None:
        self._documents = documents
        self._data_stream = data_stream
        self._key_ignored = _Topics(settings[keys.KEY_IGNORE], settings[keys.TOPIC_KEY_IGNORE])
        self.schema_ignored = _Topics(settings[keys.SCHEMA_IGNORE], settings[keys.TOPIC_SCHEMA_IGNORE])
        self._id_strategy: str = settings[keys.ID_STRATEGY].lower()
        self._auto_ids: bool = settings[keys.AUTO_IDS]
        self._null_values: str = settings[keys.NULL_VALUES].lower()
        self._upsert: bool = settings[keys.WRITE_METHOD].lower() == "upsert"
        self._version_header: str = settings[keys.VERSION_HEADER]
        # An update reads and writes; another one in between is tried again by the server itself.
        self._conflict_retries = min(settings[keys.IN_FLIGHT], 5)

    def skips(self, record: SinkRecord) -> bool:
        """Whether nothing is to be done for a record."""
        if record.value is not None or self._null_values == "fail":
            return False
        # Ids that are not keys are all different: there is nothing a tombstone could delete.
        return self._null_values == "ignore" or record.key is None or not self.id_is_key(record)

    def of(self, record: SinkRecord, resource: str) -> Action:
        """What is to be done for a record.

        Raises:
            DataError: It cannot become a document.
        """
        if record.value is None:
            return self._delete(record, resource)
        document = self._documents.write(record, ignore_schema=self.schema_ignored(record))
        if not document.startswith(b"{"):
            raise MalformedDocument(
                f"The value is not a JSON object: {shown(document.decode())}",
                hint="The transform HoistField puts a value into a struct.",
            )
        id_ = self._id(record)
        if self._upsert:
            meta = _meta(resource, id_, retry_on_conflict=self._conflict_retries)
            lines = b'{"update":%b}\n{"doc":%b,"doc_as_upsert":true}\n' % (orjson.dumps(meta), document)
            return Action(record, lines, id_, resource, once=False)
        if self._data_stream:
            lines = b'{"create":%b}\n%b\n' % (orjson.dumps(_meta(resource, id_)), document)
            return Action(record, lines, id_, resource, once=id_ is not None)
        version = self._versioning(record) if id_ is not None else {}
        lines = b'{"index":%b}\n%b\n' % (orjson.dumps(_meta(resource, id_, **version)), document)
        return Action(record, lines, id_, resource, once=bool(version))

    def _delete(self, record: SinkRecord, resource: str) -> Action:
        if self._null_values == "fail":
            raise DataError(
                "The record has no value.",
                hint=f"{keys.NULL_VALUES}=ignore leaves such records out, delete deletes the document of the key.",
            )
        if self._data_stream:
            raise MalformedDocument("A data stream only takes documents in: none of it can be deleted by a key.")
        id_ = _key_text(record)
        # Upserts have the server's own versions, which offsets cannot be compared with.
        version = {} if self._upsert else self._versioning(record)
        lines = b'{"delete":%b}\n' % orjson.dumps(_meta(resource, id_, **version))
        return Action(record, lines, id_, resource, once=bool(version))

    def id_is_key(self, record: SinkRecord) -> bool:
        """Whether the document's id is the record's key; else each record has an id of its own."""
        return not self._key_ignored(record) or self._id_strategy == "record.key"

    def _id(self, record: SinkRecord) -> str | None:
        if self._auto_ids:
            return None
        if self.id_is_key(record):
            return _key_text(record)
        return None if self._id_strategy == "none" else f"{record.topic}+{record.partition}+{record.offset}"

    def _versioning(self, record: SinkRecord) -> dict[str, Any]:
        if not self.id_is_key(record):
            return {}
        version = self._header_version(record) if self._version_header else record.offset
        return {"version": version, "version_type": "external"}

    def _header_version(self, record: SinkRecord) -> int:
        header = record.headers.last(self._version_header)
        if header is None:
            raise DataError(f"The record has no header {self._version_header}, which {keys.VERSION_HEADER} names.")
        try:
            value = header.value.decode() if isinstance(header.value, bytes) else header.value
            version = -1 if isinstance(value, bool) else int(value)
        except (ValueError, TypeError):
            version = -1
        if not 0 <= version <= _LONGEST_VERSION:
            raise DataError(
                f"The header {self._version_header} is not a version: {shown(header.value)}",
                hint="A version is a whole number from 0 to 9223372036854775807.",
            )
        return version


class _Topics:
    """A setting that is on for all topics, or for some."""

    def __init__(self, everywhere: bool, topics: Collection[str]) -> None:  # noqa: FBT001 - a setting's value
        self._everywhere = everywhere
        self._topics = frozenset(topics)

    def __call__(self, record: SinkRecord) -> bool:
        return self._everywhere or record.topic in self._topics


def _meta(resource: str, id_: str | None, **more: Any) -> dict[str, Any]:
    return {"_index": resource, **({} if id_ is None else {"_id": id_}), **more}


def _key_text(record: SinkRecord) -> str:
    key = record.key
    if key is None:
        raise DataError(
            "The key is null, and it should be the document's id.",
            hint=f"{keys.KEY_IGNORE}=true makes ids of topic, partition and offset.",
        )
    if isinstance(key, bool) or not isinstance(key, (int, str)):
        kind = record.key_schema.type if record.key_schema is not None else type(key).__name__
        raise DataError(
            f"A key of type {kind} cannot be a document's id: only texts and whole numbers can.",
            hint=f"Take a field of it with the transform ExtractField, or set {keys.KEY_IGNORE}=true.",
        )
    text = str(key)
    if not 0 < len(text.encode(errors="replace")) <= _LONGEST_ID:
        raise MalformedDocument(
            f"The key cannot be a document's id, which has 1 to {_LONGEST_ID} bytes: {shown(text)!r}"
        )
    return text
