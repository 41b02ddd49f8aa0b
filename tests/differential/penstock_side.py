"""One request, run through penstock's test driver. Run.java does the same with Kafka's."""

from __future__ import annotations

import traceback
from typing import Any

from penstock import TestRecord, TopologyTestDriver
from tests.differential.catalog import catalog
from tests.differential.functions import show, window_key

Request = dict[str, Any]
Answer = dict[str, Any]

APPLICATION = "app"


def answer(request: Request) -> Answer:
    """penstock's answer; an error is an answer too, with its traceback."""
    result: Answer = {"id": request["id"], "topology": request["topology"], "outputs": []}
    result |= {"stores": {}, "dropped": 0, "error": None}
    try:
        _run(request, result)
    except Exception as error:  # noqa: BLE001 - whatever fails is compared
        result["error"] = f"{type(error).__name__}: {error}"
        result["traceback"] = traceback.format_exc()
    return result


def describe(request: Request) -> str:
    """The topology's description."""
    return str(_topology(request).describe())


def configuration(request: Request) -> dict[str, Any]:
    """The settings of a request."""
    config: dict[str, Any] = {
        "application.id": APPLICATION,
        "bootstrap.servers": "none:1",
        "default.key.serde": "string",
        "default.value.serde": "string",
        "statestore.cache.max.bytes": 10485760 if request["caching"] else 0,
    }
    if request["store_type"] == "memory":
        config["dsl.store.suppliers.class"] = "in_memory"
    config.update(request.get("config", {}))
    return config


def _topology(request: Request) -> Any:
    params = request["params"] | {"memory": request["store_type"] == "memory"}
    return catalog()[request["topology"]].make(params, configuration(request))


def _run(request: Request, result: Answer) -> None:
    with TopologyTestDriver(_topology(request), configuration(request), wall_clock=0) as driver:
        topics: dict[str, Any] = {}
        for step, row in enumerate(request["inputs"]):
            try:
                _feed(driver, topics, request, step, row)
            finally:
                result["outputs"] += _outputs(driver, step, headers=request.get("headers", False))
        keys = sorted({key for _, key, _, _ in request["inputs"] if key is not None})
        result["stores"] = _stores(driver, keys)
        result["dropped"] = driver.dropped_records


def _feed(driver: TopologyTestDriver, topics: dict[str, Any], request: Request, step: int, row: Any) -> None:
    topic, key, value, timestamp = row
    if topic == "@wall":
        driver.advance_wall_clock_time(timestamp)
        return
    if topic not in topics:
        topics[topic] = driver.create_input_topic(topic, "string", "string")
    headers = [("step", str(step).encode())] if request.get("headers") else []
    topics[topic].pipe_input(TestRecord(key, value, headers=headers, timestamp=timestamp))
    if request.get("advance_wall_clock") is not None:
        driver.advance_wall_clock_time(request["advance_wall_clock"])


def _outputs(driver: TopologyTestDriver, step: int, *, headers: bool) -> list[list[Any]]:
    rows = []
    for topic in sorted(driver.produced_topic_names):
        if topic.startswith(f"{APPLICATION}-"):
            continue
        for record in driver.create_output_topic(topic, "string", "string").read_records_to_list():
            row = [step, topic, record.key, record.value, record.timestamp]
            rows.append([*row, _header_text(record.headers)] if headers else row)
    return rows


def _header_text(headers: Any) -> str:
    return ",".join(f"{name}={value.decode()}" for name, value in headers)


def _stores(driver: TopologyTestDriver, keys: list[str]) -> dict[str, dict[str, str]]:
    """The final content of the stores whose name tells their kind, as text; a stored timestamp follows an @."""
    stores: dict[str, dict[str, str]] = {}
    for name in sorted(driver.get_all_state_stores()):
        kind = name.partition("-")[0]
        if kind in _DUMPS and not name.endswith("-buffer"):
            stores[name] = _DUMPS[kind](driver, name, keys)
    return stores


def _keys_and_values(driver: TopologyTestDriver, name: str, _keys: list[str]) -> dict[str, str]:
    store: Any = driver.get_timestamped_key_value_store(name) or driver.get_key_value_store(name)
    return {key: _stored(value) for key, value in store.all()}


def _versions(driver: TopologyTestDriver, name: str, keys: list[str]) -> dict[str, str]:
    store: Any = driver.get_versioned_key_value_store(name)
    found = {key: store.get(key) for key in keys}
    return {key: f"{row.value}@{row.timestamp}" for key, row in found.items() if row is not None}


def _windows(driver: TopologyTestDriver, name: str, _keys: list[str]) -> dict[str, str]:
    store: Any = driver.get_timestamped_window_store(name) or driver.get_window_store(name)
    rows: dict[str, str] = {}
    for windowed, value in store.all():
        key = window_key(windowed)
        rows[key] = f"{rows[key]} {_stored(value)}" if key in rows else _stored(value)
    return rows


def _sessions(driver: TopologyTestDriver, name: str, keys: list[str]) -> dict[str, str]:
    store: Any = driver.get_session_store(name)
    return {window_key(windowed): show(value) for key in keys for windowed, value in store.fetch(key)}


def _stored(value: Any) -> str:
    return f"{show(value.value)}@{value.timestamp}" if hasattr(value, "timestamp") else show(value)


_DUMPS = {"kv": _keys_and_values, "ver": _versions, "win": _windows, "ses": _sessions}
