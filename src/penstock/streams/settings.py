"""Options of operators: keywords and parameter objects, gathered into one record.

Every operator takes its options as keywords. Kafka's parameter objects (`Named`, `Grouped`, `Materialized`, ...) may
be given positionally instead; they are recognised by type and mean the same keywords.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

from penstock.durations import duration_ms
from penstock.errors import PenstockError, TopologyError
from penstock.functions import is_coroutine, is_expression
from penstock.serde import resolve_serde
from penstock.topology.naming import check_name


class Parameter:
    """A parameter object: an immutable bundle of keywords.

    A field that is None was not given. The fields have the names of the keywords they stand for.
    """

    __slots__ = ()

    def settings(self) -> dict[str, Any]:
        """The keywords that were given."""
        return {f.name: value for f in fields(self) if (value := getattr(self, f.name)) is not None}  # type: ignore[arg-type]


@dataclass(frozen=True, slots=True)
class Settings:
    """The options of one operator; None where nothing was given.

    Attributes:
        line: The user's source line.
        materialized: Some option asks for (or describes) the store of a table.
    """

    line: str | None = None
    name: str | None = None
    key_serde: Any = None
    value_serde: Any = None
    other_value_serde: Any = None
    timestamp_extractor: Any = None
    offset_reset: Any = None
    partitioner: Any = None
    other_partitioner: Any = None
    partitions: int | None = None
    topic: str | None = None
    grace: int | None = None
    store: str | None = None
    supplier: Any = None
    other_supplier: Any = None
    store_type: Any = None
    versioned: int | None = None
    cache: str | None = None
    logging: Any = None
    retention: int | None = None
    function: Any = None
    consumer: Any = None
    label: str | None = None
    file: Any = None
    mapper: Any = None
    materialized: bool = False

    @property
    def describes_store(self) -> bool:
        """Whether some option is about the store of a result; in Kafka such options need a `Materialized`."""
        return self.materialized or self.key_serde is not None or self.value_serde is not None


_STORE_SETTINGS = {"store", "supplier", "store_type", "versioned", "cache", "logging", "retention"}
_SERDES = {"key_serde", "value_serde", "other_value_serde"}
_DURATIONS = {"grace": "grace period", "versioned": "history", "retention": "retention"}
_FUNCTIONS = {
    "partitioner": "a function of (topic, key, value, partitions)",
    "other_partitioner": "a function of (topic, key, value, partitions)",
    "timestamp_extractor": "a function of (record, partition_time), or an expression such as v.event_time",
    "function": "a function of the branch's stream",
    "consumer": "a function of the branch's stream",
}
_NAMES = {"name": "the name of {}", "store": "the store name of {}", "topic": "the topic of {}"}


def gather(
    operator: str, parameters: Sequence[Any], accepts: tuple[type[Parameter], ...], line: str | None, **keywords: Any
) -> Settings:
    """All options of an operator, each given at most once.

    Args:
        operator: Its name, for messages.
        parameters: What the user gave positionally after the required arguments.
        accepts: The parameter objects that the operator knows.
        line: The user's source line.
        keywords: The keywords; None is "not given".
    """
    found: dict[str, tuple[Any, str]] = {}
    materialized = False
    for given in parameters:
        if not isinstance(given, accepts):
            raise _unknown_parameter(operator, given, accepts, line)
        materialized |= type(given).__name__ == "Materialized"
        for setting, value in given.settings().items():
            _put(found, operator, setting, value, type(given).__name__, line)
    for keyword, value in keywords.items():
        for setting, part in _expand(operator, keyword, value, line).items():
            _put(found, operator, setting, part, f"{keyword}=", line)
            materialized |= keyword in _STORE_SETTINGS
    values = {setting: _checked(operator, setting, value, line) for setting, (value, _) in found.items()}
    return Settings(line=line, materialized=materialized, **values)


def _expand(operator: str, keyword: str, value: Any, line: str | None) -> dict[str, Any]:
    """`store=` takes a name, a Materialized or a supplier; everything else is one setting."""
    if value is None:
        return {}
    if keyword != "store" or isinstance(value, str):
        return {keyword: value}
    if isinstance(value, Parameter) and type(value).__name__ == "Materialized":
        return value.settings()
    if not isinstance(value, Parameter) and isinstance(getattr(value, "name", None), str):
        return {"supplier": value}
    raise TopologyError(
        f"store= of {operator} is {value!r}",
        line=line,
        hint="Give a name, a Materialized, or a store supplier of Stores.",
    )


def _put(
    found: dict[str, tuple[Any, str]], operator: str, setting: str, value: Any, where: str, line: str | None
) -> None:
    if setting in found:
        raise TopologyError(
            f"{setting} of {operator} is given twice: by {found[setting][1]} and by {where}",
            line=line,
            hint="Keep one of them.",
        )
    found[setting] = (value, where)


def _checked(operator: str, setting: str, value: Any, line: str | None) -> Any:
    try:
        if setting in _SERDES:
            return resolve_serde(value)
        if setting in _DURATIONS:
            return duration_ms(value, f"{_DURATIONS[setting]} of {operator}")
    except PenstockError as error:
        raise TopologyError(f"{setting} of {operator}: {error.message}", line=line, hint=error.hint) from None
    if setting in _NAMES:
        return check_name(value, _NAMES[setting].format(operator), line=line)
    if setting == "partitions" and (isinstance(value, bool) or not isinstance(value, int) or value < 1):
        raise TopologyError(f"partitions of {operator} is {value!r}", line=line, hint="Give a number of 1 or more.")
    if setting in _FUNCTIONS and not callable(value) and not is_expression(value):
        raise TopologyError(
            f"{setting} of {operator} is {value!r}, not a function", line=line, hint=f"Give {_FUNCTIONS[setting]}."
        )
    if setting in _FUNCTIONS and is_coroutine(value):
        raise TopologyError(
            f"{setting} of {operator} is a coroutine function",
            line=line,
            hint="Records are processed one after the other; give an ordinary function.",
        )
    if setting == "cache" and value not in {"batch", "off"}:
        raise TopologyError(
            f"cache of {operator} is {value!r}",
            line=line,
            hint='Give "batch" (one update of a key in each batch) or "off" (every update).',
        )
    return value


def _unknown_parameter(
    operator: str, given: Any, accepts: tuple[type[Parameter], ...], line: str | None
) -> TopologyError:
    known = " or ".join(cls.__name__ for cls in accepts) or "no parameter objects"
    return TopologyError(
        f"{operator} was given {given!r}, a {type(given).__name__}",
        line=line,
        hint=f"It takes {known} there; give options as keywords.",
    )
