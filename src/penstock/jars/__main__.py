"""`python -m penstock.jars NAME...` writes the sums of jar sets anew; for maintainers who changed an ivy.xml."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from penstock.errors import PenstockError
from penstock.jars import ivy
from penstock.jars.jar_set import JarSet, sha256


def write_sums(jars: JarSet) -> str:
    """Fetch a set, trust what comes, and write its sha256sums beside the ivy.xml; returns their text."""
    with tempfile.TemporaryDirectory() as folder:
        target, work = Path(folder, "jars"), Path(folder, "ivy")
        ivy.retrieve(jars.name, jars.ivy_file, target, work=work, log=Path(folder, "ivy.log"))
        sums = "".join(f"{sha256(jar)}  {jar.name}\n" for jar in sorted(target.glob("*.jar")))
    jars.ivy_file.with_name("sha256sums").write_text(sums)
    return sums


if __name__ == "__main__":
    try:
        for name in sys.argv[1:]:
            sys.stdout.write(write_sums(JarSet.named(name)))
    except PenstockError as error:
        sys.exit(f"penstock: {error}")
