"""Local files without a name, for what is sent elsewhere as a whole: they are gone with the process."""

from __future__ import annotations

import tempfile
from typing import BinaryIO, cast

from penstock.connect.errors import ConnectError


def spool_file() -> BinaryIO:
    """A new file in the folder for temporary files.

    Raises:
        ConnectError: There is no room for it.
    """
    try:
        return cast("BinaryIO", tempfile.TemporaryFile(prefix="penstock-", buffering=1 << 20))
    except OSError as error:
        raise spool_failure(error) from error


def spool_failure(error: OSError) -> ConnectError:
    """What a failure to write to such a file means."""
    return ConnectError(
        f"Files are gathered in {tempfile.gettempdir()} before they are sent, and that failed: {error.strerror or error}",
        hint="Make room there, or set TMPDIR for the worker to a folder on a larger disk.",
    )
