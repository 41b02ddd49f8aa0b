"""Profiles penstock's slot processes: Python imports a module of this name at its start if its folder is on PYTHONPATH.

PENSTOCK_PROFILE names the folder for the profiles, one for each process; look at them with `python -m pstats FILE`.
"""

from __future__ import annotations

import cProfile
import os
import sys
from pathlib import Path

if "PENSTOCK_PROFILE" in os.environ and "penstock.spark.tasks.server" in sys.orig_argv:
    _folder = Path(os.environ["PENSTOCK_PROFILE"])
    _profile = cProfile.Profile()
    _exit = os._exit

    def _write_and_exit(status: int) -> None:
        _profile.disable()
        _folder.mkdir(parents=True, exist_ok=True)
        _profile.dump_stats(_folder / f"slot-{os.getpid()}.prof")
        _exit(status)

    os._exit = _write_and_exit  # type: ignore[assignment]
    _profile.enable()
