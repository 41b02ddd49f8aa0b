"""Which node failed: read from the traceback, so that knowing it costs nothing while nothing fails.

Each closure's code object carries its node's name, and each line of generated code is listed with its node's. This also
makes profiles and tracebacks readable: a frame is called `KSTREAM-FILTER-0000000001`, not `process`.
"""

from __future__ import annotations

import linecache
from collections.abc import Callable
from types import FunctionType, TracebackType

_MARK = "node:"
_GENERATED: dict[str, list[str]] = {}


def name_code(process: Callable[..., None], node: str) -> Callable[..., None]:
    """Write the node's name into a closure's code object."""
    if isinstance(process, FunctionType) and not process.__code__.co_filename.startswith("<penstock"):
        code = process.__code__
        if not code.co_name.startswith(_MARK):
            process.__code__ = code.replace(co_name=_MARK + node)
    return process


def register_generated(filename: str, source: str, nodes: list[str]) -> None:
    """Keep generated source for tracebacks; `nodes` names the node of each line."""
    _GENERATED[filename] = nodes
    linecache.cache[filename] = (len(source), None, source.splitlines(keepends=True), filename)


def failing_node(error: BaseException) -> str | None:
    """Name of the innermost node in an error's traceback."""
    found = None
    traceback: TracebackType | None = error.__traceback__
    while traceback is not None:
        code = traceback.tb_frame.f_code
        if code.co_name.startswith(_MARK):
            found = code.co_name[len(_MARK) :]
        elif code.co_filename in _GENERATED:
            nodes = _GENERATED[code.co_filename]
            found = nodes[min(traceback.tb_lineno, len(nodes)) - 1] or found
        traceback = traceback.tb_next
    return found
