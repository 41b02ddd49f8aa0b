"""Disks that are full, files that may not grow, folders that are read-only."""

from __future__ import annotations

import os
import resource
import shutil
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

import pytest

from penstock.connect.data import STRING_SCHEMA
from penstock.connect.errors import ConfigError, ConnectError, RetriableError
from tests.connect.storage.running_sink import RunningSink, files, left_over, local, order, record

needs_root = pytest.mark.skipif(os.geteuid() != 0, reason="mounts a file system")


@pytest.fixture
def tiny_disk(tmp_path: Path) -> Iterator[Path]:
    """A file system of one megabyte."""
    folder = tmp_path / "disk"
    folder.mkdir()
    mounted = subprocess.run(
        ["mount", "-t", "tmpfs", "-o", "size=1m", "tmpfs", folder], check=False, capture_output=True
    )
    if mounted.returncode:
        pytest.skip(f"cannot mount: {mounted.stderr.decode().strip()}")
    yield folder
    subprocess.run(["umount", "-l", folder], check=True)


@needs_root
@pytest.mark.parametrize("format_class", ["JsonFormat", "ParquetFormat", "AvroFormat"])
def test_a_full_disk(tiny_disk: Path, format_class: str) -> None:
    config = local(tiny_disk, format_class, flush_size="4", parquet_codec="none")
    (tiny_disk / "others").write_bytes(bytes(300_000))

    def value(offset: int) -> str:
        return os.urandom(50_000).hex()  # 100 kB

    records = [record(o, order(o, city=value(o))) for o in range(16)]
    with RunningSink("FileSystemSink", config) as sink:
        safe = sink.put(records[:5])
        with pytest.raises(ConnectError, match=r"No space left.*Make room") as raised:
            sink.put(records[5:])
    assert not isinstance(raised.value, RetriableError)
    assert left_over(tiny_disk) == []
    kept = files(tiny_disk)
    assert len(kept) == safe // 4 == 1
    (tiny_disk / "others").unlink()
    with RunningSink("FileSystemSink", config) as sink:
        assert sink.put(records[safe:8]) == 8
    assert {path: files(tiny_disk)[path] for path in kept} == kept
    assert len(files(tiny_disk)) == 2


def test_files_that_may_not_grow(tmp_path: Path) -> None:
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (2_000_000, hard))
    try:
        with (
            RunningSink("FileSystemSink", local(tmp_path, "StringFormat", flush_size="100")) as sink,
            pytest.raises(ConnectError, match=r"File too large.*ulimit -f"),
        ):
            sink.put(record(o, "x" * 100_000, STRING_SCHEMA) for o in range(50))
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert files(tmp_path) == {}


_AS_NOBODY = """
import sys
from tests.connect.storage.running_sink import RunningSink, local, record
from pathlib import Path
try:
    with RunningSink("FileSystemSink", local(Path(sys.argv[1]))) as sink:
        sink.put(map(record, range(10)))
except Exception as error:
    print(type(error).__name__, error)
"""


@needs_root
@pytest.mark.skipif(shutil.which("setpriv") is None, reason="needs setpriv")
def test_a_folder_that_is_read_only() -> None:
    with tempfile.TemporaryDirectory() as folder:  # tmp_path is below a folder that only root may enter
        Path(folder).chmod(0o755)
        done = subprocess.run(
            ["setpriv", "--reuid=65534", "--regid=65534", "--clear-groups", sys.executable, "-c", _AS_NOBODY, folder],
            capture_output=True,
            text=True,
            check=False,
            env={**os.environ, "PYTHONDONTWRITEBYTECODE": "1"},
        )
    assert done.stdout.startswith(f"ConnectError Cannot write to {folder}/logs: Permission denied."), done.stderr
    assert "The user of the worker must be allowed to write there." in done.stdout


def test_a_file_where_the_folder_should_be(tmp_path: Path) -> None:
    (tmp_path / "lake").write_text("")
    with pytest.raises(ConnectError, match=r"Cannot write to .*lake: File exists"):
        RunningSink("FileSystemSink", local(tmp_path / "lake")).__enter__()


def test_a_folder_that_is_no_absolute_path() -> None:
    with pytest.raises(ConfigError, match="Not an absolute path"):
        RunningSink("FileSystemSink", local(Path("lake")))


def test_a_url(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", {**local(tmp_path), "store.url": f"file://{tmp_path}/my%20lake"}) as sink:
        sink.put(map(record, range(10)))
    assert len(files(tmp_path / "my lake")) == 1


def test_a_log_that_cannot_be_read_says_what_to_do(tmp_path: Path) -> None:
    with RunningSink("FileSystemSink", local(tmp_path)) as sink:
        sink.put(map(record, range(10)))
    (entry,) = (tmp_path / "logs" / "orders" / "0" / "archive").iterdir()
    entry.write_text("{")
    with (
        RunningSink("FileSystemSink", local(tmp_path)) as sink,
        pytest.raises(ConnectError, match=r"cannot be read as an entry of a commit log.*Remove it"),
    ):
        sink.put([record(10)])
