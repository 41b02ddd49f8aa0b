"""Expressions: deferred computations on a record, compiled to Python functions."""

from penstock.expr import access, casts, fn, operators  # noqa: F401 - the families fill the table of functions
from penstock.expr.aggregate import Aggregate, aggregate_all
from penstock.expr.compiler import CompiledExpression, compile_expression
from penstock.expr.errors import ExpressionError
from penstock.expr.expression import Expression, k, ts, v

__all__ = [
    "Aggregate",
    "CompiledExpression",
    "Expression",
    "ExpressionError",
    "aggregate_all",
    "compile_expression",
    "fn",
    "k",
    "ts",
    "v",
]
