"""The options every command that talks to Kafka has."""

from __future__ import annotations

from typing import Annotated, Any

import typer

from penstock.kafka.settings import DEFAULT_BOOTSTRAP_SERVERS

# A person waits: shorter than what a program allows a broker that is restarting.
REACHABLE_SECONDS = 3.0

BootstrapServers = Annotated[
    str,
    typer.Option(
        "--bootstrap-servers",
        "-b",
        envvar="PENSTOCK_BOOTSTRAP_SERVERS",
        metavar="HOST:PORT",
        help="Where Kafka is; several with commas.",
        rich_help_panel="Connection",
    ),
]
ClientSettings = Annotated[
    list[str] | None,
    typer.Option(
        "--setting",
        "-X",
        metavar="KEY=VALUE",
        help="A setting of Kafka's clients, such as security.protocol=SSL. May be repeated.",
        rich_help_panel="Connection",
    ),
]
DEFAULT = DEFAULT_BOOTSTRAP_SERVERS


def connection_settings(bootstrap_servers: str, settings: list[str] | None) -> dict[str, Any]:
    """Client settings from the two options."""
    return {"bootstrap.servers": bootstrap_servers, **key_values(settings, "--setting")}


def key_values(pairs: list[str] | None, option: str) -> dict[str, str]:
    """`["a=1", "b=2"]` as a dictionary.

    >>> key_values(["retention.ms=-1"], "--config")
    {'retention.ms': '-1'}
    """
    found = {}
    for pair in pairs or ():
        key, separator, value = pair.partition("=")
        if not key.strip() or not separator:
            raise typer.BadParameter(f"'{pair}' is not KEY=VALUE", param_hint=option)
        found[key.strip()] = value.strip()
    return found
