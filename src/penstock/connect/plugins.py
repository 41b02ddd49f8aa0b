"""Classes by name: the names Kafka's configurations have, short names, and Python classes of users.

A name is looked up in this order: built-in Java class name or short name, entry point of an installed package,
Python class written as `package.module:Class` or `package.module.Class`.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from importlib import import_module
from importlib.metadata import entry_points
from typing import Any, Generic, TypeVar

from penstock.connect.config.config_def import nearest
from penstock.connect.errors import ConfigError

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Plugin:
    """A class that configurations can name.

    Attributes:
        java_name: Name of the class in Kafka's configurations.
        target: Where the class is, `module:Class`; imported on first use.
    """

    java_name: str
    target: str

    @property
    def simple_name(self) -> str:
        """The name without package: `JsonConverter`, `Cast$Value`."""
        return self.java_name.rpartition(".")[2]


class Plugins(Generic[T]):
    """All classes of one kind.

    Args:
        kind: What they are, for messages: `converter`.
        base: The class they must be subclasses of.
        builtin: Classes that come with penstock.
        suffix: End of class names that may be left out: `Converter`.
        entry_point_group: Group under which installed packages declare theirs.
    """

    def __init__(
        self, kind: str, base: type[T], builtin: tuple[Plugin, ...], *, suffix: str = "", entry_point_group: str
    ) -> None:
        self.kind = kind
        self._base = base
        self._builtin = builtin
        self._suffix = suffix
        self._group = entry_point_group
        self._names: dict[str, str] = {}
        for plugin in builtin:
            self._add_names(plugin)

    def register(self, java_name: str, target: str) -> None:
        """Adds a class, or puts another one in a built-in's place.

        Args:
            java_name: Name in configurations.
            target: Where it is: `package.module:Class`.
        """
        plugin = Plugin(java_name, target)
        self._builtin = (*(known for known in self._builtin if known.java_name != java_name), plugin)
        self._add_names(plugin)

    def _add_names(self, plugin: Plugin) -> None:
        self._names[plugin.java_name] = plugin.target
        self._names[plugin.simple_name] = plugin.target
        short = plugin.simple_name.removesuffix(self._suffix) if self._suffix else ""
        if short and "$" not in plugin.simple_name:
            self._names[short] = plugin.target

    def __iter__(self) -> Iterator[Plugin]:
        return iter(self._builtin)

    def find(self, name: str) -> type[T]:
        """The class of that name.

        Raises:
            ConfigError: There is none, or it is of another kind.
        """
        target = self._names.get(name) or self._entry_point(name) or _python_target(name)
        if target is None:
            raise self._missing(name)
        module, _, attribute = target.partition(":")
        try:
            found: Any = import_module(module)
            for part in attribute.split("."):
                found = getattr(found, part)
        except (Exception, SystemExit) as error:
            # A module may do anything when it is loaded, and requests name modules: none of them ends the worker.
            if name in self._names and isinstance(error, ImportError) and error.name != module:
                raise ConfigError(
                    f"The {self.kind} {name} cannot be loaded: {error}", hint=f"Install the package {error.name}."
                ) from error
            raise self._missing(name, cause=str(error) or type(error).__name__) from error
        if not inspect.isclass(found) or not issubclass(found, self._base) or inspect.isabstract(found):
            raise ConfigError(f"Class {name} is not a {self.kind}.", hint=f"It must be a {self._base.__name__}.")
        return found

    def _entry_point(self, name: str) -> str | None:
        for entry in entry_points(group=self._group):
            if entry.name == name:
                return entry.value
        return None

    def _missing(self, name: str, *, cause: str = "") -> ConfigError:
        near = nearest(name, self._names)
        if near is not None:
            hint = f"Did you mean {near}?"
        elif cause:
            hint = f"Loading it as a Python class failed: {cause}."
        else:
            known = dict.fromkeys(plugin.simple_name.partition("$")[0] for plugin in self._builtin)
            hint = f"Known are {', '.join(known)}; or give a Python class as package.module:Class."
        return ConfigError(f"Class {name} could not be found.", hint=hint)


def _python_target(name: str) -> str | None:
    """Module and class that a name stands for; None if it cannot be one, or if loading it would run a program."""
    module, separator, attribute = name.partition(":") if ":" in name else name.rpartition(".")
    parts = module.split(".")
    if not separator or "__main__" in parts or not all(map(str.isidentifier, [*parts, *attribute.split(".")])):
        return None
    return f"{module}:{attribute}"


def subset(settings: Mapping[str, Any], prefix: str) -> dict[str, Any]:
    """The settings below a prefix, named without it.

    >>> subset({"key.converter": "x", "key.converter.schemas.enable": "false"}, "key.converter.")
    {'schemas.enable': 'false'}
    """
    return {name[len(prefix) :]: value for name, value in settings.items() if name.startswith(prefix)}
