"""Settings of the Kafka clients that run an application, by role."""

from __future__ import annotations

import logging
import re
from datetime import timedelta
from typing import Any

from penstock.durations import duration_ms
from penstock.errors import ConfigError
from penstock.runtime.settings import Settings

log = logging.getLogger("penstock.settings")

# What an application relies on; Kafka Streams decides these itself, too.
_OWNED = {
    "consumer": ("group.id", "group.instance.id", "enable.auto.commit", "enable.partition.eof", "group.protocol"),
    "producer": ("transactional.id", "partitioner", "partitioner.class"),
    "admin": (),
}
_OWNED_EXACTLY_ONCE = {
    "consumer": ("isolation.level",),
    "producer": ("enable.idempotence", "acks", "max.in.flight.requests.per.connection"),
    "admin": (),
}
# The client library has the one for producers only; what the others wait for an answer, it calls by another name.
_REQUEST_TIMEOUT, _SOCKET_TIMEOUT = "request.timeout.ms", "socket.timeout.ms"
_SOCKET_TIMEOUT_RANGE = (10, 300_000)  # others are refused by the library, and Java takes them


def client_roles(settings: Settings) -> dict[str, dict[str, Any]]:
    """Settings for consumers, producers and admin clients."""
    roles = {
        "consumer": settings.with_prefix("consumer.", "main.consumer."),
        "producer": settings.with_prefix("producer."),
        "admin": settings.with_prefix("admin."),
    }
    for role, given in roles.items():
        for key in (*_OWNED[role], *(_OWNED_EXACTLY_ONCE[role] if settings.exactly_once else ())):
            if given.pop(key, None) is not None:
                log.warning("the setting %s.%s is ignored: the application decides it", role, key)
        if role != "producer":
            _wait_for_answers(role, given)
        given["bootstrap.servers"] = settings.required("bootstrap.servers")
    roles["consumer"].pop("auto.offset.reset", None)  # the planner decides where to start
    if settings.exactly_once:
        roles["consumer"]["isolation.level"] = "read_committed"
    return roles


def _wait_for_answers(role: str, given: dict[str, Any]) -> None:
    """Say how long a request may take as the client library knows it; what is said in its own words wins."""
    value = given.pop(_REQUEST_TIMEOUT, None)
    if value is None or given.get(_SOCKET_TIMEOUT) is not None:
        return
    try:
        wanted = int(value)
    except (TypeError, ValueError):
        raise ConfigError(
            f"the setting {_REQUEST_TIMEOUT} of the {role} is {value!r}", hint="Give a number of milliseconds."
        ) from None
    least, most = _SOCKET_TIMEOUT_RANGE
    taken = min(max(wanted, least), most)
    if taken != wanted:
        log.warning(
            "the setting %s of the %s is %d, and %d is used: it takes from %d to %d",
            _REQUEST_TIMEOUT,
            role,
            wanted,
            taken,
            least,
            most,
        )
    given[_SOCKET_TIMEOUT] = taken


def start_policy(settings: Settings) -> dict[str, Any]:
    """Where topics without a committed position start, unless their source says so itself.

    >>> start_policy(Settings({"consumer.auto.offset.reset": "by_duration:PT1H30M"}))
    {'policy': 'by_duration', 'duration_ms': 5400000}
    """
    given = str(settings.with_prefix("consumer.", "main.consumer.").get("auto.offset.reset", "earliest"))
    if given in {"earliest", "latest", "none"}:
        return {"policy": given}
    name, _, text = given.partition(":")
    duration = _iso_ms(text)
    if name != "by_duration" or duration is None:
        raise ConfigError(
            f"the setting consumer.auto.offset.reset is {given!r}",
            hint="Give earliest, latest, none, or by_duration:PT1H for the records of the last hour.",
        )
    return {"policy": "by_duration", "duration_ms": duration}


_ISO_DURATION = re.compile(r"P(?=.)(?:(\d+)D)?(?:T(?=.)(?:(\d+)H)?(?:(\d+)M)?(?:(\d+(?:\.\d+)?)S)?)?", re.IGNORECASE)


def _iso_ms(text: str) -> int | None:
    """Milliseconds of a duration as Java writes it; None if it is no such text."""
    duration = _ISO_DURATION.fullmatch(text)
    if duration is None:
        return None
    days, hours, minutes, seconds = (float(part or 0) for part in duration.groups())
    return timedelta(days=days, hours=hours, minutes=minutes, seconds=seconds) // timedelta(milliseconds=1)


def duration_or_iso(text: str, what: str) -> int:
    """Milliseconds of a duration as penstock (`1h30m`) or as Java (`PT1H30M`) writes it.

    >>> duration_or_iso("1h30m", "age"), duration_or_iso("PT1H30M", "age")
    (5400000, 5400000)
    """
    iso = _iso_ms(text)
    return duration_ms(text, what) if iso is None else iso
