from __future__ import annotations

import pickle
from decimal import Decimal

import pytest

from penstock.connect.data import (
    INT32_SCHEMA,
    OPTIONAL_INT32_SCHEMA,
    OPTIONAL_STRING_SCHEMA,
    STRING_SCHEMA,
    Field,
    Schema,
    SchemaBuilder,
    Struct,
    Type,
    decimal_schema,
)
from penstock.connect.errors import DataError, SchemaBuilderError


def _order() -> Schema:
    return (
        SchemaBuilder.struct()
        .name("order")
        .version(2)
        .doc("An order.")
        .parameter("owner", "shop")
        .field("id", INT32_SCHEMA)
        .field("note", OPTIONAL_STRING_SCHEMA)
        .build()
    )


def test_a_schema_says_what_was_built() -> None:
    schema = _order()
    assert (schema.type, schema.optional, schema.name, schema.version) == (Type.STRUCT, False, "order", 2)
    assert (schema.doc, dict(schema.parameters or {})) == ("An order.", {"owner": "shop"})
    assert schema.fields == (Field("id", 0, INT32_SCHEMA), Field("note", 1, OPTIONAL_STRING_SCHEMA))
    assert schema.field("note") == schema.fields[1]
    assert schema.field("missing") is None


def test_schemas_are_equal_by_what_they_say() -> None:
    assert _order() == _order()
    assert hash(_order()) == hash(_order())
    assert _order() != SchemaBuilder.struct().field("id", INT32_SCHEMA).build()
    assert INT32_SCHEMA != OPTIONAL_INT32_SCHEMA
    assert Schema(Type.INT32, default=1) != Schema(Type.INT32, default=2)
    assert decimal_schema(2) != decimal_schema(3)
    assert INT32_SCHEMA != "int32"


def test_schemas_travel_to_other_processes() -> None:
    schema = SchemaBuilder.struct().field("price", decimal_schema(2, default=Decimal("1.00"))).build()
    copy = pickle.loads(pickle.dumps(schema))
    assert copy == schema
    struct = Struct(schema, {"price": Decimal("2.50")})
    assert pickle.loads(pickle.dumps(struct)) == struct


def test_a_schema_cannot_be_changed() -> None:
    with pytest.raises(AttributeError, match="build another one to set optional"):
        INT32_SCHEMA.optional = True
    with pytest.raises(TypeError):
        _order().parameters["owner"] = "x"  # type: ignore[index]


def test_only_structs_have_fields() -> None:
    with pytest.raises(DataError, match="Cannot list fields on non-struct type"):
        _ = STRING_SCHEMA.fields
    with pytest.raises(DataError, match="Cannot look up fields on non-struct type"):
        STRING_SCHEMA.field("a")


def test_a_property_is_set_once() -> None:
    with pytest.raises(SchemaBuilderError, match="optional has already been set"):
        SchemaBuilder.int32().optional().required()
    with pytest.raises(SchemaBuilderError, match="name has already been set"):
        SchemaBuilder.int32().name("a").name("b")


def test_fields_have_names_of_their_own() -> None:
    builder = SchemaBuilder.struct().field("a", INT32_SCHEMA)
    with pytest.raises(SchemaBuilderError, match="field name duplication a"):
        builder.field("a", INT32_SCHEMA)
    with pytest.raises(SchemaBuilderError, match="cannot be null"):
        builder.field("", INT32_SCHEMA)
    with pytest.raises(SchemaBuilderError, match="Cannot create fields on type INT32"):
        SchemaBuilder.int32().field("a", INT32_SCHEMA)


def test_a_default_fits_its_schema() -> None:
    assert SchemaBuilder.int8().default(12).build().default == 12
    with pytest.raises(SchemaBuilderError, match="Invalid default value"):
        SchemaBuilder.int8().default("12")
    with pytest.raises(SchemaBuilderError, match="Invalid default value") as caught:
        SchemaBuilder.int8().default(300)
    assert isinstance(caught.value, DataError)


def test_a_schema_prints_what_matters() -> None:
    assert repr(SchemaBuilder.string().name("city").optional().default("?").build()) == (
        "Schema{city:STRING} optional default='?'"
    )
    assert "name='id', index=0" in repr(_order().fields[0])
    assert _order().fields[0] != "id"
    assert hash(_order().fields[0]) == hash(_order().fields[0])
