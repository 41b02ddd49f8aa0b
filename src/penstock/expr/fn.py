"""The functions of expressions: `from penstock import fn`."""

# ruff: noqa: A004 - used as fn.sum, so nothing is hidden

from penstock.expr.aggregates import (
    avg,
    collect,
    collect_set,
    count,
    count_distinct,
    first,
    last,
    stddev,
)
from penstock.expr.aggregates import max_ as max
from penstock.expr.aggregates import min_ as min
from penstock.expr.aggregates import sum_ as sum
from penstock.expr.conditionals import coalesce, if_, nullif, when
from penstock.expr.numbers import abs_ as abs
from penstock.expr.numbers import ceil, exp, floor, greatest, least, log, mod, sign, sqrt
from penstock.expr.numbers import pow_ as pow
from penstock.expr.numbers import round_ as round
from penstock.expr.patterns import like, regexp_extract, regexp_like, regexp_replace
from penstock.expr.strings import (
    concat,
    concat_ws,
    contains,
    ends_with,
    length,
    lower,
    lpad,
    ltrim,
    replace,
    reverse,
    rpad,
    rtrim,
    split,
    starts_with,
    substring,
    trim,
    upper,
)
from penstock.expr.structures import array, array_contains, get, lit, size, struct
from penstock.expr.times import (
    date_format,
    date_trunc,
    day,
    day_of_week,
    day_of_year,
    hour,
    minute,
    month,
    quarter,
    second,
    to_timestamp,
    try_to_timestamp,
    week_of_year,
    year,
)

__all__ = [
    "abs", "array", "array_contains", "avg", "ceil", "coalesce", "collect", "collect_set", "concat", "concat_ws",
    "contains", "count", "count_distinct", "date_format", "date_trunc", "day", "day_of_week", "day_of_year",
    "ends_with", "exp", "first", "floor", "get", "greatest", "hour", "if_", "last", "least", "length", "like", "lit",
    "log", "lower", "lpad", "ltrim", "max", "min", "minute", "mod", "month", "nullif", "pow", "quarter",
    "regexp_extract", "regexp_like", "regexp_replace", "replace", "reverse", "round", "rpad", "rtrim", "second",
    "sign", "size", "split", "sqrt", "starts_with", "stddev", "struct", "substring", "sum", "to_timestamp", "trim",
    "try_to_timestamp", "upper", "week_of_year", "when", "year",
]  # fmt: skip
