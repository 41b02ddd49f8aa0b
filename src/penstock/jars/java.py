"""Finding a Java that is new enough."""

from __future__ import annotations

import os
import re
import shutil
import subprocess
from pathlib import Path

from penstock.jars import errors

MINIMUM_JAVA = 17


def require_java() -> Path:
    """The `java` to run: from JAVA_HOME if that is set, else from PATH.

    Raises:
        JavaError: There is none, or it is older than Java 17.
    """
    java = _find_java()
    version = _version(java)
    if version < MINIMUM_JAVA:
        raise errors.java_too_old(java, version, MINIMUM_JAVA)
    return java


def _find_java() -> Path:
    home = os.environ.get("JAVA_HOME")
    if home:
        java = Path(home, "bin", "java")
        if not os.access(java, os.X_OK):
            raise errors.no_java(f"JAVA_HOME={home} has no bin/java")
        return java
    found = shutil.which("java")
    if found is None:
        raise errors.no_java("JAVA_HOME is not set and PATH has no java")
    return Path(found)


def _version(java: Path) -> int:
    done = subprocess.run([java, "-version"], capture_output=True, text=True, check=False)
    output = done.stderr + done.stdout
    # Java 8 calls itself 1.8, newer ones 17.0.15 or 25-ea.
    match = re.search(r'version "(?:1\.)?(\d+)', output)
    if match is None:
        raise errors.java_broken(java, output)
    return int(match[1])
