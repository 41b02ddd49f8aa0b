"""The user's line that a topology element came from, so that an error can point at it."""

from __future__ import annotations

import sys
import sysconfig
import traceback
from pathlib import Path
from types import FrameType

_PACKAGE = f"{Path(__file__).parent}/"
# Python's own modules and installed packages: errors are raised there, but seldom made there.
_LIBRARIES = tuple(f"{sysconfig.get_path(name)}/" for name in ("stdlib", "platstdlib", "purelib", "platlib"))


def user_line() -> str | None:
    """`file.py:12` of the nearest caller outside penstock, or None."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the cheap way to look at callers
    while frame is not None:
        filename = frame.f_code.co_filename
        if not filename.startswith(_PACKAGE):
            return f"{Path(filename).name}:{frame.f_lineno}"
        frame = frame.f_back
    return None


def raising_line(error: BaseException) -> str | None:
    """`file.py:12` of the user's last line on the way to an error.

    The last one of a library if there is no user's, and None if there are only penstock's and generated ones.
    """
    own = library = None
    for frame, number in traceback.walk_tb(error.__traceback__):
        filename = frame.f_code.co_filename
        if filename.startswith((_PACKAGE, "<")):
            continue
        line = f"{Path(filename).name}:{number}"
        if filename.startswith(_LIBRARIES):
            library = line
        else:
            own = line
    return own or library
