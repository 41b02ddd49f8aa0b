"""Sending penstock and the program's own modules to the executors of a cluster, which share no disk with the driver.

Each goes as a zip through Spark's file server, and comes before what is installed on the nodes: an executor runs the code
the driver runs. Installed packages (pyarrow, confluent-kafka, lmdb, orjson, whatever the program imports) do not travel:
they have compiled parts, which cannot be imported from a zip. They are installed on the nodes, or sent with `spark.archives`.
"""

from __future__ import annotations

import hashlib
import importlib.util
import marshal
import os
import re
import sys
import zipfile
from collections.abc import Iterator, Mapping
from importlib.machinery import SourceFileLoader
from pathlib import Path, PurePosixPath
from types import ModuleType
from typing import TYPE_CHECKING, Any

import penstock
from penstock.spark.installed import is_installed
from penstock.spark.masters import is_local

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

# Sent on their own, brought by Spark, or pickled by value.
_NOT_OWN = frozenset({"penstock", "pyspark", "py4j", "__main__", "__mp_main__"})
_PATH = "PYTHONPATH"
# A compiled module that is taken as it is, without a look at its source.
_UNCHECKED = (1).to_bytes(4, "little")

Files = Mapping[str, Path]
"""Names in an archive, and where each file is."""


def ship_penstock(spark: SparkSession) -> None:
    """Send this package to the executors; a no-op if they share the driver's process."""
    home = Path(penstock.__file__).parent
    # Not a folder: it came in an archive itself, with spark-submit, which sends that to the executors.
    if home.is_dir() and not is_local(str(spark.sparkContext.master)):
        _ship(spark, "penstock", {f"penstock/{name}": path for name, path in _below(home, "*")})


def ship_modules(spark: SparkSession) -> None:
    """Send the modules that this program has imported and that are not installed: functions travel by their names."""
    if not is_local(str(spark.sparkContext.master)):
        _ship(spark, "modules", own_modules(sys.modules))


def own_modules(modules: Mapping[str, ModuleType]) -> dict[str, Path]:
    """The files of modules that are not installed; of packages all modules, imported or not."""
    found: dict[str, Path] = {}
    for name, module in list(modules.items()):
        file = Path(getattr(module, "__file__", None) or "")
        if name.partition(".")[0] in _NOT_OWN or file.suffix != ".py" or not file.is_file() or is_installed(file):
            continue
        place = name.replace(".", "/")
        if hasattr(module, "__path__"):
            found |= {f"{place}/{below}": path for below, path in _below(file.parent, "*.py")}
        else:
            found[f"{place}.py"] = file
    return found


def _below(folder: Path, pattern: str) -> Iterator[tuple[str, Path]]:
    for path in sorted(folder.rglob(pattern)):
        name = path.relative_to(folder)
        if path.is_file() and not any(part == "__pycache__" or part.startswith(".") for part in name.parts):
            yield name.as_posix(), path


def _ship(spark: SparkSession, name: str, files: Files) -> None:
    from pyspark import SparkFiles

    context: Any = spark.sparkContext
    archive = f"{name}-{_digest(files)}.zip"
    includes: list[str] = context._python_includes  # noqa: SLF001 - what addPyFile has added
    if not files or archive in includes:
        return
    root = SparkFiles.getRootDirectory()  # goes with the session
    path = Path(root, "penstock", archive)
    path.parent.mkdir(exist_ok=True)
    write_archive(path, files)
    # An earlier version is not to be found before, or after, this one.
    earlier = re.compile(rf"{name}-[0-9a-f]{{16}}\.zip")
    includes[:] = [entry for entry in includes if not earlier.fullmatch(entry)]
    context.addPyFile(str(path))
    # For the workers alone; this program has its modules.
    sys.path.remove(os.path.join(root, archive))  # noqa: PTH118 - the very text that addPyFile wrote there
    # The planner runs on the driver, where Spark does not give it the files. Another value here also means new workers:
    # one that has imported an earlier version of a module would go on with it.
    before = context.environment.get(_PATH, "").split(os.pathsep)
    kept = [entry for entry in before if entry and not earlier.fullmatch(Path(entry).name)]
    context.environment[_PATH] = os.pathsep.join([str(path), *kept])


def _digest(files: Files) -> str:
    digest = hashlib.blake2b(sys.version.encode(), digest_size=8)
    for name, path in sorted(files.items()):
        digest.update(name.encode())
        digest.update(path.read_bytes())
    return digest.hexdigest()


def write_archive(target: Path, files: Files) -> None:
    """Write a zip of modules, with their compiled form: a zip cannot keep what an import compiles."""
    with zipfile.ZipFile(target, "w", zipfile.ZIP_DEFLATED) as archive:
        folders = {f"{parent}/" for name in files for parent in PurePosixPath(name).parents if parent.name}
        for folder in sorted(folders):
            archive.writestr(folder, b"")  # a package without an __init__ is found by its entry
        for name, path in files.items():
            archive.write(path, name)
            compiled = _compiled(path) if path.suffix == ".py" else None
            if compiled is not None:
                archive.writestr(f"{name}c", compiled)


def _compiled(path: Path) -> bytes | None:
    try:
        code = SourceFileLoader(path.stem, str(path)).get_code(path.stem)
    except SyntaxError:
        return None  # a file of a package that nobody imports
    source_hash = importlib.util.source_hash(path.read_bytes())
    return importlib.util.MAGIC_NUMBER + _UNCHECKED + source_hash + marshal.dumps(code)
