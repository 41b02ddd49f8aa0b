"""Which errors of a database are about the values of a row, so that the other rows can be written."""

from __future__ import annotations

import re
from typing import Any

# SQLSTATE: 22 data, 23 integrity, 44 check option, a trigger's own error, wrong type, generated column, too large.
_ROW_STATES = re.compile(r"22...|23...|44...|P0001|42804|42846|428C9|54000")
# MySQL and MariaDB: null, duplicate, out of range, cut, wrong value, no default, too long, foreign keys, check constraints, a
# trigger's own error, generated column, invalid JSON.
_ROW_CODES = {
    1048, 1062, 1216, 1217, 1264, 1265, 1292, 1364, 1366, 1367, 1406, 1411, 1451, 1452, 1525, 1644, 1690,
    1906, 3105, 3140, 3141, 3156, 3157, 3819, 4025, 4078,
}  # fmt: skip
# What drivers and Python raise for a value they cannot send: a number too large, a lone surrogate.
_PYTHON = (OverflowError, UnicodeError, ValueError, TypeError)


def is_row_error(error: BaseException, dbapi: Any) -> bool:
    """Whether an error of a driver, or one SQLAlchemy wraps, is about a row's values."""
    error = getattr(error, "orig", None) or error
    if isinstance(error, _PYTHON):
        return True
    if isinstance(error, (dbapi.DataError, dbapi.IntegrityError)):
        return True
    state = getattr(error, "sqlstate", None)
    if state is not None:
        return bool(_ROW_STATES.fullmatch(state))
    code = error.args[0] if error.args else None
    if isinstance(code, int):
        return code in _ROW_CODES
    text = str(error)
    return "cannot adapt type" in text or "rror binding parameter" in text or "can not be used with MySQL" in text


def waits_for_parent(error: BaseException) -> bool:
    """Whether a row refers to another that is not there, and may come: another task writes that table."""
    error = getattr(error, "orig", None) or error
    if getattr(error, "sqlstate", None) == "23503":
        return True
    code = error.args[0] if error.args else None
    return code in {1216, 1452} or code == "FOREIGN KEY constraint failed"
