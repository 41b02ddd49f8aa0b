"""The user's line that a topology element came from, so that an error can point at it."""

from __future__ import annotations

import sys
from pathlib import Path
from types import FrameType

_PACKAGE = f"{Path(__file__).parent}/"


def user_line() -> str | None:
    """`file.py:12` of the nearest caller outside penstock, or None."""
    frame: FrameType | None = sys._getframe(1)  # noqa: SLF001 - the cheap way to look at callers
    while frame is not None:
        filename = frame.f_code.co_filename
        if not filename.startswith(_PACKAGE):
            return f"{Path(filename).name}:{frame.f_lineno}"
        frame = frame.f_back
    return None
