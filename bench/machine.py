"""The header of every result: what it was measured on."""

from __future__ import annotations

import os
import platform
import subprocess
from datetime import datetime, timezone
from importlib.metadata import version
from pathlib import Path


def header() -> str:
    """Processor, memory and load of this machine, and the versions of everything that is measured."""
    cpu = platform.processor() or "unknown"
    info = Path("/proc/cpuinfo")
    if info.exists():
        models = [line.split(":", 1)[1].strip() for line in info.read_text().splitlines() if "model name" in line]
        cpu = models[0] if models else cpu
    java = subprocess.run(["java", "-version"], capture_output=True, text=True, check=False).stderr.splitlines()
    return "\n".join(
        [
            f"cpu      {cpu}, {os.cpu_count()} cores, {_memory_gb():.0f} GB, load {os.getloadavg()[0]:.2f}",
            f"python   {platform.python_version()}",
            f"java     {java[0] if java else 'none'}",
            f"pyspark  {version('pyspark')}, confluent-kafka {version('confluent-kafka')}",
            f"penstock {version('penstock')}, commit {_commit()}, {datetime.now(timezone.utc):%Y-%m-%d %H:%M} UTC",
        ]
    )


def _memory_gb() -> float:
    return os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE") / 1e9


def _commit() -> str:
    """The commit that is measured; a plus sign says that files of penstock were changed since."""
    root = Path(__file__).parent.parent
    git = ["git", "-C", str(root)]
    found = subprocess.run([*git, "rev-parse", "--short", "HEAD"], capture_output=True, text=True, check=False)
    changed = subprocess.run([*git, "diff", "--quiet", "HEAD", "--", "src"], check=False).returncode
    return found.stdout.strip() + ("+" if changed else "") if found.returncode == 0 else "unknown"
