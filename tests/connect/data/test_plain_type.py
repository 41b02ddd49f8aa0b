from __future__ import annotations

from collections import OrderedDict

from penstock.connect.data import Type
from penstock.connect.data.plain_type import plain_type


def test_subclasses_count_as_what_they_are() -> None:
    assert plain_type(OrderedDict()) is Type.MAP
    assert plain_type(True) is Type.BOOLEAN
    assert plain_type((1,)) is Type.ARRAY
    assert plain_type({1}) is None
