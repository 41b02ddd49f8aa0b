"""The data model of Connect: schemas, structs, headers and records, and conversions between values.

Imports `penstock.connect.errors` and nothing above.
"""

from penstock.connect.data.conversions import convert_to
from penstock.connect.data.headers import NO_CONNECT_HEADERS, ConnectHeaders, Header
from penstock.connect.data.inference import infer_schema
from penstock.connect.data.logical import (
    DATE_NAME,
    DATE_SCHEMA,
    DECIMAL_NAME,
    OPTIONAL_DATE_SCHEMA,
    OPTIONAL_TIME_SCHEMA,
    OPTIONAL_TIMESTAMP_SCHEMA,
    TIME_NAME,
    TIME_SCHEMA,
    TIMESTAMP_NAME,
    TIMESTAMP_SCHEMA,
    decimal_schema,
)
from penstock.connect.data.parsing import parse_string
from penstock.connect.data.records import (
    ConnectRecord,
    SinkColumns,
    SinkRecord,
    SourceRecord,
    TimestampType,
    are_plain_maps,
)
from penstock.connect.data.schema import (
    BOOLEAN_SCHEMA,
    BYTES_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT16_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_BOOLEAN_SCHEMA,
    OPTIONAL_BYTES_SCHEMA,
    OPTIONAL_FLOAT32_SCHEMA,
    OPTIONAL_FLOAT64_SCHEMA,
    OPTIONAL_INT8_SCHEMA,
    OPTIONAL_INT16_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_INT64_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Field,
    Schema,
    Type,
)
from penstock.connect.data.schema_and_value import NULL_SCHEMA_AND_VALUE, SchemaAndValue
from penstock.connect.data.schema_builder import SchemaBuilder
from penstock.connect.data.struct import Struct
from penstock.connect.data.text import java_text, value_text
from penstock.connect.data.validation import validate_value

__all__ = [
    "BOOLEAN_SCHEMA",
    "BYTES_SCHEMA",
    "DATE_NAME",
    "DATE_SCHEMA",
    "DECIMAL_NAME",
    "FLOAT32_SCHEMA",
    "FLOAT64_SCHEMA",
    "INT8_SCHEMA",
    "INT16_SCHEMA",
    "INT32_SCHEMA",
    "INT64_SCHEMA",
    "NO_CONNECT_HEADERS",
    "NULL_SCHEMA_AND_VALUE",
    "OPTIONAL_BOOLEAN_SCHEMA",
    "OPTIONAL_BYTES_SCHEMA",
    "OPTIONAL_DATE_SCHEMA",
    "OPTIONAL_FLOAT32_SCHEMA",
    "OPTIONAL_FLOAT64_SCHEMA",
    "OPTIONAL_INT8_SCHEMA",
    "OPTIONAL_INT16_SCHEMA",
    "OPTIONAL_INT32_SCHEMA",
    "OPTIONAL_INT64_SCHEMA",
    "OPTIONAL_STRING_SCHEMA",
    "OPTIONAL_TIMESTAMP_SCHEMA",
    "OPTIONAL_TIME_SCHEMA",
    "STRING_SCHEMA",
    "TIMESTAMP_NAME",
    "TIMESTAMP_SCHEMA",
    "TIME_NAME",
    "TIME_SCHEMA",
    "ConnectHeaders",
    "ConnectRecord",
    "Field",
    "Header",
    "Schema",
    "SchemaAndValue",
    "SchemaBuilder",
    "SinkColumns",
    "SinkRecord",
    "SourceRecord",
    "Struct",
    "TimestampType",
    "Type",
    "are_plain_maps",
    "convert_to",
    "decimal_schema",
    "infer_schema",
    "java_text",
    "parse_string",
    "validate_value",
    "value_text",
]
