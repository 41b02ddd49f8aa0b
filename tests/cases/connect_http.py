"""REST cases that a worker has to answer: sent over HTTP to one that holds the connector the case speaks of."""

from __future__ import annotations

import re
from typing import Any

import httpx

from penstock.connect.requests.create_connector import CreateConnectorRequest
from penstock.connect.rest.app import Services
from tests.cases.connect_case import ConnectCase
from tests.cases.connect_judge import Verdict, differs
from tests.connect.rest.serving import server
from tests.connect.worker.in_process import SINK, parts

_RESTARTING = "connector status with RESTARTING states"


def over_http(method: str, path: str, case: ConnectCase) -> Verdict:
    """Sends the request of a case, and compares status, body and message."""
    worker = parts()
    match = re.match(r"/connectors/([^/?]+)", path)
    if match is not None and "non-existent" not in match[1]:
        config: dict[str, str | None] = {
            "connector.class": SINK, "name": match[1], "tasks.max": "2", "topics": "foo_topic,bar_topic"
        }  # fmt: skip
        worker.herder.create(CreateConnectorRequest(match[1], config))
    with server() as serving, serving(Services(herder=worker.herder)) as client:
        answer = client.request(method, path, content=case.input)
    worker.settle()
    return _judge(answer, case.expected)


def _judge(answer: httpx.Response, expected: dict[str, Any]) -> Verdict:
    body: Any = answer.json() if answer.content else None
    for key, wanted in expected.items():
        if key == "status":
            found = differs(key, answer.status_code, wanted)
        elif key == "error_code":
            found = differs(key, body[key], wanted)
        elif key == "shape":
            found = differs(key, _in_order(body), _in_order(wanted))
        elif key == "body" and wanted == _RESTARTING:
            states = {body["connector"]["state"], *(task["state"] for task in body["tasks"])}
            found = differs("states", sorted(states), ["RESTARTING"])
        else:
            return f"the expectation {key!r} is not known: {wanted!r}"
        if found is not None:
            return found
    return None


def _in_order(value: Any) -> Any:
    """Topics come in any order."""
    if isinstance(value, dict):
        return {key: _in_order(one) for key, one in value.items()}
    return sorted(value) if isinstance(value, list) else value
