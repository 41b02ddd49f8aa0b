"""Names of connectors in paths: of folders, and of URLs."""

from __future__ import annotations

from urllib.parse import quote


def name_in_path(name: str) -> str:
    """A name as one part of a path, percent-encoded.

    >>> name_in_path("a/b"), name_in_path("a.b"), name_in_path("..")
    ('a%2Fb', 'a.b', '%2E%2E')
    """
    # As they are, these two would be the folder itself and the one above it.
    return name.replace(".", "%2E") if name in {".", ".."} else quote(name, safe="")
