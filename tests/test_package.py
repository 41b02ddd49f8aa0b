"""What `import penstock` and `penstock --help` cost."""

from __future__ import annotations

import subprocess
import sys
from importlib import metadata
from pathlib import Path

PENSTOCK = Path(sys.executable).parent / "penstock"
HEAVY = ("pyspark", "py4j", "confluent_kafka", "pyarrow", "pandas", "numpy", "lmdb", "rich", "typer")

IMPORT_COST = """
import sys, time
before = time.process_time()
import penstock
print(time.process_time() - before)
"""

SHOW_HELP = """
import sys
from penstock.cli.main import main
sys.argv = ["penstock", "--help"]
try:
    main()
except SystemExit:
    pass
"""


def test_importing_penstock_imports_nothing_heavy() -> None:
    assert _loaded("import penstock") == set()


def test_importing_penstock_takes_less_than_300_ms() -> None:
    # Processor time of the best of three: a busy machine makes it slower, never faster.
    runs = [float(_python(IMPORT_COST)) for _ in range(3)]
    assert min(runs) < 0.3


def test_the_broker_and_its_jars_load_neither_spark_nor_a_kafka_client() -> None:
    assert _loaded("import penstock.broker, penstock.jars") == set()


def test_help_loads_neither_spark_nor_a_kafka_client() -> None:
    assert _loaded(SHOW_HELP) <= {"typer", "rich"}


def test_the_command_is_installed_and_tells_its_version() -> None:
    done = subprocess.run([PENSTOCK, "--version"], capture_output=True, text=True, check=True)
    assert done.stdout == f"penstock {metadata.version('penstock')}\n"


def test_unknown_command_is_an_error_without_traceback() -> None:
    done = subprocess.run([PENSTOCK, "brokr"], capture_output=True, text=True, check=False)
    assert done.returncode == 2
    assert "No such command 'brokr'" in done.stderr
    assert "Traceback" not in done.stderr


def test_the_package_is_typed() -> None:
    import penstock

    assert (Path(penstock.__file__).parent / "py.typed").is_file()


def _loaded(code: str) -> set[str]:
    """The heavy packages in memory after `code` ran in a fresh Python."""
    printed = _python(f"{code}\nimport sys\nprint('loaded:', *sys.modules)")
    names = printed.rpartition("loaded:")[2].split()
    return {name.partition(".")[0] for name in names} & set(HEAVY)


def _python(code: str) -> str:
    return subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
