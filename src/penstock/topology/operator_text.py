"""A short text of what an operator does, for descriptions."""

from __future__ import annotations

from dataclasses import fields

from penstock.functions import Function
from penstock.topology.operators import Aggregation, Operator


def operator_summary(operator: Operator) -> str:
    """The operator's kind, and the functions it calls.

    >>> from penstock.topology.operators import Filter
    >>> operator_summary(Filter(Function(str.isdigit, ("value",), "str.isdigit")))
    'Filter(str.isdigit)'
    """
    texts = []
    for field in fields(operator):  # type: ignore[arg-type]
        value = getattr(operator, field.name)
        if isinstance(value, Function):
            texts.append(value.text)
        elif isinstance(value, Aggregation):
            texts.append(value.aggregator.text or value.kind)
        elif isinstance(value, tuple) and value and isinstance(value[0], Function):
            texts.extend(function.text for function in value)
    return f"{type(operator).__name__}({', '.join(texts)})" if texts else type(operator).__name__
