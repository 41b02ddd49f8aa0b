"""What a session gets on masters other than local ones, and what is refused before anything starts."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

from penstock.errors import ConfigError, ProcessorStateError
from penstock.spark.session_check import require_checkpoint
from penstock.spark.session_settings import complete, worker_python
from penstock.spark.tasks.client import require_checkpoint as require_checkpoint_on_node


def test_executors_of_a_local_cluster_get_nothing_of_the_drivers_process() -> None:
    settings = complete({"spark.master": "local-cluster[2,3,1024]"}, jars=[Path("bare.jar")], python_path="/here")
    # Executors have no jar of the driver's class path, and penstock is sent to them after their daemon has started.
    absent = {"spark.hadoop.fs.file.impl", "spark.executorEnv.PYTHONPATH", "spark.python.daemon.module"}
    assert not absent & settings.keys()
    assert settings["spark.driver.host"] == "127.0.0.1"
    assert settings["spark.pyspark.python"] == sys.executable
    assert settings["spark.default.parallelism"] == "6"


def test_the_parallelism_of_the_user_wins() -> None:
    given = {"spark.master": "spark://host:7077", "spark.cores.max": "8"}
    assert complete(given)["spark.default.parallelism"] == "8"
    assert complete({**given, "spark.default.parallelism": "3"})["spark.default.parallelism"] == "3"
    assert "spark.default.parallelism" not in complete({"spark.master": "spark://host:7077"})


def test_the_workers_python_is_the_setting_then_the_variable_then_this_one(monkeypatch: pytest.MonkeyPatch) -> None:
    cluster = {"spark.master": "yarn"}
    monkeypatch.delenv("PYSPARK_PYTHON", raising=False)
    assert worker_python(cluster) == sys.executable
    monkeypatch.setenv("PYSPARK_PYTHON", "sh")
    assert worker_python(cluster) == "sh"
    assert worker_python({**cluster, "spark.pyspark.python": "cat"}) == "cat"
    assert worker_python({"spark.master": "local[2]", "spark.pyspark.python": "cat"}) == sys.executable


def test_a_python_that_only_the_nodes_have_is_refused() -> None:
    settings = {"spark.master": "yarn", "spark.pyspark.python": "./environment/bin/python"}
    with pytest.raises(
        ConfigError, match=r"\./environment/bin/python, which is not there on the driver.*unpack the arch"
    ):
        worker_python(settings)


@pytest.mark.parametrize("master", ["spark://host:7077", "yarn", "k8s://https://host:6443"])
def test_an_application_without_a_shared_checkpoint_is_refused(master: str) -> None:
    with pytest.raises(ConfigError, match=rf"penstock.checkpoint is not set, but spark.master is {master}: "):
        require_checkpoint(master, {"application.id": "app", "penstock.checkpoint": None})
    require_checkpoint(master, {"application.id": "app", "penstock.checkpoint": "hdfs://namenode/app"})
    require_checkpoint(master, {})  # a session for something else
    require_checkpoint("local-cluster[2,1,1024]", {"application.id": "app"})


def test_a_node_that_does_not_see_the_checkpoint_runs_nothing(tmp_path: Path) -> None:
    with pytest.raises(ProcessorStateError, match=r"the node .* does not see the checkpoint .*all nodes reach"):
        require_checkpoint_on_node(str(tmp_path))
    (tmp_path / "query").mkdir()
    require_checkpoint_on_node(str(tmp_path))
    require_checkpoint_on_node(tmp_path.as_uri())
