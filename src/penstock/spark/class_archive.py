"""Spark's classes as Java keeps them in memory, written once and mapped at every later start.

Reading and checking some 15,000 classes from jars is most of what a JVM does until the first batch: with an archive of them
it needs 4 s of processor time instead of 8 s (2 cores), and a session starts in 2-3 s instead of 4-5 s. Java writes the
archive when the first session's JVM ends, checks it at every start, and goes on without it when it does not fit.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import pyspark

from penstock.jars.cache import cache_folder

# An archive takes 150 MB; each combination of Java, PySpark and environment has its own.
_KEPT = 3
# The end of a JVM writes this file; it is rubbish if that JVM was killed meanwhile.
_PARTIAL_AGE = 3600.0
# Java reports every class that cannot be archived, on stdout.
_QUIET = ("-Xlog:disable", "-Xlog:all=error:stderr")


@dataclass(frozen=True, slots=True)
class ClassArchive:
    """The archive for one Java and one set of jars."""

    file: Path
    partial: Path

    @classmethod
    def of(cls, java: Path, jars: Sequence[Path]) -> ClassArchive:
        spark_jars = Path(pyspark.__file__).with_name("jars")
        parts = [pyspark.__version__, *map(_identity, (java.resolve(), spark_jars, *jars))]
        name = hashlib.sha256("\n".join(parts).encode()).hexdigest()[:12]
        folder = cache_folder() / "spark"
        return cls(folder / f"classes-{name}.jsa", folder / f"classes-{name}.{os.getpid()}.partial")

    def jvm_options(self) -> tuple[str, ...]:
        """Options that use the archive, or that write it if there is none."""
        if self.file.is_file():
            with contextlib.suppress(OSError):
                os.utime(self.file)
            return (f'"-XX:SharedArchiveFile={self.file}"', *_QUIET)
        try:
            self.file.parent.mkdir(parents=True, exist_ok=True)
            self._remove_old()
        except OSError:
            return ()  # a machine without a cache folder starts more slowly
        return (f'"-XX:ArchiveClassesAtExit={self.partial}"', *_QUIET)

    def keep(self) -> None:
        """Take what a JVM wrote at its end; a no-op if it wrote nothing."""
        with contextlib.suppress(OSError):
            self.partial.replace(self.file)

    def _remove_old(self) -> None:
        folder = self.file.parent
        for left in folder.glob("classes-*.partial"):
            if left.stat().st_mtime < time.time() - _PARTIAL_AGE:
                left.unlink(missing_ok=True)
        archives = sorted(folder.glob("classes-*.jsa"), key=lambda path: path.stat().st_mtime, reverse=True)
        for old in archives[_KEPT - 1 :]:
            old.unlink(missing_ok=True)


def _identity(path: Path) -> str:
    return f"{path} {path.stat().st_mtime_ns}"
