"""The settings of a Spark session that hosts penstock, and which of them a user may not change."""

from __future__ import annotations

import os
import shutil
import sys
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from penstock.errors import ConfigError
from penstock.spark.installed import is_installed
from penstock.spark.masters import is_local, is_one_machine, promised_cores

LOCAL_MASTER = "local[*,4]"
"""All cores; a task is tried four times, so that a worker process that dies is replaced. `local[*]` gives up at once."""

DEFAULTS: Mapping[str, str] = {
    "spark.master": LOCAL_MASTER,
    "spark.app.name": "penstock",
    "spark.driver.memory": "2g",
    # No web server: it takes a port, and a tenth of the start-up.
    "spark.ui.enabled": "false",
    "spark.ui.showConsoleProgress": "false",
    "spark.sql.catalogImplementation": "in-memory",
    # A task is a partition: adaptive execution may not merge them. Streaming queries do not use it anyway.
    "spark.sql.adaptive.enabled": "false",
    "spark.sql.adaptive.coalescePartitions.enabled": "false",
    "spark.sql.shuffle.partitions": "4",
    # Rows between two levels travel in few large Arrow batches.
    "spark.sql.execution.arrow.maxRecordsPerBatch": "100000",
    # The planner decides when there is a batch.
    "spark.sql.streaming.noDataMicroBatches.enabled": "false",
    "spark.sql.streaming.minBatchesToRetain": "20",
    # Kafka clients and LMDB environments live in the worker processes from batch to batch.
    "spark.python.worker.reuse": "true",
    # A second attempt of a running task would fence the first one's producer.
    "spark.speculation": "false",
}

# Nothing needs to be reached from outside, whatever the host's name resolves to.
ONE_MACHINE: Mapping[str, str] = {
    "spark.driver.host": "127.0.0.1",
    "spark.driver.bindAddress": "127.0.0.1",
}

# One process is driver and executor: its workers find penstock where the driver has it. Those of other executors get it
# sent, which is after the daemon has started.
LOCAL_DEFAULTS: Mapping[str, str] = {**ONE_MACHINE, "spark.python.daemon.module": "penstock.spark.worker_daemon"}

# The JVM plans and moves bytes, Python does the work. Without the optimising compiler it needs half the processor time
# until the first batch has run (8 s instead of 14 s on two cores), and small batches stay as fast.
LOCAL_JVM_OPTIONS = ("-XX:TieredStopAtLevel=1",)

# Hadoop's own local file system starts a `chmod` process for each file it writes: 100 ms of every batch (measured: an
# empty batch takes 90-110 ms with the bare one, 190-290 ms without, 2 cores).
BARE_FILE_SYSTEM: Mapping[str, str] = {
    "spark.hadoop.fs.file.impl": "com.globalmentor.apache.hadoop.fs.BareLocalFileSystem",
    "spark.sql.streaming.checkpointFileManagerClass": (
        "org.apache.spark.sql.execution.streaming.checkpointing.FileSystemBasedCheckpointFileManager"
    ),
}

_CLASS_PATH = "spark.driver.extraClassPath"
_JVM_OPTIONS = "spark.driver.extraJavaOptions"
_EXECUTOR_JVM_OPTIONS = "spark.executor.extraJavaOptions"
_WORKER_PATH = "spark.executorEnv.PYTHONPATH"


def spark_settings(settings: Mapping[str, Any] | None) -> dict[str, str]:
    """The `spark.*` settings among an application's settings, as the text Spark reads."""
    found = {key: value for key, value in (settings or {}).items() if key.startswith("spark.") and value is not None}
    return {key: str(value).lower() if isinstance(value, bool) else str(value) for key, value in found.items()}


def complete(
    given: Mapping[str, str], *, jars: Sequence[Path] = (), jvm_options: Sequence[str] = (), python_path: str = ""
) -> dict[str, str]:
    """All settings of a new session: the given ones over the defaults, and what the machine adds.

    Args:
        given: The user's `spark.*` settings.
        jars: Jars for the driver's class path; with any the bare local file system is used.
        jvm_options: Options for the driver's JVM; the user's come after them and win.
        python_path: Folders that local workers need to import the user's modules.
    """
    refuse(given.get)
    settings = {**DEFAULTS, **given}
    master = settings["spark.master"]
    if is_one_machine(master):
        settings = {**ONE_MACHINE, **settings}
        jvm_options = (*LOCAL_JVM_OPTIONS, *jvm_options)
        settings["spark.pyspark.python"] = settings["spark.pyspark.driver.python"] = sys.executable
    if is_local(master):
        settings = {**LOCAL_DEFAULTS, **settings}
        _join(settings, _WORKER_PATH, os.pathsep, after=python_path)
        if jars:
            settings = {**BARE_FILE_SYSTEM, **settings}
            _join(settings, _CLASS_PATH, os.pathsep, before=os.pathsep.join(map(str, jars)))
    elif is_one_machine(master):
        _join(settings, _EXECUTOR_JVM_OPTIONS, " ", before=" ".join(LOCAL_JVM_OPTIONS))
    if (cores := promised_cores(settings)) is not None:
        settings.setdefault("spark.default.parallelism", str(cores))
    _join(settings, _JVM_OPTIONS, " ", before=" ".join(jvm_options))
    return settings


def _join(settings: dict[str, str], key: str, separator: str, *, before: str = "", after: str = "") -> None:
    joined = separator.join(part for part in (before, settings.get(key, ""), after) if part)
    if joined:
        settings[key] = joined


def refuse(read: Callable[[str], str | None]) -> None:
    """Raise ConfigError for settings that would break an application.

    Args:
        read: A setting's value by its key, None if it is not set.
    """
    if (read("spark.speculation") or "false").lower() == "true":
        raise ConfigError(
            "spark.speculation is true, but a second attempt of a running task would write its output twice",
            hint="Remove the setting; slow tasks are retried after they fail, not before",
        )
    if read("spark.remote"):
        raise ConfigError(
            "spark.remote asks for Spark Connect, which cannot host a topology",
            hint="Set spark.master instead, for example spark://host:7077 or local[*,4]",
        )


def worker_python(settings: Mapping[str, str]) -> str:
    """The Python of the workers: on this machine the program's own, elsewhere what is set, or one in the same place.

    Raises:
        ConfigError: The driver does not have it; Spark plans with it, too.
    """
    if is_one_machine(settings["spark.master"]):
        return sys.executable
    # Of the two, Spark prefers the setting; PySpark itself reads the variable alone.
    python = settings.get("spark.pyspark.python") or os.environ.get("PYSPARK_PYTHON") or sys.executable
    if shutil.which(python) is None:
        raise ConfigError(
            f"the workers' Python is {python}, which is not there on the driver: Spark runs the planner with it, too",
            hint="Set spark.pyspark.python to one that is in the same place on driver and nodes. If it comes with "
            "spark.archives, unpack the archive also in the folder the driver is started in",
        )
    return python


def worker_python_path() -> str:
    """The folders of `sys.path` that a new process of the same Python would not have: the script's, PYTHONPATH's.

    Functions of the user's own modules travel by name, so workers must be able to import those modules.
    """
    folders = dict.fromkeys(Path(entry or ".").resolve() for entry in sys.path)
    return os.pathsep.join(str(folder) for folder in folders if folder.exists() and not is_installed(folder))
