"""The Spark session that hosts applications."""

from __future__ import annotations

import logging
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pyspark import SparkConf, SparkContext
from pyspark.sql import SparkSession

from penstock.errors import ConfigError
from penstock.jars import JarError, fetch, require_java
from penstock.spark.callbacks import take_calls_on_any_file
from penstock.spark.class_archive import ClassArchive
from penstock.spark.jvm import launch_jvm
from penstock.spark.masters import is_local
from penstock.spark.quiet_end import stop_quietly
from penstock.spark.session_check import check_session, require_checkpoint
from penstock.spark.session_settings import (
    BARE_FILE_SYSTEM,
    LOCAL_MASTER,
    complete,
    spark_settings,
    worker_python,
    worker_python_path,
)
from penstock.spark.shipping import ship_penstock

log = logging.getLogger("penstock.spark")

LOG4J = Path(__file__).with_name("log4j2.properties")


def build_session(
    settings: Mapping[str, Any] | None = None,
    *,
    master: str | None = None,
    app_name: str | None = None,
    existing: SparkSession | None = None,
) -> SparkSession:
    """A Spark session fit to host penstock: a new one, or the running one after a check.

    Args:
        settings: Settings of an application; those that start with `spark.` are for Spark. `spark.master` is
            `local[*,4]` unless given.
        master: The same as `spark.master`.
        app_name: The name Spark shows, `penstock` unless given.
        existing: A session to use as it is.

    Raises:
        ConfigError: A setting would break an application, or the running session has such a setting.
        JavaError: There is no Java 17, or the JVM does not start.
    """
    take_calls_on_any_file()
    given = spark_settings(settings)
    _take(given, "spark.master", master)
    _take(given, "spark.app.name", app_name)
    running = existing or _running_session()
    if running is not None:
        check_session(running, given)
        require_checkpoint(str(running.sparkContext.master), settings)
    else:
        require_checkpoint(given.get("spark.master", LOCAL_MASTER), settings)
        running = _new_session(given)
    ship_penstock(running)
    return running


def _take(given: dict[str, str], key: str, value: str | None) -> None:
    if value is not None and given.setdefault(key, value) != value:
        raise ConfigError(f"{key} is {given[key]!r} in the settings and {value!r} as an argument", hint="Keep one.")


def _running_session() -> SparkSession | None:
    # The session of another thread counts, too: a process has one SparkContext.
    if SparkContext._active_spark_context is None:  # noqa: SLF001 - there is no public way to ask
        return None
    return SparkSession.builder.getOrCreate()


def _new_session(given: Mapping[str, str]) -> SparkSession:
    if os.environ.get("SPARK_REMOTE"):
        raise ConfigError(
            "SPARK_REMOTE asks for Spark Connect, which cannot host a topology",
            hint="Unset it, and set spark.master instead, for example spark://host:7077 or local[*,4]",
        )
    if SparkContext._gateway is None and "PYSPARK_GATEWAY_PORT" not in os.environ:  # noqa: SLF001
        return _start(given, require_java())
    return _start_in_running_jvm(given)


def _start(given: Mapping[str, str], java: Path) -> SparkSession:
    jars = _driver_jars()
    archive = ClassArchive.of(java, jars)
    options = (*archive.jvm_options(), _log4j_option())
    settings = complete(given, jars=jars, jvm_options=options, python_path=worker_python_path())
    # PySpark takes the workers' Python from here, not from spark.pyspark.python. Another Python than this one has other
    # packages, and cannot read what this one pickles.
    settings["spark.pyspark.python"] = os.environ["PYSPARK_PYTHON"] = worker_python(settings)
    os.environ["PYSPARK_DRIVER_PYTHON"] = sys.executable
    conf = SparkConf(loadDefaults=False).setAll(list(settings.items()))
    return _session(conf, launch_jvm(conf, archive))


def _start_in_running_jvm(given: Mapping[str, str]) -> SparkSession:
    """In a JVM that spark-submit started, or that an earlier session left: what is fixed with its start stays."""
    SparkContext._ensure_initialized()  # noqa: SLF001 - attaches to spark-submit's JVM
    conf = SparkConf()
    submitted = dict(conf.getAll())
    settings = complete({**submitted, **given}, python_path=worker_python_path())
    os.environ["PYSPARK_PYTHON"] = worker_python(settings)
    if is_local(settings["spark.master"]) and _is_loadable(BARE_FILE_SYSTEM["spark.hadoop.fs.file.impl"]):
        settings = {**BARE_FILE_SYSTEM, **settings}
    return _session(conf.setAll(list(settings.items())), None)


def _session(conf: SparkConf, gateway: Any) -> SparkSession:
    stop_quietly(SparkContext(conf=conf, gateway=gateway))
    return SparkSession.builder.getOrCreate()


def _log4j_option() -> str:
    # Quoted: spark-submit splits the options at blanks, and a folder's name may have one.
    return f'"-Dlog4j2.configurationFile={LOG4J.as_uri()}"'


def _driver_jars() -> list[Path]:
    try:
        return fetch("spark-driver")
    except JarError as error:
        log.warning("every batch takes 100 ms longer, as the fast local file system cannot be used: %s", error)
        return []


def _is_loadable(name: str) -> bool:
    from py4j.protocol import Py4JJavaError

    jvm: Any = SparkContext._jvm  # noqa: SLF001 - PySpark's own door to the JVM
    try:
        jvm.java.lang.Class.forName(name)
    except Py4JJavaError:
        return False
    return True
