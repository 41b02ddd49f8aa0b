"""Servers that run beside each other do not harm each other."""

from __future__ import annotations

from pathlib import Path
from tempfile import TemporaryDirectory

import pytest

from tests.servers.mariadb import MariaDBServer

pytestmark = pytest.mark.database


def test_temporary_tables_of_a_server_beside_it_stay(monkeypatch: pytest.MonkeyPatch) -> None:
    with TemporaryDirectory() as shared:
        Path(shared).chmod(0o777)
        table = Path(shared) / "#sql-temptable-1-1-1.frm"
        table.touch()
        monkeypatch.setenv("TMPDIR", shared)
        with MariaDBServer():
            assert table.exists()
