"""The connectors a worker can run, as the worker needs to know them."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass
from importlib.metadata import entry_points
from typing import Protocol

from penstock.connect.api import CONNECTORS, ExactlyOnceSupport, SourceConnector, connector_kind
from penstock.connect.api.registry import ENTRY_POINTS
from penstock.connect.config import ConfigDef, ConfigValue
from penstock.connect.errors import ConfigError
from penstock.connect.validation import ConnectorKind

log = logging.getLogger("penstock.connect.worker")


def _no_further_checks(settings: Mapping[str, str]) -> Iterable[ConfigValue]:
    return ()


def _always(settings: Mapping[str, str]) -> bool:
    return True


@dataclass(frozen=True, slots=True)
class ConnectorType:
    """A class of connectors.

    Attributes:
        java_name: Its name in configurations.
        kind: Source or sink.
        version: Its version.
        config: The settings it declares.
        validate: Its own checks of settings that depend on each other.
        exactly_once: Whether it can deliver exactly once with some settings.
    """

    java_name: str
    kind: ConnectorKind
    version: str
    config: ConfigDef
    validate: Callable[[Mapping[str, str]], Iterable[ConfigValue]] = _no_further_checks
    exactly_once: Callable[[Mapping[str, str]], bool] = _always


class ConnectorTypes(Protocol):
    """All classes of connectors."""

    def find(self, name: str) -> ConnectorType:
        """The class of that name: full, simple, or simple without `Connector`.

        Raises:
            ConfigError: There is none.
        """
        ...

    def __iter__(self) -> Iterator[ConnectorType]: ...


class InstalledConnectors:
    """The connectors that come with penstock, and those of installed packages."""

    def __init__(self) -> None:
        self._found: dict[str, ConnectorType] = {}

    def find(self, name: str) -> ConnectorType:
        known = self._found.get(name)
        if known is None:
            known = self._found[name] = _connector_type(name)
        return known

    def __iter__(self) -> Iterator[ConnectorType]:
        installed = [entry.name for entry in entry_points(group=ENTRY_POINTS)]
        for name in dict.fromkeys([*(plugin.java_name for plugin in CONNECTORS), *installed]):
            try:
                yield self.find(name)
            except ConfigError as error:
                log.warning("The connector %s is left out: %s", name, error)


def _connector_type(name: str) -> ConnectorType:
    found = CONNECTORS.find(name)

    def exactly_once(settings: Mapping[str, str]) -> bool:
        if not issubclass(found, SourceConnector):
            return True
        return found.exactly_once_support(settings) is ExactlyOnceSupport.SUPPORTED

    target = f"{found.__module__}:{found.__qualname__}"
    named = [plugin.java_name for plugin in CONNECTORS if plugin.target == target]
    # A class may have several names: connectors of several makers that do the same.
    full = name if name in named else next(iter(named), name)
    return ConnectorType(full, connector_kind(found), found.VERSION, found.CONFIG, found.validate, exactly_once)
