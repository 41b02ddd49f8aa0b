"""Requests that create or change a connector."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum

from penstock.connect.errors import BadRequestError, MalformedRequestError
from penstock.connect.requests.body import cannot_deserialize, parse_body, require_known, require_object, string_map

NAME = "name"


class InitialState(Enum):
    """The state a connector is created in."""

    RUNNING = "RUNNING"
    PAUSED = "PAUSED"
    STOPPED = "STOPPED"

    @property
    def target_state(self) -> str:
        """The state as the config topic has it."""
        return "STARTED" if self is InitialState.RUNNING else self.value


@dataclass(frozen=True, slots=True)
class CreateConnectorRequest:
    """The body of `POST /connectors`.

    Attributes:
        name: The connector's name, without blanks around it.
        config: Its configuration, with the name in it.
        initial_state: The state to create it in; None is running.
    """

    name: str
    config: dict[str, str | None]
    initial_state: InitialState | None = None


def parse_initial_state(text: str) -> InitialState:
    """A state in any case of letters.

    >>> parse_initial_state("Paused")
    <InitialState.PAUSED: 'PAUSED'>

    Raises:
        MalformedRequestError: There is no such state.
    """
    try:
        return InitialState[text.upper()]
    except KeyError:
        raise MalformedRequestError(
            f"Cannot construct instance of `InitialState`, problem: No enum constant for {text}",
            hint=f"States: {', '.join(state.value for state in InitialState)}.",
        ) from None


def parse_create_request(body: bytes | str) -> CreateConnectorRequest:
    """The request in the body of `POST /connectors`.

    Raises:
        MalformedRequestError: The body has another shape.
        BadRequestError: The name is not that of the configuration.
    """
    fields = require_object(parse_body(body), "CreateConnectorRequest")
    require_known(fields, ("name", "config", "initial_state"), "CreateConnectorRequest")
    name, state = fields.get("name"), fields.get("initial_state")
    if name is not None and not isinstance(name, str):
        raise cannot_deserialize("String", name, "name")
    if state is not None and not isinstance(state, str):
        raise cannot_deserialize("String", state, "initial_state")
    trimmed = (name or "").strip()
    config = {} if fields.get("config") is None else string_map(fields["config"], "config")
    return CreateConnectorRequest(
        trimmed, with_name(trimmed, config), None if state is None else parse_initial_state(state)
    )


def parse_config(name: str, body: bytes | str) -> dict[str, str | None]:
    """The configuration in the body of `PUT /connectors/{name}/config`.

    Raises:
        MalformedRequestError: The body has another shape.
        BadRequestError: The configuration has another name.
    """
    return with_name(name, string_map(parse_body(body), "config"))


def with_name(name: str, config: Mapping[str, str | None]) -> dict[str, str | None]:
    """A configuration with the connector's name in it.

    Raises:
        BadRequestError: It has another name already.
    """
    included = config.get(NAME)
    if included is not None and included != name:
        raise BadRequestError(
            f"Connector name configuration ({included}) doesn't match connector name in the URL ({name})"
        )
    return {**config, NAME: name}


def patched_config(name: str, stored: Mapping[str, str | None], body: bytes | str) -> dict[str, str | None]:
    """The configuration after `PATCH /connectors/{name}/config`: null removes a setting.

    Raises:
        MalformedRequestError: The body has another shape.
        BadRequestError: The patch has another name.
    """
    patch = string_map(parse_body(body), "config")
    merged = {**stored, **patch}
    return with_name(name, {key: value for key, value in merged.items() if patch.get(key, "") is not None})
