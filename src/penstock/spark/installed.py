"""What is part of a Python installation, and what is the user's own."""

from __future__ import annotations

import sysconfig
from pathlib import Path

_PACKAGES = frozenset({"site-packages", "dist-packages"})


def is_installed(path: Path) -> bool:
    """Whether a file or folder belongs to the standard library or to installed packages.

    The folder of the installation says nothing: a program may well lie below it, as in `/usr/src/app`, or in a project with
    its environment in the same folder.
    """
    paths = sysconfig.get_paths()
    installed = {Path(paths[kind]).resolve() for kind in ("stdlib", "platstdlib", "purelib", "platlib")}
    path = path.resolve()
    return bool(installed & {path, *path.parents}) or not _PACKAGES.isdisjoint(path.parts)
