"""Files that hold a connector: flat JSON, the JSON of the REST API, or Java properties."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

import orjson

from penstock.connect.config.properties import parse_properties
from penstock.connect.config.settings_file import read_settings_file
from penstock.connect.errors import ConfigError, ConnectError, missing_value
from penstock.connect.requests.body import string_map
from penstock.connect.requests.create_connector import (
    NAME,
    CreateConnectorRequest,
    InitialState,
    parse_initial_state,
    with_name,
)


def read_connector_files(paths: Iterable[Path]) -> list[CreateConnectorRequest]:
    """The connectors in files.

    Raises:
        ConfigError: One cannot be read, or two have the same name; the message names the files.
    """
    found: dict[str, tuple[Path, CreateConnectorRequest]] = {}
    for path in paths:
        request = read_connector_file(path)
        if request.name in found:
            raise ConfigError(
                f"{path}: Connector {request.name} already exists: {found[request.name][0]} has the same name",
                key=NAME,
                hint="Give one of them another name.",
            )
        found[request.name] = (path, request)
    return [request for _, request in found.values()]


def read_connector_file(path: Path) -> CreateConnectorRequest:
    """The connector in a file.

    Three formats are tried, in this order: a JSON object of texts with `name`, a JSON object with `name`, `config` and
    perhaps `initial_state`, and Java properties.

    Raises:
        ConfigError: The file cannot be read, or has no name in it; the message names the file.
    """
    hint = "Give a .properties or .json file with the connector's name and settings."
    text = read_settings_file(path, "connector", hint=hint)
    try:
        return _parse(text)
    except (ConfigError, ConnectError) as error:
        raise ConfigError(f"{path}: {error.message}", key=getattr(error, "key", None), hint=error.hint) from None


def _parse(text: str) -> CreateConnectorRequest:
    try:
        fields = orjson.loads(text)
    except orjson.JSONDecodeError as error:
        if text.lstrip().startswith("{"):
            raise ConfigError(f"The file looks like JSON, but is not: {error}") from None
        return _request(parse_properties(text))
    if not isinstance(fields, dict):
        raise ConfigError("The file holds no JSON object", hint='Write {"name": "...", "config": {...}}.')
    return _from_request(fields) if isinstance(fields.get("config"), dict) else _request(string_map(fields, "config"))


def _from_request(fields: dict[str, Any]) -> CreateConnectorRequest:
    """The JSON of `POST /connectors`; unlike there, other fields are left aside."""
    state = fields.get("initial_state")
    config = string_map(fields["config"], "config")
    name = fields.get(NAME) or config.get(NAME)
    return _request(with_name(str(name), config) if name else config, None if state is None else str(state))


def _request(config: Mapping[str, str | None], state: str | None = None) -> CreateConnectorRequest:
    name = (config.get(NAME) or "").strip()
    if not name:
        raise missing_value(NAME)
    initial: InitialState | None = None if state is None else parse_initial_state(state)
    return CreateConnectorRequest(name, {**config, NAME: name}, initial)
