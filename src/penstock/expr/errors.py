"""The error of expressions that fail on a record."""

from __future__ import annotations

from penstock.errors import PenstockError


class ExpressionError(PenstockError):
    """An expression could not be evaluated; the text names the part that failed and the values it had."""
