"""ConfigDef: the settings of a connector, converter or transform, and what follows from their declaration."""

from __future__ import annotations

import logging
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from difflib import get_close_matches
from typing import Any

from penstock.connect.config.config_key import ConfigKey
from penstock.connect.errors import ConfigError, missing_value

log = logging.getLogger("penstock.connect")


@dataclass(slots=True)
class ConfigValue:
    """What became of one setting: its value, and what is wrong with it."""

    name: str
    value: Any = None
    recommended_values: list[Any] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    visible: bool = True


@dataclass(frozen=True, slots=True)
class UnknownKey:
    """A setting nobody reads, and the one that was meant perhaps."""

    name: str
    nearest: str | None

    def __str__(self) -> str:
        hint = f"; did you mean {self.nearest}?" if self.nearest else ""
        # A name with line ends in it must not look like lines of the log.
        name = self.name if self.name.isprintable() else repr(self.name)
        return f"The setting {name} is not known and has no effect{hint}"


class ConfigDef:
    """The settings something understands.

    >>> from penstock.connect.config.config_key import ConfigType
    >>> settings = ConfigDef(ConfigKey(name="batch.size", type=ConfigType.INT, default=2000))
    >>> settings.parse({"batch.size": " 10 "}), settings.parse({})
    ({'batch.size': 10}, {'batch.size': 2000})

    Args:
        keys: Declarations, in the order in which they are documented.
    """

    __slots__ = ("_keys",)

    def __init__(self, *keys: ConfigKey) -> None:
        self._keys: dict[str, ConfigKey] = {}
        for key in keys:
            if key.name in self._keys:
                raise ConfigError(f"Configuration {key.name} is defined twice.", key=key.name)
            self._keys[key.name] = key
        unknown = sorted({name for key in keys for name in key.dependents} - set(self._keys))
        if unknown:
            names = ", ".join(unknown)
            raise ConfigError(f"Some configurations in are referred in the dependents, but not defined: {names}")

    def __iter__(self) -> Iterator[ConfigKey]:
        return iter(self._keys.values())

    def __len__(self) -> int:
        return len(self._keys)

    def __contains__(self, name: object) -> bool:
        return name in self._keys

    def __getitem__(self, name: str) -> ConfigKey:
        return self._keys[name]

    def get(self, name: str) -> ConfigKey | None:
        """The declaration of that name, or None."""
        return self._keys.get(name)

    def extended(self, *keys: ConfigKey) -> ConfigDef:
        """This and further settings; one of the same name is replaced."""
        return ConfigDef(*{**self._keys, **{key.name: key for key in keys}}.values())

    def prefixed(self, prefix: str, group: str | None = None) -> ConfigDef:
        """The same settings under longer names, for those of a transform inside a connector's."""
        return ConfigDef(
            *(
                replace(
                    key,
                    name=prefix + key.name,
                    group=group if group is not None else key.group,
                    dependents=tuple(prefix + name for name in key.dependents),
                )
                for key in self
            )
        )

    def groups(self) -> list[str]:
        """Headings, in the order they appear."""
        return list(dict.fromkeys(key.group for key in self if key.group is not None))

    def parse(self, settings: Mapping[str, Any]) -> dict[str, Any]:
        """The values of all settings, given or default. Settings that are not declared are left aside.

        Raises:
            ConfigError: A setting is missing or cannot be used; the first one in order of declaration.
        """
        parsed: dict[str, Any] = {}
        for key in self:
            parsed[key.name] = _value(key, settings)
        return parsed

    def validate(self, settings: Mapping[str, Any]) -> list[ConfigValue]:
        """Every setting with all that is wrong with it: nothing is raised."""
        parsed: dict[str, Any] = {}
        values = [self._validate(key, settings, parsed) for key in self]
        for key, value in zip(self, values, strict=True):
            if key.recommender is not None:
                value.recommended_values = list(key.recommender.valid_values(key.name, parsed))
                value.visible = key.recommender.visible(key.name, parsed)
        return values

    def _validate(self, key: ConfigKey, settings: Mapping[str, Any], parsed: dict[str, Any]) -> ConfigValue:
        result = ConfigValue(key.name)
        try:
            result.value = _value(key, settings)
        except ConfigError as error:
            result.errors.append(error.message)
        parsed[key.name] = result.value
        return result

    def unknown(self, settings: Iterable[str], *, prefixes: tuple[str, ...] = ()) -> list[UnknownKey]:
        """Settings that are not declared, each with the nearest one that is.

        Args:
            settings: Names that were given.
            prefixes: Beginnings of names that belong to others, such as `producer.override.`.
        """
        return [
            UnknownKey(name, nearest(name, self._keys))
            for name in settings
            if name not in self._keys and not name.startswith(prefixes)
        ]

    def warn_unknown(self, settings: Iterable[str], where: str, *, prefixes: tuple[str, ...] = ()) -> None:
        """Logs a warning for each setting that nobody reads; Kafka ignores them, so they are no errors."""
        for unknown in self.unknown(settings, prefixes=prefixes):
            log.warning("%s: %s", where, unknown)


def _value(key: ConfigKey, settings: Mapping[str, Any]) -> Any:
    """The value of a setting, given or default, checked."""
    given = settings.get(key.name)
    if given is None and key.required:
        raise missing_value(key.name)
    if key.name in settings:
        return key.parse(given)
    value = key.default_value
    key.check(value)
    return value


def nearest(name: str, known: Iterable[str]) -> str | None:
    """The known name that looks most like the given one, or None."""
    return next(iter(get_close_matches(name, list(known), n=1, cutoff=0.6)), None)
