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
    """`file.py:12` of the user's last line on the way to an error; of the last line at all if none is the user's."""
    frames = traceback.extract_tb(error.__traceback__)
    own = [f for f in frames if not f.filename.startswith((_PACKAGE, *_LIBRARIES, "<"))] or frames
    return f"{Path(own[-1].filename).name}:{own[-1].lineno}" if own else None
