"""Columns in which neighbours are often one and the same object, as keys and states of the windows of one record are."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from itertools import accumulate, chain, compress
from operator import is_, is_not
from typing import Any

# Where records have several windows each, the first few rows show it.
_SHOWN = 16

ColumnEncoder = Callable[[Any], list["bytes | None"]]


def encode_shared(encode: ColumnEncoder, column: Sequence[Any]) -> list[bytes | None]:
    """What `encode` makes of a column, each run of one object serialised once.

    >>> row = {"a": 1}
    >>> encode_shared(lambda column: [str(value).encode() for value in column], [row, row, "b"])
    [b"{'a': 1}", b"{'a': 1}", b'b']
    """
    if not any(map(is_, column[:_SHOWN], column[1:_SHOWN])):
        return encode(column)
    first_of_run = list(map(is_not, column, chain((_NOTHING,), column)))
    encoded = encode(list(compress(column, first_of_run)))
    places = accumulate(first_of_run, initial=-1)
    next(places)
    return [encoded[place] for place in places]


_NOTHING = object()
