from __future__ import annotations

from decimal import Decimal
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from penstock.connect.data import DATE_NAME, DECIMAL_NAME, TIME_NAME, TIMESTAMP_NAME, Type, parse_string, value_text
from penstock.connect.data.java_numbers import to_float32
from penstock.connect.data.logical import from_millis
from penstock.connect.data.tokens import Tokens


@pytest.mark.parametrize(
    ("text", "kind", "value"),
    [
        ("true", Type.BOOLEAN, True),
        (" false\t", Type.BOOLEAN, False),
        ("127", Type.INT8, 127),
        ("-128", Type.INT8, -128),
        ("128", Type.INT16, 128),
        ("32768", Type.INT32, 32768),
        ("2147483648", Type.INT64, 2147483648),
        ("9223372036854775807", Type.INT64, 2**63 - 1),
        ("-9223372036854775808", Type.INT64, -(2**63)),
        ("+5", Type.INT8, 5),
        ("1.0", Type.INT8, 1),
        ("1e2", Type.INT8, 100),
        ("0.0", Type.INT8, 0),
        ("300.01", Type.FLOAT32, to_float32(300.01)),
        ("0.5", Type.FLOAT32, 0.5),
        ("1e-400", Type.FLOAT32, 0.0),
        ("3.4028235E38", Type.FLOAT32, to_float32(3.4028235e38)),
        ("1.7976931348623157E308", Type.FLOAT64, 1.7976931348623157e308),
    ],
)
def test_numbers_take_the_smallest_type(text: str, kind: Type, value: Any) -> None:
    schema, found = parse_string(text)
    assert schema is not None
    assert (schema.type, found, type(found)) == (kind, value, type(value))


@pytest.mark.parametrize("text", ["9223372036854775808", "-9223372036854775809", "1e400", "1e+100000000"])
def test_numbers_no_type_holds_are_decimals(text: str) -> None:
    schema, value = parse_string(text)
    assert schema is not None
    assert (schema.name, value) == (DECIMAL_NAME, Decimal(text))


@pytest.mark.parametrize(
    "text",
    [
        "",
        "  ",
        "abc",
        "a b",
        "null=",
        "true}",
        "nulls",
        '"quoted"',
        "[foo]",
        "[1, 2",
        "[1 2]",
        "[1,,2]",
        "[,1]",
        "[1, null]",
        "[null, 1]",
        "[0 1 2]",
        "{foo: 3}",
        "{3: foo}",
        "{3 4}",
        "{6:9 4:20}",
        '{"a":1 "b":2}',
        "{null: 1}",
        "{,}",
        '{"a":1,,"b":2}',
        '{"a":1',
        "{[1]: 2}",
        "1,2",
        "12:30",
        "1.2.3",
        "1_000",
        "0x10",
        "2019-99",
        "-",
        "+-1",
        "[1] [2]",
        ":",
        "]",
    ],
)
def test_anything_else_stays_text(text: str) -> None:
    schema, value = parse_string(text)
    assert schema is not None
    assert (schema.type, value) == (Type.STRING, text)


@pytest.mark.parametrize("text", [None, "null", " null "])
def test_null_has_no_schema(text: str | None) -> None:
    assert parse_string(text) == (None, None)


@pytest.mark.parametrize(
    ("text", "name", "millis"),
    [
        ("2019-08-23", DATE_NAME, 1566518400000),
        ("14:34:54.346Z", TIME_NAME, 52494346),
        ("14\\:34\\:54.346Z", TIME_NAME, 52494346),
        ("2019-08-23T14:34:54.346Z", TIMESTAMP_NAME, 1566570894346),
    ],
)
def test_dates_and_times_in_iso_form(text: str, name: str, millis: int) -> None:
    schema, value = parse_string(text)
    assert schema is not None
    assert (schema.name, value) == (name, from_millis(millis))


def test_dates_inside_lists_and_maps() -> None:
    schema, value = parse_string('[2019-08-23T14:34:54.346Z, "2019-08-23T14:34:54.347Z"]')
    assert schema is not None
    assert schema.value_schema is not None
    assert (schema.value_schema.name, len(value)) == (TIMESTAMP_NAME, 2)
    keys, _ = parse_string('{"2019-08-23": 1}')
    assert keys is not None
    assert keys.key_schema is not None
    assert keys.key_schema.name == DATE_NAME


@pytest.mark.parametrize(
    ("text", "value", "element"),
    [
        ("[]", [], None),
        ("[null]", [None], None),
        ("[1, 2, 70000]", [1, 2, 70000], Type.INT32),
        ("[1, 2.5]", [1.0, 2.5], Type.FLOAT32),
        ("[70000, 1]", [70000, 1], Type.INT32),
        ('["a", "b, c"]', ["a", "b, c"], Type.STRING),
        ('[1, "a"]', [1, "a"], None),
        ('["a", 1, "b"]', ["a", 1, "b"], None),
        ("[[1], [2]]", [[1], [2]], Type.ARRAY),
        ("[true, false]", [True, False], Type.BOOLEAN),
        ("[1,]", [1], Type.INT8),
        ('[1, "2019-08-23"]', [1, from_millis(1566518400000)], None),
    ],
)
def test_lists_have_the_schema_their_elements_share(text: str, value: list[Any], element: Type | None) -> None:
    schema, found = parse_string(text)
    assert schema is not None
    assert schema.type is Type.ARRAY
    assert (found, list(map(type, found))) == (value, list(map(type, value)))
    assert (schema.value_schema.type if schema.value_schema is not None else None) is element


@pytest.mark.parametrize(
    ("text", "value", "key", "entry"),
    [
        ("{}", {}, None, None),
        ('{"a": 1, "b": 300}', {"a": 1, "b": 300}, Type.STRING, Type.INT16),
        ('{ "foo" : "123", \n"bar" : "baz" } ', {"foo": "123", "bar": "baz"}, Type.STRING, Type.STRING),
        ("{3: null}", {3: None}, Type.INT8, None),
        ('{"a": 1, "b": "c"}', {"a": 1, "b": "c"}, Type.STRING, None),
        ('{1: 2, "a": 3}', {1: 2, "a": 3}, None, None),
        ('{"a": {"b": [1]}}', {"a": {"b": [1]}}, Type.STRING, Type.MAP),
    ],
)
def test_maps_have_the_schemas_they_share(text: str, value: Any, key: Type | None, entry: Type | None) -> None:
    schema, found = parse_string(text)
    assert schema is not None
    assert (schema.type, found) == (Type.MAP, value)
    assert (schema.key_schema.type if schema.key_schema is not None else None) is key
    assert (schema.value_schema.type if schema.value_schema is not None else None) is entry


texts = st.text(alphabet=st.characters(exclude_characters='\\"', exclude_categories=["Cs"])).filter(
    lambda text: parse_string(f'["{text}"]').value == [text]
)
scalars = st.one_of(st.booleans(), st.integers(min_value=-(2**63), max_value=2**63 - 1), texts)


@given(st.recursive(scalars, lambda inner: st.one_of(st.lists(inner), st.dictionaries(texts, inner)), max_leaves=8))
def test_lists_and_maps_that_are_written_read_back(value: Any) -> None:
    if isinstance(value, (list, dict)):
        assert parse_string(value_text(None, value)).value == value


@given(st.text())
def test_any_text_gives_something(text: str) -> None:
    parse_string(text)


@given(st.text(alphabet='0123456789:,{}[]"\\ .-TZtrue'))
def test_any_near_miss_gives_something(text: str) -> None:
    schema, value = parse_string(text)
    assert schema is not None or value is None


@pytest.mark.parametrize(
    ("text", "tokens"),
    [
        ("a { b c } d", ["a ", "{", " b c ", "}", " d"]),
        ('"simple" string', ['"', "simple", '"', " string"]),
        ("si\\\\:mple", ["si\\\\", ":", "mple"]),
        ("si\\:mple", ["si\\:mple"]),
    ],
)
def test_tokens(text: str, tokens: list[str]) -> None:
    reader = Tokens(text)
    found = []
    while reader.has_next():
        found.append(reader.next())
    assert found == tokens
    assert reader.next() == ""
