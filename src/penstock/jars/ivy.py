"""Running the Ivy that ships inside PySpark."""

from __future__ import annotations

import importlib.util
import os
import re
import subprocess
from pathlib import Path

from penstock.jars import errors
from penstock.jars.java import require_java

SETTINGS_VARIABLE = "PENSTOCK_IVY_SETTINGS"

# Without these a dead mirror keeps Ivy waiting for minutes on each file.
_TIMEOUTS = ("-Dsun.net.client.defaultConnectTimeout=10000", "-Dsun.net.client.defaultReadTimeout=60000")
_PATTERN = "[artifact]-[revision](-[classifier]).[ext]"


def retrieve(name: str, ivy_file: Path, target: Path, *, work: Path, log: Path) -> None:
    """Copy the jars `ivy_file` asks for into `target`.

    Args:
        name: The jar set, for messages.
        ivy_file: What to fetch.
        target: Folder that receives the jars.
        work: Folder for Ivy's own cache; the caller removes it.
        log: File that receives Ivy's output.

    Raises:
        JarError: Ivy or a jar cannot be had.
        JavaError: There is no Java to run it.
    """
    command = [
        str(require_java()),
        *_TIMEOUTS,
        *("-jar", str(_ivy_jar())),
        *_settings(),
        *("-ivy", str(ivy_file), "-confs", "default"),
        *("-cache", str(work)),
        *("-retrieve", str(target / _PATTERN)),
    ]
    with log.open("wb") as output:
        done = subprocess.run(command, stdin=subprocess.DEVNULL, stdout=output, stderr=subprocess.STDOUT, check=False)
    if done.returncode != 0:
        raise errors.cannot_fetch(name, _reason(log), log)


def _ivy_jar() -> Path:
    # find_spec locates the package without importing it, which would cost a second.
    spec = importlib.util.find_spec("pyspark")
    if spec is None or spec.origin is None:
        raise errors.no_ivy("this Python")
    folder = Path(spec.origin).parent / "jars"
    jars = sorted(folder.glob("ivy-*.jar"))
    if not jars:
        raise errors.no_ivy(str(folder))
    return jars[-1]


def _settings() -> list[str]:
    given = os.environ.get(SETTINGS_VARIABLE)
    if not given:
        return []
    path = Path(given).expanduser()
    if not path.is_file():
        raise errors.missing_settings(path)
    return ["-settings", str(path)]


def _reason(log: Path) -> str:
    """The line of Ivy's long report that says what went wrong."""
    text = log.read_text(errors="replace")
    # "    :: org.apache.kafka#kafka_2.13;4.3.1: not found"
    unresolved = re.findall(r"^\s*::\s+(\S+#\S+?;\S+): (.+?)\s*$", text, re.MULTILINE)
    if unresolved:
        module, problem = unresolved[0]
        more = f" (and {len(unresolved) - 1} more)" if len(unresolved) > 1 else ""
        return f"{module} {problem}{more}"
    failed = re.findall(r"^\s*\[FAILED\s*\]\s+(.+?)\s*$", text, re.MULTILINE)
    lines = [line.strip() for line in text.splitlines() if line.strip()]
    return failed[0] if failed else (lines[-1] if lines else "Ivy ended without a word")
