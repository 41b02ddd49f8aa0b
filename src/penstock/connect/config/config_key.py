"""The declaration of one setting, and how its text becomes a value."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from enum import Enum
from typing import Any, Final, Protocol

from penstock.connect.config.password import HIDDEN, Password
from penstock.connect.config.validators import Validator
from penstock.connect.data.java_numbers import parse_float, parse_int
from penstock.connect.data.schema import Type as DataType
from penstock.connect.errors import ConfigError, config_text, invalid_value

_COMMA = re.compile(r"\s*,\s*")


class ConfigType(Enum):
    """The type of a setting."""

    BOOLEAN = "boolean"
    STRING = "string"
    INT = "int"
    SHORT = "short"
    LONG = "long"
    DOUBLE = "double"
    LIST = "list"
    CLASS = "class"
    PASSWORD = "password"  # noqa: S105 - a type's name


class Importance(Enum):
    """How much a setting matters."""

    HIGH = "high"
    MEDIUM = "medium"
    LOW = "low"


class Width(Enum):
    """How wide an input field for the setting should be."""

    NONE = "none"
    SHORT = "short"
    MEDIUM = "medium"
    LONG = "long"


class _NoDefault(Enum):
    NO_DEFAULT = "no default"


NO_DEFAULT: Final = _NoDefault.NO_DEFAULT


class Recommender(Protocol):
    """Knows which values of a setting make sense, given the others."""

    def valid_values(self, key: str, parsed: Mapping[str, Any]) -> Sequence[Any]:
        """Values to offer."""
        ...

    def visible(self, key: str, parsed: Mapping[str, Any]) -> bool:
        """Whether the setting has a meaning, given the others."""
        ...


@dataclass(frozen=True, slots=True, kw_only=True)
class ConfigKey:
    """The declaration of a setting.

    Attributes:
        name: Name of the setting.
        type: What its text is read as.
        default: What it is when it is not given; without one it must be given.
        validator: Checks the value, also the default.
        importance: How much it matters.
        doc: What it is for.
        group: Heading it belongs under.
        order: Place under the heading; 0 is the order of declaration.
        width: Width of an input field.
        display_name: Name for people; the setting's name if empty.
        dependents: Settings whose recommended values or visibility depend on this one.
        recommender: Knows sensible values.
        internal: Not shown in docs.
    """

    name: str
    type: ConfigType = ConfigType.STRING
    default: Any = NO_DEFAULT
    validator: Validator | None = None
    importance: Importance = Importance.MEDIUM
    doc: str = ""
    group: str | None = None
    order: int = 0
    width: Width = Width.NONE
    display_name: str = ""
    dependents: tuple[str, ...] = ()
    recommender: Recommender | None = None
    internal: bool = False

    @property
    def required(self) -> bool:
        """Whether it must be given."""
        return self.default is NO_DEFAULT

    @property
    def default_value(self) -> Any:
        """The default as a value: declared as text, it is read as if it was given.

        Raises:
            ConfigError: There is none.
        """
        if self.default is NO_DEFAULT:
            raise ConfigError(f"{self.name} has no default", key=self.name)
        return parse_type(self.name, self.default, self.type)

    def parse(self, value: Any) -> Any:
        """The value of a given text, checked.

        Raises:
            ConfigError: It cannot be used.
        """
        parsed = parse_type(self.name, value, self.type)
        self.check(parsed)
        return parsed

    def check(self, value: Any) -> None:
        """Runs the validator.

        Raises:
            ConfigError: The value cannot be used.
        """
        if self.validator is not None:
            self.validator(self.name, value)


def parse_type(name: str, value: Any, kind: ConfigType) -> Any:
    """A value from its text; a value that has the type already stays as it is.

    >>> parse_type("topics", " a , b ", ConfigType.LIST), parse_type("x", "TRUE", ConfigType.BOOLEAN)
    (['a', 'b'], True)

    Raises:
        ConfigError: The text has another type.
    """
    if value is None:
        return None
    trimmed = value.strip() if isinstance(value, str) else value
    return _PARSERS[kind](name, trimmed)


def _boolean(name: str, value: Any) -> bool:
    if isinstance(value, bool):
        return value
    text = value.lower() if isinstance(value, str) else ""
    if text not in {"true", "false"}:
        raise invalid_value(name, value, "Expected value to be either true or false")
    return text == "true"


def _text(name: str, value: Any) -> str:
    if not isinstance(value, str):
        raise invalid_value(name, value, f"Expected value to be a string, but it was a {type(value).__name__}")
    return value


def _password(name: str, value: Any) -> Password:
    if isinstance(value, Password):
        return value
    if not isinstance(value, str):
        # The value is left out on purpose: it is a secret.
        raise ConfigError(f"Invalid value {HIDDEN} for configuration {name}: Expected value to be a string", key=name)
    return Password(value)


def _integer(kind: ConfigType, data_type: DataType) -> Callable[[str, Any], int]:
    def parse(name: str, value: Any) -> int:
        # A bool would read "True": no number, as it should be.
        try:
            return parse_int(str(value), data_type)
        except ValueError:
            raise invalid_value(name, value, f"Not a number of type {kind.name}") from None

    return parse


def _double(name: str, value: Any) -> float:
    try:
        return parse_float(str(value))
    except ValueError:
        raise invalid_value(name, value, "Not a number of type DOUBLE") from None


def _list(name: str, value: Any) -> list[str]:
    if isinstance(value, (list, tuple)):
        return list(value)
    if not isinstance(value, str):
        raise invalid_value(name, value, "Expected a comma separated list.")
    return _COMMA.split(value) if value else []


_PARSERS: dict[ConfigType, Callable[[str, Any], Any]] = {
    ConfigType.BOOLEAN: _boolean,
    ConfigType.STRING: _text,
    ConfigType.CLASS: _text,
    ConfigType.PASSWORD: _password,
    ConfigType.INT: _integer(ConfigType.INT, DataType.INT32),
    ConfigType.SHORT: _integer(ConfigType.SHORT, DataType.INT16),
    ConfigType.LONG: _integer(ConfigType.LONG, DataType.INT64),
    ConfigType.DOUBLE: _double,
    ConfigType.LIST: _list,
}


def value_as_text(value: Any, kind: ConfigType | None) -> str | None:
    """A parsed value as REST answers show it; secrets are hidden."""
    if value is None:
        return None
    if kind is ConfigType.PASSWORD:
        return HIDDEN
    if isinstance(value, (list, tuple)):
        return ",".join(map(str, value))
    return config_text(value)
