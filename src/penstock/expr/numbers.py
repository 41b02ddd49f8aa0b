"""Number functions, with the results Spark SQL gives: rounding half up, NaN and infinity where Java has them."""

from __future__ import annotations

import math
from decimal import ROUND_HALF_UP, Context, Decimal
from typing import Any

from penstock.expr.expression import Expression, call
from penstock.expr.registry import FunctionEntry, define

define(FunctionEntry("abs", "number_abs({0})"), number_abs=abs)
define(FunctionEntry("floor", "number_floor({0})"), number_floor=math.floor)
define(FunctionEntry("ceil", "number_ceil({0})"), number_ceil=math.ceil)


def abs_(number: object) -> Expression:
    """The number without its sign."""
    return call("abs", number)


def floor(number: object) -> Expression:
    """The largest whole number that is not greater."""
    return call("floor", number)


def ceil(number: object) -> Expression:
    """The smallest whole number that is not less."""
    return call("ceil", number)


def _round(number: Any, digits: int = 0) -> Any:
    if isinstance(number, int):
        return number if digits >= 0 else int(_half_up(Decimal(number), digits))
    if isinstance(number, Decimal):
        return _half_up(number, digits)
    return float(_half_up(Decimal(repr(number)), digits)) if math.isfinite(number) else number


def _half_up(number: Decimal, digits: int) -> Decimal:
    # Wide enough for every double: quantize fails where the result has more digits than the context allows.
    exponent = number.as_tuple().exponent
    if not isinstance(exponent, int) or exponent >= -digits:
        return number
    return _WIDE.quantize(number, Decimal(1).scaleb(-digits))


_WIDE = Context(prec=700, rounding=ROUND_HALF_UP)

define(FunctionEntry("round", "number_round({args})"), number_round=_round)


def round_(number: object, digits: object = 0) -> Expression:
    """The number rounded to decimal digits, halves away from zero: 2.5 becomes 3, -2.5 becomes -3."""
    return call("round", number, digits)


def _sqrt(number: Any) -> float:
    return math.sqrt(number) if number >= 0 else math.nan


def _pow(base: Any, exponent: Any) -> float:
    try:
        return math.pow(base, exponent)
    except OverflowError:
        odd = float(exponent).is_integer() and exponent % 2 == 1
        return -math.inf if base < 0 and odd else math.inf
    except ValueError:
        if base != 0:
            return math.nan  # a root of a negative number
        odd = float(exponent).is_integer() and exponent % 2 == 1
        return math.copysign(math.inf, base) if odd else math.inf


def _mod(number: Any, divisor: Any) -> Any:
    if isinstance(number, float) or isinstance(divisor, float):
        if divisor == 0:
            raise ZeroDivisionError("division by zero")
        return math.fmod(number, divisor)
    remainder = abs(number) % abs(divisor)
    return -remainder if number < 0 else remainder


def _sign(number: Any) -> float:
    return float((number > 0) - (number < 0)) if number == number else math.nan  # noqa: PLR0124 - NaN


def _log(number: Any) -> float | None:
    return math.log(number) if number > 0 else None


def _exp(number: Any) -> float:
    try:
        return math.exp(number)
    except OverflowError:
        return math.inf


define(FunctionEntry("sqrt", "number_sqrt({0})"), number_sqrt=_sqrt)
define(FunctionEntry("pow", "number_pow({0}, {1})"), number_pow=_pow)
define(FunctionEntry("mod", "number_mod({0}, {1})"), number_mod=_mod)
define(FunctionEntry("sign", "number_sign({0})"), number_sign=_sign)
define(FunctionEntry("log", "number_log({0})"), number_log=_log)
define(FunctionEntry("exp", "number_exp({0})"), number_exp=_exp)


def sqrt(number: object) -> Expression:
    """The square root; NaN for a negative number."""
    return call("sqrt", number)


def pow_(base: object, exponent: object) -> Expression:
    """The power, always a float."""
    return call("pow", base, exponent)


def mod(number: object, divisor: object) -> Expression:
    """The remainder with the sign of the number, as SQL has it; the operator `%` has Python's."""
    return call("mod", number, divisor)


def sign(number: object) -> Expression:
    """-1.0, 0.0 or 1.0."""
    return call("sign", number)


def log(number: object) -> Expression:
    """The natural logarithm; null for zero and negative numbers."""
    return call("log", number)


def exp(number: object) -> Expression:
    """The number e raised to a power."""
    return call("exp", number)


def _greatest(*values: Any) -> Any:
    return max((value for value in values if value is not None), default=None)


def _least(*values: Any) -> Any:
    return min((value for value in values if value is not None), default=None)


define(FunctionEntry("greatest", "value_greatest({args})", propagates_null=False), value_greatest=_greatest)
define(FunctionEntry("least", "value_least({args})", propagates_null=False), value_least=_least)


def greatest(first: object, second: object, *others: object) -> Expression:
    """The greatest of the values that are not null."""
    return call("greatest", first, second, *others)


def least(first: object, second: object, *others: object) -> Expression:
    """The least of the values that are not null."""
    return call("least", first, second, *others)
