"""Sessions: the settings without Spark, then what a user sees of a real one."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from types import SimpleNamespace
from typing import TYPE_CHECKING

import pyarrow as pa
import pytest

from penstock.errors import ConfigError
from penstock.spark.class_archive import ClassArchive
from penstock.spark.session_check import check_session, problems
from penstock.spark.session_settings import complete, refuse, spark_settings, worker_python_path

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

JAR = Path("bare.jar")


def test_only_settings_of_spark_are_taken_and_written_as_spark_reads_them() -> None:
    settings = {"application.id": "app", "spark.ui.enabled": True, "spark.driver.memory": None, "spark.cores.max": 4}
    assert spark_settings(settings) == {"spark.ui.enabled": "true", "spark.cores.max": "4"}


def test_a_dead_worker_is_replaced_by_default() -> None:
    assert complete({})["spark.master"] == "local[*,4]"


def test_given_settings_win() -> None:
    settings = complete({"spark.driver.memory": "8g", "spark.driver.host": "10.0.0.1"})
    assert settings["spark.driver.memory"] == "8g"
    assert settings["spark.driver.host"] == "10.0.0.1"


def test_jvm_options_and_class_path_of_the_user_are_kept() -> None:
    given = {"spark.driver.extraJavaOptions": "-Dmine=1", "spark.driver.extraClassPath": "mine.jar"}
    settings = complete(given, jars=[JAR], jvm_options=["-Dours=1"])
    assert settings["spark.driver.extraJavaOptions"] == "-XX:TieredStopAtLevel=1 -Dours=1 -Dmine=1"
    assert settings["spark.driver.extraClassPath"] == f"bare.jar{os.pathsep}mine.jar"


def test_the_fast_file_system_is_used_only_with_its_jar() -> None:
    assert "spark.hadoop.fs.file.impl" in complete({}, jars=[JAR])
    assert "spark.hadoop.fs.file.impl" not in complete({})


def test_a_cluster_gets_nothing_of_this_machine() -> None:
    settings = complete({"spark.master": "spark://host:7077"}, jars=[JAR], python_path="/here")
    machine = {"spark.driver.host", "spark.pyspark.python", "spark.python.daemon.module", "spark.driver.extraClassPath"}
    assert not machine & settings.keys()
    assert "spark.executorEnv.PYTHONPATH" not in settings


def test_speculation_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"spark.speculation is true, but .* twice. Remove the setting"):
        complete({"spark.speculation": "true"})


def test_spark_connect_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"Spark Connect.*Set spark.master instead"):
        refuse({"spark.remote": "sc://host"}.get)


def test_workers_get_the_folders_of_the_script(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setattr(sys, "path", [str(tmp_path), str(tmp_path / "missing"), *sys.path])
    folders = worker_python_path().split(os.pathsep)
    assert folders[0] == str(tmp_path.resolve())
    assert not [folder for folder in folders if "site-packages" in folder or "missing" in folder]


def test_workers_get_folders_below_the_one_of_python(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    program, packages = tmp_path / "src" / "app", tmp_path / "lib" / "python3" / "dist-packages"
    for folder in (program, packages):
        folder.mkdir(parents=True)
    monkeypatch.setattr(sys, "path", [str(program), str(packages)])
    for prefix in ("prefix", "base_prefix"):
        monkeypatch.setattr(sys, prefix, str(tmp_path))
    assert worker_python_path() == str(program.resolve())


def test_what_slows_a_foreign_session_down_is_named() -> None:
    found = problems(
        {"spark.master": "local[2]", "spark.python.worker.reuse": "false"}, {"spark.python.worker.reuse": "true"}
    )
    assert found == [
        "spark.python.worker.reuse is false, true would be faster",
        "spark.master is local[2]: a task that fails is not tried again, local[2,4] would",
        "spark.python.worker.reuse=true has no effect, it is false",
    ]


def test_something_else_than_a_session_is_refused() -> None:
    with pytest.raises(ConfigError, match=r"types.SimpleNamespace cannot host a topology. Give a classic session"):
        check_session(SimpleNamespace(), {})


def test_the_class_archive_is_written_once_and_then_used(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("PENSTOCK_CACHE", str(tmp_path))
    archive = ClassArchive.of(Path(sys.executable), [])
    assert archive.jvm_options()[0] == f'"-XX:ArchiveClassesAtExit={archive.partial}"'
    archive.keep()
    assert not archive.file.exists()
    archive.partial.write_text("classes")
    archive.keep()
    assert archive.jvm_options()[0] == f'"-XX:SharedArchiveFile={archive.file}"'


@pytest.mark.spark
def test_a_running_session_is_used_again(spark: SparkSession) -> None:
    from penstock.spark.session import build_session

    assert build_session() is spark
    assert build_session(existing=spark) is spark


@pytest.mark.spark
def test_a_running_session_with_another_python_is_refused(spark: SparkSession, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(spark.sparkContext, "pythonExec", "/other/python")
    with pytest.raises(
        ConfigError, match=r"runs its workers with /other/python, this program runs with .*PYSPARK_PYTHON"
    ):
        check_session(spark, {})


@pytest.mark.spark
def test_workers_run_this_python_and_import_the_programs_modules(spark: SparkSession) -> None:
    schema = "python string, module string, parent string"
    rows = spark.range(1, numPartitions=1).mapInArrow(_describe_worker, schema).collect()
    assert [tuple(row) for row in rows] == [(sys.executable, "tests.cases.case", "penstock.spark.worker_daemon")]


def _describe_worker(batches: Iterator[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
    import tests.cases.case

    assert sum(batch.num_rows for batch in batches) == 1
    command = Path(f"/proc/{os.getppid()}/cmdline").read_text().split("\0")
    found = {"python": sys.executable, "module": tests.cases.case.__name__, "parent": command[2]}
    yield pa.RecordBatch.from_pylist([found])


QUIET_PROGRAM = """
import sys
from penstock.spark.warm_up import start_warm_up

def main():
    warm_up = start_warm_up({"spark.driver.memory": "1g"})
    session = warm_up.wait(print)

    def shout(batches):
        for batch in batches:
            print("from a worker")
            yield batch

    def fail(batches):
        raise ValueError("on purpose")
        yield

    session.range(1, numPartitions=1).mapInArrow(shout, "id long").collect()
    try:
        session.range(1, numPartitions=1).mapInArrow(fail, "id long").collect()
    except Exception as error:
        print("on purpose" in str(error))
    print(session.sparkContext._gateway.proc.pid)
    objects = [session.sparkContext._jvm.java.lang.Object() for _ in range(1000)]
    warm_up.close()
    # From here on py4j tells the JVM, one by one, that they are not needed, until both end.
    del objects

main()
"""


@pytest.mark.spark
def test_a_terminal_shows_only_what_the_program_says_and_nothing_stays(tmp_path: Path) -> None:
    (tmp_path / "tmp").mkdir()
    (tmp_path / "cwd").mkdir()
    done = subprocess.run(
        [sys.executable, "-c", QUIET_PROGRAM],
        env={**os.environ, "TMPDIR": str(tmp_path / "tmp"), "JAVA_TOOL_OPTIONS": f"-Djava.io.tmpdir={tmp_path}/tmp"},
        cwd=tmp_path / "cwd",
        capture_output=True,
        text=True,
        check=False,
    )
    *said, pid = done.stdout.split("\n")[:-1]
    assert said == ["starting Spark", "starting the first Python workers", "True"]
    assert done.stderr == "from a worker\n"
    assert not Path("/proc", pid).exists()
    assert [entry.name for entry in tmp_path.glob("*/*") if not entry.name.startswith("hsperfdata")] == []


HASTY_PROGRAM = """
import sys
from penstock.spark import warm_up

def start(*_):
    print("pyspark.sql" in sys.modules)

warm_up.WarmUp = start
warm_up.start_warm_up()
"""


def test_pyspark_is_loaded_before_there_are_two_threads_that_may_import_it(tmp_path: Path) -> None:
    # Else whichever comes second may get half a module: `from pyspark.sql import SparkSession` a moment later failed.
    done = subprocess.run(
        [sys.executable, "-c", HASTY_PROGRAM], cwd=tmp_path, capture_output=True, text=True, check=True
    )
    assert done.stdout == "True\n"


FAILING_PROGRAM = """
import os
from penstock.errors import PenstockError
from penstock.spark.warm_up import start_warm_up

home = os.environ.pop("JAVA_HOME", None)
for settings, java in ({"spark.driver.memory": "nonsense"}, home), ({}, "/nowhere"):
    if java:
        os.environ["JAVA_HOME"] = java
    try:
        start_warm_up(settings).wait()
    except PenstockError as error:
        print(type(error).__name__, error)
"""


@pytest.mark.spark
def test_a_jvm_that_does_not_start_is_an_error_with_its_reason() -> None:
    done = subprocess.run([sys.executable, "-c", FAILING_PROGRAM], capture_output=True, text=True, check=True)
    memory, java = done.stdout.splitlines()
    assert memory.startswith("JavaError Spark's JVM did not start: ")
    assert "nonsense" in memory
    assert "Check spark.driver.memory" in memory
    assert java == (
        "JavaError no Java found (JAVA_HOME=/nowhere has no bin/java). "
        "Install Java 17 or newer, or point JAVA_HOME at one"
    )
    assert done.stderr == ""


MANY_FILES = """
import os, threading
from penstock.spark.session import build_session

files = [os.open(os.devnull, os.O_RDONLY) for _ in range(1100)]
called = threading.Event()
session = build_session({"spark.driver.memory": "1g"})
query = session.readStream.format("rate").load().writeStream.foreachBatch(lambda rows, batch: called.set()).start()
print(called.wait(60), flush=True)
os._exit(0)  # a query that is never called cannot be stopped
"""


@pytest.mark.spark
def test_a_program_with_many_open_files_is_called_by_spark(tmp_path: Path) -> None:
    resource = pytest.importorskip("resource")
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    if hard != resource.RLIM_INFINITY and hard < 4096:
        pytest.skip("no program may have so many files here")
    done = subprocess.run(
        [sys.executable, "-c", MANY_FILES],
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_NOFILE, (max(soft, 4096), hard)),
        cwd=tmp_path,
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.stdout == "True\n", done.stderr
