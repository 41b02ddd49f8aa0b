from __future__ import annotations

from typing import Any

import pytest

from penstock.errors import SerdeError
from penstock.serde import Serdes


def test_functions_never_see_null() -> None:
    serde = Serdes.from_functions(lambda number: str(number).encode(), int, name="decimal text")
    assert serde.serialize("t", 12) == b"12"
    assert serde.deserialize("t", b"12") == 12
    assert serde.serialize("t", None) is None
    assert serde.deserialize("t", None) is None
    assert serde.name == "decimal text"


def test_errors_of_functions_are_serde_errors() -> None:
    serde = Serdes.from_functions(lambda value: value, int)
    with pytest.raises(SerdeError) as caught:
        serde.deserialize("x", b"abc")
    assert "the custom serde cannot read 3 bytes of topic x: ValueError: invalid literal" in str(caught.value)
    assert isinstance(caught.value.__cause__, ValueError)
    with pytest.raises(SerdeError, match=r"its function returned int 5\. Return bytes\."):
        serde.serialize("x", 5)


def test_a_serde_error_of_a_function_passes_through() -> None:
    mine = SerdeError("mine")

    def fail(value: Any) -> bytes:
        raise mine

    with pytest.raises(SerdeError) as caught:
        Serdes.from_functions(fail, fail).serialize("x", 5)
    assert caught.value is mine


def test_functions_must_be_functions() -> None:
    with pytest.raises(SerdeError, match="deserialize is 5, not a function"):
        Serdes.from_functions(str.encode, 5)  # type: ignore[arg-type]
