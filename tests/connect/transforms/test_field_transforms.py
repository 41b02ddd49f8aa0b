"""Transforms that change fields of the key or value: what the recorded cases do not say."""

from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest

from penstock.connect.data import (
    BYTES_SCHEMA,
    DATE_SCHEMA,
    FLOAT32_SCHEMA,
    FLOAT64_SCHEMA,
    INT8_SCHEMA,
    INT32_SCHEMA,
    INT64_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    TIMESTAMP_SCHEMA,
    Header,
    Schema,
    SchemaBuilder,
    SinkRecord,
    SourceRecord,
    Struct,
    Type,
    decimal_schema,
)
from penstock.connect.data.java_numbers import to_float32
from penstock.connect.data.logical import from_millis
from penstock.connect.errors import ConfigError, ConnectError, DataError, IllegalArgumentError
from penstock.connect.transforms import TRANSFORMS

ADDRESS = SchemaBuilder.struct().field("city", STRING_SCHEMA).field("zip", OPTIONAL_STRING_SCHEMA).optional().build()
PERSON = (
    SchemaBuilder.struct()
    .name("person")
    .version(3)
    .field("id", INT32_SCHEMA)
    .field("address", ADDRESS)
    .field("age", SchemaBuilder.int32().optional().default(18).build())
    .build()
)


def _person(**values: Any) -> Struct:
    address = Struct(ADDRESS, {"city": "Bern"})
    return Struct(PERSON, {"id": 1, "address": address, **values})


def _apply(name: str, settings: dict[str, str], schema: Schema | None, value: Any, **record: Any) -> SinkRecord:
    """The record after a transform; transforms of keys get the value as their key too."""
    before = SinkRecord("t", 0, schema, value, schema, value, 5, **record)
    after = TRANSFORMS.find(name)(settings).apply(before)
    assert isinstance(after, SinkRecord)
    compiled = TRANSFORMS.find(name)(settings).compiled()(before)
    assert compiled == after
    return after


def _refused(name: str, settings: dict[str, str], schema: Schema | None, value: Any) -> ConnectError:
    with pytest.raises(ConnectError) as caught:
        _apply(name, settings, schema, value)
    return caught.value


@pytest.mark.parametrize(
    ("name", "settings", "purpose"),
    [
        ("Cast$Value", {"spec": "a:int8"}, "cast types"),
        ("ExtractField$Value", {"field": "a"}, "field extraction"),
        ("Flatten$Value", {}, "flattening"),
        ("HeaderFrom$Value", {"fields": "a", "headers": "h", "operation": "copy"}, "header copy"),
        ("InsertField$Value", {"topic.field": "a"}, "field insertion"),
        ("MaskField$Value", {"fields": "a"}, "mask fields"),
        ("ReplaceField$Value", {"exclude": "a"}, "field replacement"),
        ("TimestampConverter$Value", {"field": "a", "target.type": "unix"}, "converting timestamp formats"),
        ("ValueToKey", {"fields": "a"}, "copying fields from value to key"),
    ],
)
def test_only_maps_and_structs_have_fields(name: str, settings: dict[str, str], purpose: str) -> None:
    plain = _refused(name, settings, None, 5)
    assert plain.message == f"Only Map objects supported in absence of schema for [{purpose}], found: int"
    typed = _refused(name, settings, PERSON, 5)
    assert typed.message == f"Only Struct objects supported for [{purpose}], found: int"


@pytest.mark.parametrize("name", ["HeaderFrom$Key", "MaskField$Value", "ValueToKey"])
def test_some_need_a_value(name: str) -> None:
    settings = {"fields": "a", "headers": "h", "operation": "copy"}
    assert isinstance(_refused(name, settings, None, None), DataError)
    assert "found: null" in _refused(name, settings, PERSON, None).message


@pytest.mark.parametrize(
    ("target", "schema", "value", "cast"),
    [
        ("int8", INT32_SCHEMA, 300, 44),
        ("int32", FLOAT64_SCHEMA, 1e20, 2**31 - 1),
        ("int64", STRING_SCHEMA, "-7", -7),
        ("float32", FLOAT64_SCHEMA, 0.1, to_float32(0.1)),
        ("float64", STRING_SCHEMA, "1.5", 1.5),
        ("boolean", FLOAT64_SCHEMA, 0.5, False),
        ("boolean", STRING_SCHEMA, "TRUE", True),
        ("boolean", STRING_SCHEMA, "yes", False),
        ("string", FLOAT32_SCHEMA, to_float32(0.1), "0.1"),
        ("string", decimal_schema(-2), Decimal("1E+2"), "100"),
        ("string", TIMESTAMP_SCHEMA, from_millis(86_400_001), "1970-01-02T00:00:00.001Z"),
        ("int32", DATE_SCHEMA, from_millis(86_400_000), 1),
        ("int64", TIMESTAMP_SCHEMA, from_millis(5), 5),
        ("string", BYTES_SCHEMA, b"a", "YQ=="),
        ("int8", None, True, 1),
        ("float64", None, Decimal("1.5"), 1.5),
    ],
)
def test_cast_follows_java(target: str, schema: Schema | None, value: Any, cast: Any) -> None:
    after = _apply("Cast$Value", {"spec": target}, schema, value)
    assert (after.value, type(after.value)) == (cast, type(cast))
    if schema is not None:
        assert after.value_schema is not None
        assert (after.value_schema.type.value, after.value_schema.name) == (target, schema.name)


@pytest.mark.parametrize(
    ("target", "schema", "value", "reason"),
    [
        ("int8", STRING_SCHEMA, "300", "was out of range for requested data type INT8"),
        ("int32", STRING_SCHEMA, "1.5", "was out of range"),
        ("float64", STRING_SCHEMA, "x", "was out of range"),
        ("int32", BYTES_SCHEMA, b"a", "Unexpected type in Cast transformation: bytes"),
        ("boolean", BYTES_SCHEMA, b"a", "Unexpected type"),
        ("string", None, [1], "does not support casting from ARRAY"),
        ("string", SchemaBuilder.map(STRING_SCHEMA, STRING_SCHEMA).build(), {}, "does not support casting from MAP"),
        ("string", None, {1}, "was passed a value of type set"),
    ],
)
def test_cast_refuses(target: str, schema: Schema | None, value: Any, reason: str) -> None:
    assert reason in _refused("Cast$Value", {"spec": target}, schema, value).message


def test_cast_changes_defaults_with_the_fields() -> None:
    schema = (
        SchemaBuilder.struct()
        .field("a", SchemaBuilder.int32().default(300).build())
        .default(
            Struct(SchemaBuilder.struct().field("a", SchemaBuilder.int32().default(300).build()).build(), {"a": 7})
        )
        .build()
    )
    after = _apply("Cast$Value", {"spec": "a:string,missing:int8"}, schema, Struct.of(schema, [None]))
    assert after.value_schema is not None
    assert after.value_schema.default.values == ["7"]
    field = after.value_schema.field("a")
    assert field is not None
    assert (field.schema.default, after.value.values) == ("300", ["300"])
    assert 'field "a"' in _refused("Cast$Value", {"spec": "a:int8"}, None, {"a": "x"}).message


@pytest.mark.parametrize("spec", ["", "a:b:c", "int32,int64", "a:int8,int32", "a:struct", "decimal", "a:"])
def test_cast_needs_a_spec_that_means_something(spec: str) -> None:
    with pytest.raises(ConfigError, match=r"Invalid value .* for configuration spec"):
        TRANSFORMS.find("Cast$Key")({"spec": spec})


def test_extract_field_follows_paths() -> None:
    settings = {"field": "address.city", "field.syntax.version": "V2"}
    assert _apply("ExtractField$Value", settings, PERSON, _person()).value == "Bern"
    assert _apply("ExtractField$Value", settings, PERSON, Struct(PERSON, {"id": 1})).value is None
    assert _apply("ExtractField$Key", settings, None, {"address": {"city": "Bern"}}).key == "Bern"
    assert _apply("ExtractField$Key", settings, None, {"address": None}).key is None
    assert _apply("ExtractField$Key", settings, None, {}).key is None
    assert _apply("ExtractField$Value", {"field": "address.city"}, None, {"address.city": 1}).value == 1
    with pytest.raises(IllegalArgumentError, match=r"Unknown field: address\.town"):
        _apply("ExtractField$Value", {**settings, "field": "address.town"}, PERSON, _person())
    with pytest.raises(DataError, match="nested field access"):
        _apply("ExtractField$Value", {"field": "a.b", "field.syntax.version": "v2"}, None, {"a": 1})
    assert _apply("ExtractField$Value", {"field": "age"}, PERSON, _person()).value == 18


def test_flatten_joins_names() -> None:
    after = _apply("Flatten$Value", {"delimiter": "_"}, PERSON, _person())
    assert after.value.to_dict() == {"id": 1, "address_city": "Bern", "address_zip": None, "age": 18}
    assert after.value_schema is not None
    city, age = after.value_schema.field("address_city"), after.value_schema.field("age")
    assert city is not None
    assert age is not None
    assert (city.schema.optional, age.schema.default) == (True, 18)
    assert (after.value_schema.name, after.value_schema.version) == ("person", 3)
    without = _apply("Flatten$Value", {}, PERSON, Struct(PERSON, {"id": 1}))
    assert without.value.to_dict() == {"id": 1, "address.city": None, "address.zip": None, "age": 18}
    assert _apply("Flatten$Key", {}, None, {"a": {"b": None, "c": {}}, "d": [{"e": 1}]}).key == {
        "a.b": None, "d": [{"e": 1}],
    }  # fmt: skip


def test_flatten_refuses_maps_in_structs_and_unknown_classes() -> None:
    schema = SchemaBuilder.struct().field("m", SchemaBuilder.map(STRING_SCHEMA, STRING_SCHEMA).build()).build()
    message = _refused("Flatten$Value", {}, schema, Struct(schema, {"m": {}})).message
    assert message == "Flatten transformation does not support MAP for record with schemas (for field m)."
    assert "type set" in _refused("Flatten$Value", {}, None, {"a": {1}}).message


def test_header_from_copies_and_moves() -> None:
    settings = {"fields": "id, age", "headers": "i, a", "operation": "move"}
    after = _apply("HeaderFrom$Value", settings, PERSON, _person())
    assert list(after.headers) == [Header("i", 1, INT32_SCHEMA), Header("a", 18, PERSON.fields[2].schema)]
    assert after.value.to_dict() == {"address": {"city": "Bern", "zip": None}}
    kept = _apply("HeaderFrom$Value", {**settings, "operation": "copy"}, PERSON, _person())
    assert kept.value == _person()
    null = _apply("HeaderFrom$Value", {**settings, "replace.null.with.default": "false"}, PERSON, _person())
    assert null.headers[1].value is None
    missing = _apply("HeaderFrom$Key", settings, None, {"id": 1})
    assert [header.value for header in missing.headers] == [1, None]
    error = _refused("HeaderFrom$Value", {"fields": "x", "headers": "h", "operation": "copy"}, PERSON, _person())
    assert str(error) == "Field does not exist: x (for header h). Fields: id, address, age."


def test_hoist_field_wraps_anything() -> None:
    assert _apply("HoistField$Value", {"field": "f"}, None, None).value == {"f": None}
    after = _apply("HoistField$Key", {"field": "f"}, OPTIONAL_INT32_SCHEMA, None)
    assert after.key == Struct(SchemaBuilder.struct().field("f", OPTIONAL_INT32_SCHEMA).build())


def test_insert_field_adds_what_is_known_of_the_record() -> None:
    settings = {
        "topic.field": "t!",
        "partition.field": "p",
        "offset.field": "o?",
        "timestamp.field": "ts",
        "static.field": "s",
        "static.value": "x",
    }
    after = _apply("InsertField$Value", settings, PERSON, _person(), offset=7)
    assert after.value.values[3:] == ["t", 0, 7, from_millis(5), "x"]
    assert after.value.values[2] == 18
    assert after.value_schema is not None
    assert [field.schema.optional for field in after.value_schema.fields[3:]] == [False, True, True, True, True]
    plain = _apply("InsertField$Key", settings, None, {"a": 1}, offset=7)
    assert plain.key == {"a": 1, "t": "t", "p": 0, "o": 7, "ts": 5, "s": "x"}
    keep = {"topic.field": "t", "replace.null.with.default": "false"}
    assert _apply("InsertField$Value", keep, PERSON, _person()).value.values[2] is None


def test_insert_field_needs_something_to_insert() -> None:
    find = TRANSFORMS.find("InsertField$Value")
    with pytest.raises(ConfigError, match="No field insertion configured"):
        find({})
    with pytest.raises(ConfigError, match="No value specified for static field: s"):
        find({"static.field": "s"})
    with pytest.raises(DataError, match="Only SinkRecord supported"):
        find({"offset.field": "o"}).apply(SourceRecord("t", value={}))
    with pytest.raises(DataError, match="field name duplication id"):
        find({"topic.field": "id"}).apply(SinkRecord("t", value_schema=PERSON, value=_person()))


def test_mask_field_masks_by_type() -> None:
    fields = {
        "i": (INT8_SCHEMA, 5, 0), "f": (FLOAT32_SCHEMA, 1.5, 0.0), "s": (STRING_SCHEMA, "x", ""),
        "d": (decimal_schema(2), Decimal("1.50"), Decimal("0.00")), "t": (TIMESTAMP_SCHEMA, from_millis(9), from_millis(0)),
        "a": (SchemaBuilder.array(INT8_SCHEMA).build(), [1], []), "n": (OPTIONAL_STRING_SCHEMA, None, None),
    }  # fmt: skip
    builder = SchemaBuilder.struct()
    for name, (schema, _, _) in fields.items():
        builder.field(name, schema)
    struct_schema = builder.build()
    struct = Struct(struct_schema, {name: value for name, (_, value, _) in fields.items()})
    after = _apply("MaskField$Value", {"fields": ",".join(fields)}, struct_schema, struct)
    assert after.value.values == [mask for _, _, mask in fields.values()]
    after.value.validate()
    assert _apply("MaskField$Key", {"fields": "a,b,c,d"}, None, {"a": True, "b": {"x": 1}, "d": 5}).key == {
        "a": False, "b": {}, "c": None, "d": 0,
    }  # fmt: skip


@pytest.mark.parametrize(
    ("schema", "value", "replacement", "masked"),
    [
        (INT8_SCHEMA, 1, "100", 100),
        (FLOAT32_SCHEMA, 1.0, "0.1", to_float32(0.1)),
        (FLOAT64_SCHEMA, 1.0, "0.1", 0.1),
        (STRING_SCHEMA, "x", "***", "***"),
        (decimal_schema(2), Decimal("1.23"), "5", Decimal("5.00")),
    ],
)
def test_mask_field_replaces_in_the_type_of_the_field(
    schema: Schema, value: Any, replacement: str, masked: Any
) -> None:
    whole = SchemaBuilder.struct().field("a", schema).build()
    after = _apply("MaskField$Value", {"fields": "a", "replacement": replacement}, whole, Struct(whole, {"a": value}))
    assert after.value.values == [masked]
    after.value.validate()
    assert str(after.value.values[0]) == str(masked)


@pytest.mark.parametrize(
    ("value", "replacement", "reason"),
    [
        (1, "x", "Unable to convert x"),
        (1.5, "x", "Unable to convert x"),
        (Decimal(1), "x", "Unable to convert x"),
        (True, "1", "Cannot mask value of type bool with custom replacement"),
        ([1], "1", "Cannot mask value of type list"),
        (from_millis(0), "1", "Cannot mask value of type datetime"),
        (b"a", None, "Cannot mask value of type: bytes"),
        (Struct(PERSON), None, "Cannot mask value of type: Struct"),
    ],
)
def test_mask_field_refuses(value: Any, replacement: str | None, reason: str) -> None:
    settings = {"fields": "a"} if replacement is None else {"fields": "a", "replacement": replacement}
    assert reason in _refused("MaskField$Value", settings, None, {"a": value}).message


def test_mask_field_keeps_ranges_and_scales() -> None:
    for schema, value, replacement in ((INT8_SCHEMA, 1, "300"), (decimal_schema(1), Decimal("1.5"), "1.55")):
        whole = SchemaBuilder.struct().field("a", schema).build()
        settings = {"fields": "a", "replacement": replacement}
        assert "Unable to convert" in _refused("MaskField$Value", settings, whole, Struct(whole, {"a": value})).message
    with pytest.raises(ConfigError, match="String must be non-empty"):
        TRANSFORMS.find("MaskField$Value")({"fields": "a", "replacement": ""})


def test_replace_field_filters_by_old_names() -> None:
    settings = {"include": "id,age", "exclude": "age", "renames": "id:number"}
    after = _apply("ReplaceField$Value", settings, PERSON, _person())
    assert after.value.to_dict() == {"number": 1}
    assert after.value_schema is not None
    assert (after.value_schema.name, after.value_schema.version) == ("person", 3)
    with pytest.raises(ConfigError, match="Invalid rename mapping: a"):
        TRANSFORMS.find("ReplaceField$Value")({"renames": "a"})


def test_set_schema_metadata_keeps_the_rest() -> None:
    after = _apply("SetSchemaMetadata$Key", {"schema.version": "9"}, PERSON, _person())
    assert after.key_schema is not None
    assert (after.key_schema.name, after.key_schema.version) == ("person", 9)
    assert after.key.schema is after.key_schema
    assert after.key.values[2] == 18
    array = SchemaBuilder.array(INT8_SCHEMA).build()
    named = _apply("SetSchemaMetadata$Value", {"schema.name": "n"}, array, [1])
    assert named.value_schema == SchemaBuilder.array(INT8_SCHEMA).name("n").build()
    with pytest.raises(ConfigError, match="Neither schema name nor version configured"):
        TRANSFORMS.find("SetSchemaMetadata$Key")({})


def test_timestamp_converter_reads_and_writes_units() -> None:
    for unit, number in (
        ("seconds", -1),
        ("milliseconds", -1001),
        ("microseconds", -1_001_999),
        ("nanoseconds", -1_001_999_999),
    ):
        settings = {"target.type": "Timestamp", "unix.precision": unit}
        millis = -1000 if unit == "seconds" else -1001
        assert _apply("TimestampConverter$Value", settings, None, number).value == from_millis(millis)
        back = {"target.type": "unix", "unix.precision": unit}
        expected = {"seconds": -1, "milliseconds": -1001, "microseconds": -1_001_000, "nanoseconds": -1_001_000_000}
        assert _apply("TimestampConverter$Value", back, None, from_millis(-1001)).value == expected[unit]


def test_timestamp_converter_converts_defaults_of_structs() -> None:
    plain = SchemaBuilder.struct().field("ts", INT64_SCHEMA).build()
    whole = Schema(Type.STRUCT, optional=True, default=Struct(plain, {"ts": 5}), fields=plain.fields)
    settings = {"field": "ts", "target.type": "Timestamp"}
    after = _apply("TimestampConverter$Value", settings, whole, None)
    assert after.value is None
    assert after.value_schema is not None
    assert after.value_schema.optional
    assert after.value_schema.default.values == [from_millis(5)]
    missing = _apply("TimestampConverter$Value", {**settings, "field": "x"}, plain, Struct(plain, {"ts": 5}))
    assert missing.value.values == [5]


@pytest.mark.parametrize(
    ("schema", "value", "settings", "reason"),
    [
        (INT32_SCHEMA, 5, {"target.type": "unix"}, "does not correspond to a known timestamp type format"),
        (None, 1.5, {"target.type": "unix"}, "does not support float objects as timestamps"),
        (None, True, {"target.type": "unix"}, "does not support bool"),
        (
            STRING_SCHEMA,
            "x",
            {"target.type": "unix", "format": "yyyy"},
            "Could not parse timestamp: value (x) does not match",
        ),
        (None, "2024", {"target.type": "unix"}, "has no format to read it"),
        (STRING_SCHEMA, 5, {"target.type": "unix", "format": "yyyy"}, "Expected string timestamp to be a str"),
        (INT64_SCHEMA, "x", {"target.type": "unix"}, "Expected Unix timestamp to be an int"),
        (DATE_SCHEMA, 5, {"target.type": "unix"}, "Expected the timestamp to be a datetime"),
        (None, 2**62, {"target.type": "Timestamp"}, "not within the years"),
    ],
)
def test_timestamp_converter_refuses(schema: Schema | None, value: Any, settings: dict[str, str], reason: str) -> None:
    assert reason in _refused("TimestampConverter$Value", settings, schema, value).message


def test_timestamp_converter_checks_its_format() -> None:
    find = TRANSFORMS.find("TimestampConverter$Value")
    with pytest.raises(ConfigError, match="requires format option"):
        find({"target.type": "string"})
    with pytest.raises(ConfigError, match=r"SimpleDateFormat-compatible pattern.*Illegal pattern character 'b'"):
        find({"target.type": "string", "format": "bad"})
    with pytest.raises(ConfigError, match="String must be one of: string, unix, Date, Time, Timestamp"):
        find({"target.type": "timestamp"})


def test_value_to_key_follows_paths() -> None:
    settings = {"fields": "id,address.city", "field.syntax.version": "V2"}
    after = _apply("ValueToKey", settings, PERSON, _person())
    assert after.key.to_dict() == {"id": 1, "address.city": "Bern"}
    assert after.key_schema is not None
    assert after.key_schema.name is None
    with pytest.raises(ConfigError, match="Duplicate"):
        TRANSFORMS.find("ValueToKey")({"fields": "a,a"})
    error = _refused("ValueToKey", {"fields": "x"}, PERSON, _person())
    assert str(error) == "Field does not exist: x. Fields of the value: id, address, age."
