"""Named sets of jars, each an `ivy.xml` and the SHA-256 sums of every file it resolves to."""

from __future__ import annotations

import hashlib
import shutil
from dataclasses import dataclass
from pathlib import Path

from penstock.jars import errors, ivy
from penstock.jars.cache import cache_folder, exclusive

SETS_FOLDER = Path(__file__).parent / "sets"


def fetch(set_name: str) -> list[Path]:
    """The jars of a set, fetched on first use and checked against known sums on every use.

    Safe to call from several processes at once: one fetches, the others wait for it.

    Args:
        set_name: `broker`, `spark-driver`, `spark-kafka`, `kafka-streams-test`, `kafka-connect`, `opensearch` or `hdfs`.

    Raises:
        JarError: A jar cannot be fetched, or is not the expected file.
        JavaError: Fetching needs Java, and there is none.
    """
    jars = JarSet.named(set_name)
    folder = jars.folder()
    if not folder.is_dir():
        with exclusive(folder.with_suffix(".lock")):
            if not folder.is_dir():
                _fetch_into(jars, folder)
    difference = jars.difference(folder)
    if difference:
        raise errors.wrong_cache(set_name, difference, folder)
    return [folder / name for name in jars.sums]


@dataclass(frozen=True, slots=True)
class JarSet:
    """One set: what to ask Ivy for, and what must come back."""

    name: str
    ivy_file: Path
    sums: dict[str, str]
    """SHA-256 by file name."""

    @classmethod
    def named(cls, name: str) -> JarSet:
        known = sorted(entry.name for entry in SETS_FOLDER.iterdir() if (entry / "ivy.xml").is_file())
        if name not in known:
            raise errors.unknown_set(name, known)
        sums = SETS_FOLDER / name / "sha256sums"
        lines = sums.read_text().splitlines() if sums.is_file() else []
        return cls(name, SETS_FOLDER / name / "ivy.xml", {file: sum_ for sum_, file in map(str.split, lines)})

    def folder(self) -> Path:
        """Named after the content, so that two penstock versions with different jars share one cache."""
        content = hashlib.sha256("\n".join(f"{sum_} {file}" for file, sum_ in self.sums.items()).encode())
        return cache_folder() / "jars" / f"{self.name}-{content.hexdigest()[:12]}"

    def difference(self, folder: Path) -> str:
        """What is wrong with the jars in `folder`, or an empty string."""
        found = {path.name: path for path in folder.glob("*.jar")}
        for file, expected in self.sums.items():
            if file not in found:
                return f"{file} is missing"
            actual = sha256(found[file])
            if actual != expected:
                return f"{file} has SHA-256 {actual} instead of {expected}"
        unexpected = sorted(found.keys() - self.sums.keys())
        return f"{unexpected[0]} is not part of the set" if unexpected else ""


def _fetch_into(jars: JarSet, folder: Path) -> None:
    # A folder appears under its final name only when complete and checked, whatever happens in between. The lock makes
    # the partial one ours; a process killed half-way may have left it.
    work = folder.with_suffix(".partial")
    shutil.rmtree(work, ignore_errors=True)
    try:
        target = work / "jars"
        target.mkdir(parents=True)
        ivy.retrieve(jars.name, jars.ivy_file, target, work=work / "ivy", log=folder.parent / f"{jars.name}.log")
        difference = jars.difference(target)
        if difference:
            raise errors.wrong_download(jars.name, difference)
        target.rename(folder)
    finally:
        shutil.rmtree(work, ignore_errors=True)


def sha256(path: Path) -> str:
    """The sum of a file, in hexadecimal."""
    digest = hashlib.sha256()
    with path.open("rb") as file:
        while block := file.read(1 << 20):
            digest.update(block)
    return digest.hexdigest()
