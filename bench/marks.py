"""How a measured program speaks to the benchmark: lines of JSON on its standard output."""

from __future__ import annotations

import json
import sys
import time
from typing import Any


def write(message: dict[str, Any]) -> None:
    sys.stdout.write(json.dumps(message) + "\n")
    sys.stdout.flush()


def mark(name: str) -> None:
    """Say that something has been reached, and when."""
    write({"mark": name, "at": time.time()})
