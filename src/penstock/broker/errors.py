"""Errors of the local broker, and the texts of their messages."""

from __future__ import annotations

from pathlib import Path

from penstock.errors import PenstockError


class BrokerError(PenstockError):
    """The local broker cannot be started, stopped or reached."""


def port_in_use(port: int) -> BrokerError:
    return BrokerError(
        f"port {port} is in use by another process",
        hint="Stop that process, or choose another port: penstock broker start --port N",
    )


def died_at_start(code: int, log: Path, tail: str) -> BrokerError:
    said = f". The end of its log: {tail}" if tail else ""
    return BrokerError(f"the broker ended with code {code} while starting{said}", hint=f"The whole log is {log}")


def cannot_format(log: Path, tail: str) -> BrokerError:
    return BrokerError(
        f"the broker's data folder cannot be formatted: {tail or 'no output'}",
        hint=f"Use another data folder, or delete this one. The whole log is {log}",
    )


def unusable_folder(folder: Path, reason: str) -> BrokerError:
    return BrokerError(f"{folder} cannot hold the broker's data: {reason}", hint="Use another folder")


def not_ready(seconds: float, log: Path, tail: str) -> BrokerError:
    return BrokerError(
        f"the broker did not answer within {seconds:g} s of its start. The end of its log: {tail or '(empty)'}",
        hint=f"Give it more time (start_timeout), or look into {log}",
    )


def unreachable(bootstrap_servers: str, seconds: float) -> BrokerError:
    return BrokerError(
        f"no Kafka broker answers at {bootstrap_servers} (waited {seconds:g} s)",
        hint="Start one with `penstock broker start`, or check the address",
    )


def already_running(bootstrap_servers: str, pid: int) -> BrokerError:
    return BrokerError(
        f"a broker is already running at {bootstrap_servers} (process {pid})",
        hint="Use it, or end it first with `penstock broker stop`",
    )


def not_running(folder: Path) -> BrokerError:
    return BrokerError(f"no broker is running with data folder {folder}", hint="Start it with `penstock broker start`")
