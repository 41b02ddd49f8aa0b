from __future__ import annotations

import json
import math
import pickle
import subprocess
import sys
from collections import Counter, OrderedDict, defaultdict
from dataclasses import dataclass, field
from datetime import date, datetime, timedelta, timezone
from decimal import Decimal
from enum import Enum
from types import MappingProxyType
from typing import Any, NamedTuple
from uuid import UUID

import msgspec
import pydantic
import pytest
from hypothesis import given
from hypothesis import strategies as st
from typing_extensions import TypedDict

from penstock.errors import SerdeError
from penstock.serde import Serdes

JSON = Serdes.json()


class Point(NamedTuple):
    x: Any
    y: Any


class Colour(Enum):
    RED = "red"


class Name(str, Enum):
    A = "a"


@dataclass
class Trade:
    ticker: str
    price: float
    _internal: int = 0
    tags: list[str] = field(default_factory=list)


class Order(msgspec.Struct):
    id: int
    note: str | None = None


class User(pydantic.BaseModel):
    model_config = pydantic.ConfigDict(populate_by_name=True)
    name: str
    age: int = pydantic.Field(alias="years")


class Row(TypedDict):
    a: int
    b: str


class Pair(NamedTuple):
    left: int
    right: str


@pytest.mark.parametrize(
    ("value", "data"),
    [
        ({"b": 1, "a": [True, None, 1.5, "ü"]}, '{"a":[true,null,1.5,"ü"],"b":1}'),
        ("text", '"text"'),
        (0, "0"),
        (False, "false"),
        ([], "[]"),
        (2**63, "9223372036854775808"),
        ({"big": 2**70, "a": "ü"}, '{"a":"ü","big":1180591620717411303424}'),
        ({"b": -(2**63) - 1}, '{"b":-9223372036854775809}'),
    ],
)
def test_json_values_round_trip(value: Any, data: str) -> None:
    assert JSON.serialize("t", value) == data.encode()
    assert JSON.deserialize("t", data.encode()) == value


@pytest.mark.parametrize(
    ("value", "data"),
    [
        (Decimal("1.10"), '"1.10"'),
        (datetime(2024, 1, 2, 3, 4, 5, tzinfo=timezone.utc), '"2024-01-02T03:04:05+00:00"'),
        (date(2024, 1, 2), '"2024-01-02"'),
        (UUID(int=1), '"00000000-0000-0000-0000-000000000001"'),
        (Colour.RED, '"red"'),
        ({3, 1, 2}, "[1,2,3]"),
        (frozenset("ba"), '["a","b"]'),
        ({Decimal(2), Decimal(1)}, '["1","2"]'),
        (Point(1, 2), "[1,2]"),
        ((1, (2,)), "[1,[2]]"),
        (Trade("A", 1.5), '{"_internal":0,"price":1.5,"tags":[],"ticker":"A"}'),
        (Order(1), '{"id":1,"note":null}'),
        (User(name="a", years=3), '{"name":"a","years":3}'),
        (OrderedDict(b=1, a=2), '{"a":2,"b":1}'),
        (defaultdict(int, a=1), '{"a":1}'),
        (Counter("aa"), '{"a":2}'),
        (MappingProxyType({"a": 1}), '{"a":1}'),
        ({Name.A: 1}, '{"a":1}'),
        ({"x": [2**70, Decimal(1), Point(1, 2), Trade("A", 1.0), date(2024, 1, 2), Colour.RED, {1}]}, None),
    ],
)
def test_python_values_with_a_json_form(value: Any, data: str | None) -> None:
    written = JSON.serialize("t", value)
    assert written is not None
    if data is None:
        data = (
            '{"x":[1180591620717411303424,"1",[1,2],{"_internal":0,"price":1.0,"tags":[],"ticker":"A"},'
            '"2024-01-02","red",[1]]}'
        )
    assert written == data.encode()


NO_JSON: list[tuple[Any, str]] = [
    (
        {"a": [1, math.nan]},
        (
            "the json serde cannot write dict {'a': [1, nan]} to topic x: value['a'][1] is nan, which JSON does not have. "
            'Map it to None, or use the "double" serde.'
        ),
    ),
    (
        math.inf,
        (
            "the json serde cannot write float inf to topic x: value is inf, which JSON does not have. "
            'Map it to None, or use the "double" serde.'
        ),
    ),
    (
        {"a": {1: 2}},
        (
            "the json serde cannot write dict {'a': {1: 2}} to topic x: value['a'] has the int key 1, and JSON objects "
            "have text keys only. Use str(key); it would come back as text anyway."
        ),
    ),
    (
        {"a": b"1"},
        (
            "the json serde cannot write dict {'a': b'1'} to topic x: value['a'] is a bytes, which has no JSON form. "
            'Use the "bytes" serde, or base64 text inside JSON.'
        ),
    ),
    (
        [timedelta(1)],
        (
            "the json serde cannot write list [datetime.timedelta(days=1)] to topic x: value[0] is a timedelta, which has "
            "no JSON form. Map it to a dict, list, text, number, bool or None, or use a serde of your own."
        ),
    ),
    (
        {"a": Decimal("NaN")},
        (
            "the json serde cannot write dict {'a': Decimal('NaN')} to topic x: value['a'] is NaN, which JSON does not "
            "have. Map it to None or to a text."
        ),
    ),
    (
        1j,
        (
            "the json serde cannot write complex 1j to topic x: value is a complex, which has no JSON form. "
            "Map it to a list of two numbers."
        ),
    ),
]


@pytest.mark.parametrize(("value", "message"), NO_JSON)
def test_values_without_a_json_form_are_refused_with_their_place(value: Any, message: str) -> None:
    with pytest.raises(SerdeError) as caught:
        JSON.serialize("x", value)
    assert str(caught.value) == message


def test_surrogates_and_cycles_are_refused() -> None:
    with pytest.raises(SerdeError, match=r"value\['a'\] holds a surrogate"):
        JSON.serialize("x", {"a": "\ud800"})
    with pytest.raises(SerdeError, match="value holds a surrogate"):
        JSON.serialize("x", {"\ud800": 1})
    cycle: list[Any] = []
    cycle.append(cycle)
    with pytest.raises(SerdeError, match="nested too deeply or holds itself"):
        JSON.serialize("x", cycle)


def test_nan_is_refused_inside_every_container() -> None:
    for value in ((math.nan,), {"a": Trade("null", math.nan)}, Point(None, math.nan)):
        with pytest.raises(SerdeError, match="which JSON does not have"):
            JSON.serialize("x", value)


def test_the_text_null_reads_as_none() -> None:
    assert JSON.deserialize("t", b"null") is None


@pytest.mark.parametrize("data", [b"", b"{", b"NaN", b"\xff", b"[1,]", b'{"a":12345678901234567890123, "b":NaN}'])
def test_bytes_that_are_no_json(data: bytes) -> None:
    with pytest.raises(SerdeError, match=f"the json serde cannot read {len(data)} bytes of topic x: "):
        JSON.deserialize("x", data)


@pytest.mark.parametrize("number", [2**63 - 1, 2**63, 2**64 - 1, 2**64, -(2**63), -(2**63) - 1, 10**30])
def test_integers_stay_exact(number: int) -> None:
    assert JSON.deserialize("t", JSON.serialize("t", {"n": [number]})) == {"n": [number]}


def test_equal_dicts_have_equal_bytes_unless_asked_otherwise() -> None:
    a, b = {"x": {"p": 1, "q": 2}, "y": 3}, {"y": 3, "x": {"q": 2, "p": 1}}
    assert JSON.serialize("t", a) == JSON.serialize("t", b)
    unsorted = Serdes.json(sort_keys=False)
    assert unsorted.serialize("t", b) == b'{"y":3,"x":{"q":2,"p":1}}'
    assert unsorted.serialize("t", {"y": 2**70, "x": 1}) == b'{"y":1180591620717411303424,"x":1}'


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False, allow_infinity=False) | st.text(),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(), inner, max_size=4),
)


@given(json_values)
def test_every_json_value_round_trips(value: Any) -> None:
    data = JSON.serialize("t", value)
    if value is None:
        assert data is None
    else:
        assert data is not None
        assert JSON.deserialize("t", data) == value
        assert json.loads(data) == value


@pytest.mark.parametrize(
    ("kind", "value", "data"),
    [
        (Trade, Trade("A", 1.5, 7, ["x"]), b'{"_internal":7,"price":1.5,"tags":["x"],"ticker":"A"}'),
        (Order, Order(1, "n"), b'{"id":1,"note":"n"}'),
        (Order, Order(1), b'{"id":1,"note":null}'),
        (User, User(name="a", years=3), b'{"name":"a","years":3}'),
        (Row, {"b": "x", "a": 1}, b'{"a":1,"b":"x"}'),
        (Pair, Pair(1, "x"), b'[1,"x"]'),
        (list[Trade], [Trade("A", 1.5)], b'[{"_internal":0,"price":1.5,"tags":[],"ticker":"A"}]'),
        (dict[str, User], {"u": User(name="a", years=3)}, b'{"u":{"name":"a","years":3}}'),
    ],
)
def test_typed_values_round_trip(kind: Any, value: Any, data: bytes) -> None:
    serde = pickle.loads(pickle.dumps(Serdes.json(kind)))
    assert serde.serialize("t", value) == data
    read = serde.deserialize("t", data)
    assert read == value
    assert type(read) is type(value)
    assert serde.serialize("t", None) is None
    assert serde.deserialize("t", None) is None


def test_typed_values_are_checked() -> None:
    with pytest.raises(SerdeError, match=r"cannot read 14 bytes of topic x: .*missing required field `price`"):
        Serdes.json(Trade).deserialize("x", b'{"ticker":"A"}')
    with pytest.raises(SerdeError, match="Field required"):
        Serdes.json(User).deserialize("x", b'{"name":"a"}')
    with pytest.raises(SerdeError, match=r"cannot write dict \{'ticker': 'A'\} to topic x.*Map it to Trade first"):
        Serdes.json(Trade).serialize("x", {"ticker": "A"})
    with pytest.raises(SerdeError, match=r"value\['price'\] is nan, which JSON does not have"):
        Serdes.json(Trade).serialize("x", Trade("A", math.nan))


def test_a_type_without_a_json_form_fails_when_the_serde_is_made() -> None:
    with pytest.raises(SerdeError, match=r"Serdes.json\(type="):
        Serdes.json(dict[complex, list[int] | dict[str, int] | set[str]])


def test_importing_serdes_and_expressions_imports_no_heavy_library() -> None:
    code = (
        "import sys, penstock.expr, penstock.serde as s; s.Serdes.json().serialize('t', {'a': 1}); "
        "print([m for m in ('msgspec', 'pydantic', 'pyspark', 'pyarrow') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.strip() == "[]"


def test_a_missing_library_is_named_with_the_command(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "msgspec", None)
    with pytest.raises(SerdeError) as caught:
        Serdes.json(Trade)
    assert str(caught.value) == (
        'Serdes.json(type=Trade) needs msgspec, which is not installed. Install it with: pip install "penstock[msgspec]".'
    )
