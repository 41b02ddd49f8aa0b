"""Whether a session that somebody else started can host an application."""

from __future__ import annotations

import logging
import sys
from collections.abc import Mapping
from typing import Any

from pyspark.sql import SparkSession

from penstock.errors import ConfigError
from penstock.spark.masters import is_one_machine
from penstock.spark.session_settings import DEFAULTS, refuse

log = logging.getLogger("penstock.spark")

# Wrong values of these cost time, not correctness.
_WANTED = {
    key: DEFAULTS[key]
    for key in (
        "spark.python.worker.reuse",
        "spark.sql.adaptive.coalescePartitions.enabled",
        "spark.sql.streaming.noDataMicroBatches.enabled",
    )
}


def check_session(session: Any, given: Mapping[str, str]) -> None:
    """Raise for what would break an application, and log what would slow it down.

    Args:
        session: The running session.
        given: The application's `spark.*` settings; a running session does not take them.

    Raises:
        ConfigError: Names the setting and what to do.
    """
    if not isinstance(session, SparkSession):
        raise ConfigError(
            f"a {type(session).__module__}.{type(session).__name__} cannot host a topology",
            hint="Give a classic session, made with SparkSession.builder.master(...); Spark Connect is not supported",
        )
    settings = _settings(session)
    refuse(settings.get)
    master = settings.get("spark.master", "")
    python = session.sparkContext.pythonExec
    if is_one_machine(master) and python != sys.executable:
        raise ConfigError(
            f"the Spark session runs its workers with {python}, this program runs with {sys.executable}",
            hint="Set os.environ['PYSPARK_PYTHON'] = sys.executable before the session is made",
        )
    for problem in problems(settings, given):
        log.warning("the running Spark session is used as it is: %s", problem)


def require_checkpoint(master: str, settings: Mapping[str, Any] | None) -> None:
    """Refuse an application that would keep its state on the disk of whichever node runs a task.

    >>> require_checkpoint("yarn", {"application.id": "app", "penstock.checkpoint": "hdfs://namenode/app"})
    >>> require_checkpoint("yarn", {"application.id": "app"})
    Traceback (most recent call last):
    ...
    penstock.errors.ConfigError: penstock.checkpoint is not set, but spark.master is yarn: the default folder is on each \
node another one. Set it to a folder that the driver and all nodes reach, as hdfs://namenode/app or a mounted path
    """
    given = settings or {}
    if given.get("application.id") and not given.get("penstock.checkpoint") and not is_one_machine(master):
        raise ConfigError(
            f"penstock.checkpoint is not set, but spark.master is {master}: the default folder is on each node another one",
            hint="Set it to a folder that the driver and all nodes reach, as hdfs://namenode/app or a mounted path",
        )


def problems(settings: Mapping[str, str], given: Mapping[str, str]) -> list[str]:
    """What is wrong with a session's settings, one line for each.

    >>> problems({"spark.master": "local[*]", "spark.python.worker.reuse": "true"}, {"spark.driver.memory": "8g"})
    ['spark.master is local[*]: a task that fails is not tried again, local[*,4] would', \
'spark.driver.memory=8g has no effect, it is not set']
    """
    found = [
        f"{key} is {settings[key]}, {wanted} would be faster"
        for key, wanted in _WANTED.items()
        if settings.get(key, wanted).lower() != wanted
    ]
    master = settings.get("spark.master", "")
    if master == "local" or (master.startswith("local[") and "," not in master):
        cores = master[len("local[") : -1] or "1"
        found.append(f"spark.master is {master}: a task that fails is not tried again, local[{cores},4] would")
    for key, value in given.items():
        if settings.get(key) != value:
            now = f"it is {settings[key]}" if key in settings else "it is not set"
            found.append(f"{key}={value} has no effect, {now}")
    return found


def _settings(session: SparkSession) -> dict[str, str]:
    settings = dict(session.sparkContext.getConf().getAll())
    # A session may differ from its context in what concerns SQL.
    return {**settings, **{key: value for key, value in session.conf.getAll.items() if key.startswith("spark.sql.")}}
