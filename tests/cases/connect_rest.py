"""REST cases: what they say about requests and validation needs no worker; the others are sent to one."""

from __future__ import annotations

import re
from collections.abc import Callable
from typing import Any

from penstock.connect.errors import ConnectError
from penstock.connect.requests.connector_offsets import (
    parse_alter_offsets,
    require_stopped,
    sink_offsets,
    sink_offsets_answer,
    source_offsets,
)
from penstock.connect.requests.create_connector import (
    parse_config,
    parse_create_request,
    parse_initial_state,
    patched_config,
)
from penstock.connect.validation import ConnectorKind, validate_connector
from tests.cases.connect_case import ConnectCase
from tests.cases.connect_http import over_http
from tests.cases.connect_judge import Verdict, differs

_SINK = {"name": "c", "connector.class": "FileStreamSinkConnector", "tasks.max": "1", "topics": "a-topic"}
_SOURCE = {"name": "c", "connector.class": "FileStreamSourceConnector", "tasks.max": "1"}
_SOURCE_ONLY = ("topic.creation.", "exactly.once.", "transaction.boundary", "offsets.storage.topic")


def validate(case: ConnectCase) -> Verdict:
    """`PUT /connector-plugins/{plugin}/config/validate`: a valid configuration with some settings changed."""
    is_source = "source" in case.component or any(name.startswith(_SOURCE_ONLY) for name in case.config)
    kind, base = (ConnectorKind.SOURCE, _SOURCE) if is_source else (ConnectorKind.SINK, _SINK)
    settings = {name: value for name, value in {**base, **case.config}.items() if value != "<removed>"}
    infos = validate_connector(kind, settings)
    errors = [error for config in infos["configs"] for error in config["value"]["errors"]]
    if infos["error_count"] != case.expected["error_count"]:
        return f"expected {case.expected['error_count']} errors, got {errors}"
    return None


def _rest(case: ConnectCase) -> Verdict:
    method, path = case.config["request"].split(" ", 1)
    body = case.input
    if not _is_told_by_the_request(method, path, case):
        return over_http(method, path, case)
    try:
        answer = _answer(method, path, body, case)
    except ConnectError as error:
        return _judge_failure(error, case.expected)
    if case.expected.get("status", 200) >= 400:
        return f"expected status {case.expected['status']}, got no error"
    for key in ("connector_name", "config"):
        if key in case.expected:
            return differs(key, answer.get(key), case.expected[key])
    return None


def _answer(method: str, path: str, body: Any, case: ConnectCase) -> dict[str, Any]:
    """What a request comes to, as far as it can be told without a worker."""
    name = _connector_name(path)
    if method == "POST" and path == "/connectors":
        request = parse_create_request(body)
        return {"connector_name": request.name, "config": request.config}
    if method == "PATCH" and path.endswith("/offsets"):
        if "stopped" not in path:
            require_stopped(name, "RUNNING")
        offsets = parse_alter_offsets(body)
        return {"offsets": source_offsets(offsets) if "source" in path else sink_offsets(offsets)}
    if method == "PATCH":
        return {"config": patched_config(name, case.config["stored"], body)}
    return {"config": parse_config(name, body)}


def _is_told_by_the_request(method: str, path: str, case: ConnectCase) -> bool:
    if method == "PATCH" and path.endswith("/offsets"):
        return "{" in path
    if method == "PATCH" and path.endswith("/config"):
        return "stored" in case.config
    return (method == "POST" and path == "/connectors") or (
        method == "PUT" and path.endswith("/config") and case.input is not None
    )


def _connector_name(path: str) -> str:
    match = re.match(r"/connectors/([^/?]+)", path)
    return match[1] if match is not None else ""


def _judge_failure(error: ConnectError, expected: dict[str, Any]) -> Verdict:
    status = getattr(error, "status", 500)
    for key in ("status", "error_code"):
        if key in expected and expected[key] != status:
            return f"expected {key} {expected[key]}, got {status}: {error}"
    if "status" not in expected:
        return f"{type(error).__name__}: {error}"
    wanted = expected.get("message_contains", "")
    missing = [part for part in ([wanted] if isinstance(wanted, str) else wanted) if part not in error.message]
    return f"expected {missing} in the message, got {error.message!r}" if missing else None


def _sink_offsets(case: ConnectCase) -> Verdict:
    committed = {(case.input["topic"], case.input["partition"]): case.input["committed"]}
    return differs("offsets", sink_offsets_answer(committed), case.expected)


def _initial_states(case: ConnectCase) -> Verdict:
    return differs("states", [parse_initial_state(text).value for text in case.input], case.expected)


PLAYERS: dict[str, Callable[[ConnectCase], Verdict]] = {
    "REST": _rest,
    "SinkOffsets": _sink_offsets,
    "CreateConnectorRequest.initial_state": _initial_states,
}
