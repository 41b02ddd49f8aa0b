"""How a command ends when something comes in between: bad input, Ctrl-C, a reader that went away.

A `PenstockError` needs nothing here: `penstock.cli.main` prints it as one line with its next step and exits with 1.
"""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager

import typer

from penstock.errors import PenstockError

INTERRUPTED = 130


class InputError(PenstockError):
    """Something in a command's input cannot be used; names the line if there is one."""

    def __init__(self, message: str, *, line: int | None = None, hint: str = "") -> None:
        self.line = line
        super().__init__(f"Line {line}: {message}" if line is not None else message, hint=hint)


@contextmanager
def clean_end() -> Iterator[None]:
    """Ctrl-C and a closed pipe (`| head`) end the command without a traceback."""
    try:
        yield
        sys.stdout.flush()
    except KeyboardInterrupt:
        raise typer.Exit(INTERRUPTED) from None
    except BrokenPipeError:
        # Nobody reads any more, which is no error. Python would still complain when it flushes at exit.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        raise typer.Exit from None
