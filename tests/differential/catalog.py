"""Every topology by name, with the topics it reads and the parameters it takes."""

from __future__ import annotations

import functools
import importlib
import pkgutil
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from random import Random
from typing import Any

from penstock import StreamsBuilder, Topology
from tests.differential import topologies
from tests.differential.parameters import nothing

Params = dict[str, Any]
Chooser = Callable[[Random], Params]
Make = Callable[[Params, Mapping[str, Any]], Topology]
Recipe = Callable[[StreamsBuilder, Params], None]


@dataclass(frozen=True, slots=True)
class Entry:
    """One topology, and what the generator must know to feed it.

    Attributes:
        topics: Topics to send records to.
        choose: Draws the parameters.
        make: Builds the topology from parameters and configuration.
        file: Where it is written.
        foreign_keys: Values of the topic `left` start with a key of the topic `right`.
        wall_clock: Inputs also advance the wall clock.
        optimized: Half of the requests ask for the optimizer.
    """

    name: str
    topics: tuple[str, ...]
    choose: Chooser
    make: Make
    file: str
    foreign_keys: bool = False
    wall_clock: bool = False
    optimized: bool = False


_entries: dict[str, Entry] = {}


def dsl(
    *topics: str,
    choose: Chooser = nothing,
    name: str | None = None,
    foreign_keys: bool = False,
    wall_clock: bool = False,
    optimized: bool = False,
) -> Callable[[Recipe], Recipe]:
    """Enter a function that writes a topology with the DSL."""

    def enter(recipe: Recipe) -> Recipe:
        def make(params: Params, config: Mapping[str, Any]) -> Topology:
            builder = StreamsBuilder(config)
            recipe(builder, params)
            return builder.build(config)

        _enter(Entry(name or recipe.__name__, topics, choose, make, _file(recipe), foreign_keys, wall_clock, optimized))
        return recipe

    return enter


def assembled(*topics: str) -> Callable[[Callable[[Params], Topology]], Callable[[Params], Topology]]:
    """Enter a function that puts a topology together from sources, processors and sinks."""

    def enter(assemble: Callable[[Params], Topology]) -> Callable[[Params], Topology]:
        _enter(Entry(assemble.__name__, topics, nothing, lambda params, _config: assemble(params), _file(assemble)))
        return assemble

    return enter


@functools.cache
def catalog() -> Mapping[str, Entry]:
    """All topologies."""
    for module in pkgutil.iter_modules(topologies.__path__):
        importlib.import_module(f"{topologies.__name__}.{module.name}")
    return dict(sorted(_entries.items()))


def _file(function: Callable[..., Any]) -> str:
    return function.__code__.co_filename


def _enter(entry: Entry) -> None:
    # A second import of the same module (pytest's, under another name) enters the same topologies again.
    if _entries.setdefault(entry.name, entry).file != entry.file:
        raise ValueError(f"two topologies are called {entry.name}: in {_entries[entry.name].file} and {entry.file}")
