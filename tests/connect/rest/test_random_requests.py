"""Random requests, made from the API's own description: answers have the shapes it promises, and nothing breaks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import schemathesis
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from schemathesis import GenerationMode
from schemathesis.checks import load_all_checks
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from penstock.connect.rest.app import Services, build_app
from penstock.connect.worker.connector_check import ConnectorCheck
from penstock.connect.worker.connector_types import InstalledConnectors
from penstock.connect.worker.herder import Herder
from tests.connect.rest.serving import Serving
from tests.connect.worker.in_process import SINK, SOURCE, Parts, parts

pytestmark = pytest.mark.slow

load_all_checks()

# What Kafka answers with 500 on purpose: bodies of another shape. Anything else is a fault of ours.
MALFORMED = ("Cannot deserialize value", "Cannot construct instance", "Unrecognized field")
CHECKS: list[Any] = [content_type_conformance, response_schema_conformance, status_code_conformance]
# States as loggers and connectors of the test have them; names that are there meet more code than random ones.
KNOWN = {"name": "c", "plugin": "FileStreamSink", "task": "0", "logger": "org.example.random"}

SCHEMA: Any = schemathesis.openapi.from_dict(build_app(Services(herder=parts().herder)).openapi())
OPERATIONS: list[Any] = [found.ok() for found in SCHEMA.get_all_operations()]


@pytest.fixture(scope="module")
def busy_worker() -> Parts:
    worker = parts()
    for name, config in (
        ("c", {"connector.class": SINK, "topics": "t"}),
        ("d", {"connector.class": SOURCE, "topic": "t"}),
    ):
        worker.configs.put_connector(name, {**config, "name": name})
        worker.supervisor.reconcile(name)
    worker.settle()
    return worker


@pytest.fixture
def url(busy_worker: Parts, serving: Serving) -> Iterator[str]:
    with serving(Services(herder=busy_worker.herder)) as client:
        yield str(client.base_url)


def only_foreseen_failures(context: Any, response: Any, case: Any) -> None:
    if response.status_code >= 500:
        message = response.json()["message"]
        assert message.startswith(MALFORMED), f"{response.status_code}: {message}"


_FEW = settings(max_examples=20, suppress_health_check=list(HealthCheck), database=None, derandomize=True)


@pytest.mark.parametrize("known", [False, True], ids=["any name", "known names"])
@pytest.mark.parametrize("operation", OPERATIONS, ids=lambda operation: operation.label)
def test_random_requests(operation: Any, url: str, known: bool) -> None:
    _send(operation, url, GenerationMode.POSITIVE, known=known)


@pytest.mark.parametrize("operation", [one for one in OPERATIONS if one.body], ids=lambda operation: operation.label)
def test_random_requests_with_bodies_of_other_shapes(operation: Any, url: str) -> None:
    _send(operation, url, GenerationMode.NEGATIVE, known=True)


def _send(operation: Any, url: str, mode: Any, *, known: bool) -> None:
    @_FEW
    @given(case=operation.as_strategy(generation_mode=mode))
    def check(case: Any) -> None:
        if known:
            case.path_parameters.update({name: KNOWN[name] for name in case.path_parameters})
        elif case.path_parameters.get("logger") == "root":
            return  # the root logger of this process is not for tests to change
        case.call_and_validate(base_url=url, checks=[*CHECKS, only_foreseen_failures])

    check()


# Parts of class names; a worker looks for them among the Python modules it can load.
_PART = st.sampled_from(["", "json", "os", "path", "__main__", "venv", "X", "$Value", " ", "\0", "ü", "1"])
_CLASS = st.builds(
    lambda parts, end: ".".join(parts) + end, st.lists(_PART, max_size=4), st.sampled_from(["", ":", ":X"])
)


def test_random_class_names(busy_worker: Parts, serving: Serving) -> None:
    check = ConnectorCheck(busy_worker.herder.check.worker, InstalledConnectors())
    herder = Herder(busy_worker.configs, busy_worker.statuses, busy_worker.supervisor, check, kafka_cluster_id="k")
    base = {"connector.class": "FileStreamSource", "name": "n", "topic": "t", "file": "f", "transforms": "t"}
    with serving(Services(herder=herder)) as client:

        @settings(_FEW, max_examples=100)
        @given(name=_CLASS)
        @example(name="venv.__main__.x")
        def validate(name: str) -> None:
            for key in ("connector.class", "value.converter", "transforms.t.type"):
                answer = client.put("/connector-plugins/FileStreamSource/config/validate", json={**base, key: name})
                assert answer.status_code in {200, 400}, answer.text

        validate()
