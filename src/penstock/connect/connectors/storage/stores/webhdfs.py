"""HDFS through its HTTP door, WebHDFS: no Hadoop client and no Java on this side."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any
from urllib.parse import quote

import requests

from penstock.connect.errors import ConnectError, RetriableError

_TIMEOUT_SECONDS = (5, 60)
# The namenode starts, is not the active one, or is busy.
_LATER = frozenset({"SafeModeException", "StandbyException", "RetriableException", "ServerTooBusyException"})
_HINTS = {
    "AccessControlException": "The user of hdfs.user must be allowed to write there.",
    "SecurityException": "The user of hdfs.user must be allowed to write there.",
    "DSQuotaExceededException": "Make room, or raise the quota of the folder.",
    "NSQuotaExceededException": "Remove files, or raise the quota of the folder.",
}


class RemoteError(Exception):
    """What the namenode answered instead of doing what it was asked for."""

    def __init__(self, name: str, message: str) -> None:
        self.name = name
        super().__init__(f"{name}: {message}")


class WebHdfs:
    """Requests to one of some namenodes, the first that is active.

    Args:
        addresses: `http://host:9870`, one for each namenode.
        user: Who asks.
    """

    def __init__(self, addresses: Iterable[str], user: str) -> None:
        self._addresses = list(addresses)
        self._user = user
        self._session = requests.Session()

    def ask(self, method: str, path: str, operation: str, **parameters: str) -> Any:
        """The answer to an operation.

        Raises:
            RemoteError: The namenode says no.
            RetriableError: No namenode can say anything now.
        """
        failures: list[str] = []
        for address in list(self._addresses):
            try:
                response = self._session.request(
                    method,
                    f"{address}/webhdfs/v1{quote(path)}",
                    params={"op": operation, "user.name": self._user, **parameters},
                    timeout=_TIMEOUT_SECONDS,
                )
                answer = _answer(response)
            except (requests.ConnectionError, requests.Timeout) as error:
                failures.append(f"{address} cannot be reached ({_reason(error)})")
                continue
            except RemoteError as error:
                if error.name not in _LATER:
                    raise
                failures.append(f"{address}: {error}")
                continue
            if failures:  # ask this one first from now on
                self._addresses.remove(address)
                self._addresses.insert(0, address)
            return answer
        raise RetriableError(f"{operation} of {path} in HDFS failed: {'; '.join(failures)}", hint="It is tried again.")

    def send(self, path: str, data: Any) -> None:
        """Write a file, in place of what was there.

        Raises:
            RemoteError: It is refused.
            RetriableError: A datanode cannot be reached.
        """
        answer = self.ask("PUT", path, "CREATE", overwrite="true", noredirect="true")
        try:
            _answer(self._session.put(answer["Location"], data=data, timeout=_TIMEOUT_SECONDS))
        except (requests.ConnectionError, requests.Timeout) as error:
            raise RetriableError(
                f"A datanode did not take {path}: {_reason(error)}", hint="It is tried again."
            ) from error

    def content(self, path: str) -> bytes:
        """The content of a small file.

        Raises:
            RemoteError: There is none.
            RetriableError: A datanode cannot be reached.
        """
        answer = self.ask("GET", path, "OPEN", noredirect="true")
        try:
            response = self._session.get(answer["Location"], timeout=_TIMEOUT_SECONDS)
        except (requests.ConnectionError, requests.Timeout) as error:
            raise RetriableError(
                f"A datanode did not give {path}: {_reason(error)}", hint="It is tried again."
            ) from error
        _answer(response, read=False)
        return response.content

    def close(self) -> None:
        """Let go of connections."""
        self._session.close()


def failure(error: RemoteError, path: str) -> Exception:
    """What an answer means for a sink."""
    if error.name in _LATER or error.name.startswith("HTTP 5"):
        return RetriableError(f"{path} in HDFS: {error}", hint="It is tried again.")
    return ConnectError(f"{path} in HDFS: {error}", hint=_HINTS.get(error.name, ""))


def _answer(response: requests.Response, *, read: bool = True) -> Any:
    if response.status_code < 400:
        return response.json() if read and "json" in response.headers.get("Content-Type", "") else {}
    try:
        said = response.json()["RemoteException"]
        raise RemoteError(said["exception"], str(said["message"]).splitlines()[0])
    except (ValueError, KeyError, TypeError, IndexError):
        raise RemoteError(f"HTTP {response.status_code}", response.reason or "") from None


def _reason(error: Exception) -> str:
    """The cause at the bottom, which says more than the pool's words around it."""
    cause: BaseException = error
    while True:
        inner = cause.__cause__ or cause.__context__ or getattr(cause, "reason", None)
        if not isinstance(inner, BaseException):
            return str(cause) or type(cause).__name__
        cause = inner
