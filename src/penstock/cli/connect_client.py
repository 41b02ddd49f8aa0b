"""A client of the REST API of Connect workers, with errors for people."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any, Optional

import typer

from penstock.errors import PenstockError

if TYPE_CHECKING:
    import httpx

Url = Annotated[
    str,
    typer.Option(
        "--url", "-u", envvar="PENSTOCK_CONNECT_URL", help="Where the worker is.", rich_help_panel="Connection"
    ),
]
User = Annotated[
    Optional[str],  # noqa: UP045 - typer evaluates the annotation
    typer.Option(
        "--user",
        envvar="PENSTOCK_CONNECT_USER",
        metavar="NAME:PASSWORD",
        help="For workers that ask for a password.",
        rich_help_panel="Connection",
        show_default=False,
    ),
]
DEFAULT_URL = "http://localhost:8083"

_TIMEOUT_SECONDS = 100.0


class RestError(PenstockError):
    """A worker refused a request.

    Attributes:
        status: The HTTP status.
    """

    def __init__(self, status: int, message: str, *, hint: str = "") -> None:
        self.status = status
        super().__init__(message, hint=hint)


class ConnectClient:
    """Talks to a worker.

    Args:
        url: Where it is.
        user: `name:password`, or None.
    """

    def __init__(self, url: str = DEFAULT_URL, user: str | None = None) -> None:
        from penstock.cli.connect import require_extra

        require_extra()
        self._url = (url if "://" in url else f"http://{url}").rstrip("/")
        name, _, password = (user or "").partition(":")
        self._auth = (name, password) if user else None

    def get(self, path: str, **query: str) -> Any:
        """The answer to a question."""
        return self.request("GET", path, query=query)

    def request(self, method: str, path: str, body: Any = None, query: dict[str, str] | None = None) -> Any:
        """The answer to a request; None if it has no body.

        Raises:
            RestError: The worker refused it.
            PenstockError: There is no worker.
        """
        import httpx

        try:
            answer = httpx.request(
                method, self._url + path, json=body, params=query or None, auth=self._auth, timeout=_TIMEOUT_SECONDS
            )
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            reason = str(error) or type(error).__name__
            raise PenstockError(
                f"No Connect worker answers at {self._url}: {reason.removeprefix('[Errno 111] ')}",
                hint="Start one with `penstock connect standalone WORKER.PROPERTIES`, or say where it is with --url.",
            ) from None
        if answer.is_success:
            return self._content(answer)
        raise RestError(answer.status_code, _message(answer), hint=_HINTS.get(answer.status_code, ""))

    def get_object(self, path: str, **query: str) -> dict[str, Any]:
        """The answer to a question that has to be an object.

        Raises:
            PenstockError: It is something else: another server, or a worker that is too old.
        """
        found = self.get(path, **query)
        if not isinstance(found, dict):
            raise self._no_worker(f"{path.partition('?')[0]} is no JSON object")
        return found

    def _content(self, answer: httpx.Response) -> Any:
        try:
            return answer.json() if answer.content else None
        except ValueError:
            raise self._no_worker(f"its answer is no JSON: {_shown(answer.text.strip())}") from None

    def _no_worker(self, reason: str) -> PenstockError:
        return PenstockError(
            f"What answers at {self._url} is no Connect worker that is known here: {reason}",
            hint="Say where the worker is with --url.",
        )


_HINTS = {401: "Give name and password with --user."}


_SHOWN = 60


def _shown(text: str) -> str:
    """The beginning of a text, on one line."""
    return repr(text if len(text) <= _SHOWN else f"{text[:_SHOWN]}...")


def _message(answer: httpx.Response) -> str:
    try:
        return str(answer.json()["message"])
    except (ValueError, KeyError, TypeError):
        return answer.text or f"HTTP {answer.status_code}"


def path_of(name: str) -> str:
    """The path of a connector.

    Raises:
        PenstockError: The name is empty: the path would be that of all connectors.

    >>> path_of("a/b")
    '/connectors/a%2Fb'
    """
    from penstock.connect.name_in_path import name_in_path

    if not name:
        raise PenstockError("The name of a connector is empty", hint="`penstock connectors list` shows their names.")
    return f"/connectors/{name_in_path(name)}"
