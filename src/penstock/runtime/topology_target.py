"""Finding a topology by name: `module:attribute`, or `file.py:attribute`."""

from __future__ import annotations

import importlib
import inspect
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from penstock.errors import ConfigError, PenstockError
from penstock.source_line import raising_line
from penstock.streams.builder import StreamsBuilder
from penstock.topology.topology import Topology

_USUAL = ("topology", "builder")
# How many imports are under way. Not of a thread: an application starts in a thread of its own.
_loading = 0


def load_topology(target: str, settings: Mapping[str, Any] | None = None) -> Topology:
    """The topology a target names: a Topology, a StreamsBuilder, or a function that returns one of them.

    Modules are looked for in the current folder first, and can then be imported by Spark's workers, too.

    Raises:
        ConfigError: There is no such module or attribute, or it is something else.
    """
    name, _, attribute = target.partition(":")
    module = _import(name)
    found, attribute = _attribute(module, attribute, name)
    if callable(found) and not isinstance(found, (Topology, StreamsBuilder)):
        found = _call(found, f"{name}:{attribute}")
    if isinstance(found, StreamsBuilder):
        return found.build(settings)
    if isinstance(found, Topology):
        return found
    raise ConfigError(
        f"{name}:{attribute} is of type {type(found).__name__}, not a topology",
        hint="Name a Topology, a StreamsBuilder, or a function without arguments that returns one.",
    )


def is_loading() -> bool:
    """Whether a module is being imported for its topology: what it says at its top level is not to run anything."""
    return _loading > 0


def _import(name: str) -> Any:
    if not name:
        raise ConfigError("no module is named before the :", hint="Write MODULE:NAME or path/to/file.py:NAME.")
    path = Path(name)
    if path.suffix != ".py":
        return _import_from(Path.cwd(), name)
    if not path.is_file():
        raise ConfigError(f"there is no file {name}", hint=f"The current folder is {Path.cwd()}.")
    if not path.stem.isidentifier():
        raise ConfigError(
            f"the file {name} cannot be imported by Spark's workers: {path.stem!r} is no name of a module",
            hint="Rename it, with letters, digits and underscores.",
        )
    module = _import_from(path.resolve().parent, path.stem)
    found = getattr(module, "__file__", None)
    if found is None or Path(found).resolve() != path.resolve():
        raise ConfigError(
            f"the file {name} has the name of another module: {path.stem} is {found or 'part of Python'}",
            hint="Rename it.",
        )
    return module


def _import_from(folder: Path, name: str) -> Any:
    global _loading
    if str(folder) not in sys.path:
        sys.path.insert(0, str(folder))
    _loading += 1
    try:
        return importlib.import_module(name)
    except ModuleNotFoundError as error:
        if error.name is None or not f"{name}.".startswith(f"{error.name}."):
            raise ConfigError(
                f"the module {name} cannot be imported: {error}", hint="Install what it needs."
            ) from error
        raise ConfigError(
            f"there is no module {name}",
            hint=f"Looked in the current folder ({Path.cwd()}) and among the installed packages; write package.module "
            "or path/to/file.py.",
        ) from error
    except PenstockError:
        raise
    except Exception as error:
        raise _failed(f"the module {name} cannot be imported", error) from error
    finally:
        _loading -= 1


def _attribute(module: Any, attribute: str, name: str) -> tuple[Any, str]:
    if attribute:
        if hasattr(module, attribute):
            return getattr(module, attribute), attribute
        raise ConfigError(f"the module {name} has no {attribute}", hint=_candidates(module, name))
    for usual in _USUAL:
        if hasattr(module, usual):
            return getattr(module, usual), usual
    built = [key for key, value in vars(module).items() if isinstance(value, (Topology, StreamsBuilder))]
    if len(built) == 1:
        return getattr(module, built[0]), built[0]
    raise ConfigError(f"which topology of {name} is not said", hint=_candidates(module, name))


def _candidates(module: Any, name: str) -> str:
    own = [
        key
        for key, value in vars(module).items()
        if isinstance(value, (Topology, StreamsBuilder))
        or (callable(value) and getattr(value, "__module__", "") == module.__name__ and not key.startswith("_"))
    ]
    return f"Write {name}:NAME; it has {', '.join(own)}." if own else f"{name} defines no topology and no function."


def _call(function: Any, target: str) -> Any:
    if not _takes_nothing(function):
        raise ConfigError(
            f"{target} needs arguments: {inspect.signature(function)}",
            hint="Name a function without arguments that returns a topology.",
        )
    try:
        return function()
    except PenstockError:
        raise
    except Exception as error:
        raise _failed(f"{target}() failed", error) from error


def _takes_nothing(function: Any) -> bool:
    try:
        inspect.signature(function).bind()
    except TypeError:
        return False
    except ValueError:
        return True  # made in C, and does not say: calling it will
    return True


def _failed(what: str, error: Exception) -> ConfigError:
    # A syntax error names its own line; the one that the traceback ends with is the import's.
    line = None if isinstance(error, SyntaxError) else raising_line(error)
    return ConfigError(f"{what}: {type(error).__name__}: {error}{f' ({line})' if line else ''}")
