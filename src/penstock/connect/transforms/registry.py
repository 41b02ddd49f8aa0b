"""Transforms and predicates by name."""

from __future__ import annotations

from penstock.connect.plugins import Plugin, Plugins
from penstock.connect.transforms.predicates.predicate import Predicate
from penstock.connect.transforms.transformation import Transformation

_HERE = "penstock.connect.transforms"
_JAVA = "org.apache.kafka.connect.transforms"

# Class -> module; each has variants for keys and for values.
_KEY_OR_VALUE = {
    "Cast": "cast",
    "ExtractField": "extract_field",
    "Flatten": "flatten",
    "HeaderFrom": "header_from",
    "HoistField": "hoist_field",
    "InsertField": "insert_field",
    "MaskField": "mask_field",
    "ReplaceField": "replace_field",
    "SetSchemaMetadata": "set_schema_metadata",
    "TimestampConverter": "timestamp_converter",
}
_WHOLE_RECORD = {
    "DropHeaders": "drop_headers",
    "Filter": "filter",
    "InsertHeader": "insert_header",
    "RegexRouter": "regex_router",
    "TimestampRouter": "timestamp_router",
    "ValueToKey": "value_to_key",
}
_PREDICATES = {
    "HasHeaderKey": "has_header_key",
    "RecordIsTombstone": "record_is_tombstone",
    "TopicNameMatches": "topic_name_matches",
}

TRANSFORMS: Plugins[Transformation] = Plugins(
    "transformation",
    Transformation,  # type: ignore[type-abstract]  # only compared with
    (
        *(
            Plugin(f"{_JAVA}.{name}${part}", f"{_HERE}.{module}:{name}{part}")
            for name, module in _KEY_OR_VALUE.items()
            for part in ("Key", "Value")
        ),
        *(Plugin(f"{_JAVA}.{name}", f"{_HERE}.{module}:{name}") for name, module in _WHOLE_RECORD.items()),
    ),
    entry_point_group="penstock.connect.transforms",
)
PREDICATES: Plugins[Predicate] = Plugins(
    "predicate",
    Predicate,  # type: ignore[type-abstract]  # only compared with
    tuple(
        Plugin(f"{_JAVA}.predicates.{name}", f"{_HERE}.predicates.{module}:{name}")
        for name, module in _PREDICATES.items()
    ),
    entry_point_group="penstock.connect.predicates",
)
