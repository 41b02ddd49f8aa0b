from __future__ import annotations

import pickle
import subprocess
import sys

import pytest

from penstock import errors as base
from penstock.connect import errors
from penstock.connect.errors import ConfigError, DataError, config_text, java_class_name, shown


def test_every_error_stands_for_a_java_class() -> None:
    classes = [cls for cls in vars(errors).values() if isinstance(cls, type) and issubclass(cls, base.PenstockError)]
    own = [cls for cls in classes if cls.__module__ == errors.__name__]
    assert len(own) == 13
    names = [cls.java_name for cls in own]  # type: ignore[attr-defined]
    assert len(set(names)) == len(own)
    assert all(name.endswith("Exception") for name in names)


def test_configuration_errors_are_those_of_the_rest_of_penstock() -> None:
    error = ConfigError("bad", key="tasks.max")
    assert isinstance(error, base.ConfigError)
    assert pickle.loads(pickle.dumps(error)).key == "tasks.max"


def test_errors_of_others_keep_their_name() -> None:
    assert java_class_name(DataError("x")) == "org.apache.kafka.connect.errors.DataException"
    assert java_class_name(ValueError("x")) == "ValueError"
    assert java_class_name(subprocess.TimeoutExpired("x", 1)) == "subprocess.TimeoutExpired"


def test_long_values_are_cut() -> None:
    assert shown("a" * 500) == "a" * 200 + "..."
    assert [config_text(value) for value in (None, True, [1, None], "x")] == ["null", "true", "[1, null]", "x"]


@pytest.mark.parametrize(
    "module",
    ["penstock.connect.pipelines", "penstock.connect.validation", "penstock.connect.requests.create_connector"],
)
def test_the_heart_of_connect_imports_nothing_heavy(module: str) -> None:
    code = f"import sys, {module}; print(*sys.modules)"
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    heavy = {"pyspark", "py4j", "confluent_kafka", "pyarrow", "pandas", "numpy", "lmdb", "rich", "typer"}
    assert {name.partition(".")[0] for name in loaded} & heavy == set()
