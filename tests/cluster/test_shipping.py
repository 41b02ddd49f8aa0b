"""What is sent to the executors of a cluster: which modules, and that another process runs them from the archive alone."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from types import ModuleType

import pytest

import penstock
from penstock.spark.shipping import own_modules, write_archive


def _module(name: str, file: Path | str | None, *, package: bool = False) -> ModuleType:
    module = ModuleType(name)
    module.__file__ = None if file is None else str(file)
    if package:
        module.__path__ = []
    return module


@pytest.fixture
def project(tmp_path: Path) -> Path:
    """A program of one module and a package, with what lies about in such folders."""
    for name, text in {
        "rates.py": "FACTOR = 2\n",
        "shop/__init__.py": "",
        "shop/prices.py": "from rates import FACTOR\n\ndef double(value):\n    return value * FACTOR\n",
        "shop/later/tax.py": "TAX = 19\n",
        "shop/broken.py": "def (:\n",
        "shop/__pycache__/prices.cpython-311.pyc": "",
        "shop/notes.txt": "not code",
        "unrelated.py": "",
    }.items():
        path = tmp_path / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(text)
    return tmp_path


def test_own_modules_are_those_that_are_imported_and_not_installed(project: Path) -> None:
    import orjson

    modules = {
        "rates": _module("rates", project / "rates.py"),
        "shop": _module("shop", project / "shop/__init__.py", package=True),
        "shop.prices": _module("shop.prices", project / "shop/prices.py"),
        "__main__": _module("__main__", project / "unrelated.py"),
        "spaces": _module("spaces", None, package=True),
        "in_an_archive": _module("in_an_archive", project / "other.zip/in_an_archive.py"),
        "sys": sys,
        "json": json,
        "orjson": orjson,
        "penstock": penstock,
        "user_site": _module("user_site", project / "site-packages/user_site.py"),
    }
    assert own_modules(modules) == {
        name: project / name
        for name in ("rates.py", "shop/__init__.py", "shop/broken.py", "shop/later/tax.py", "shop/prices.py")
    }


def test_another_process_runs_what_is_in_the_archive(project: Path, tmp_path: Path) -> None:
    files = {name: project / name for name in ("rates.py", "shop/prices.py", "shop/broken.py", "shop/later/tax.py")}
    archive = tmp_path / "away" / "modules.zip"
    archive.parent.mkdir()
    write_archive(archive, files)
    for path in files.values():
        path.unlink()
    program = "import shop.later.tax, shop.prices as p; print(p.double(21), p.__file__)"
    done = subprocess.run(
        [sys.executable, "-c", program],
        env={"PYTHONPATH": str(archive)},
        cwd=archive.parent,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stderr == ""
    assert done.stdout.split() == ["42", f"{archive}/shop/prices.pyc"]
