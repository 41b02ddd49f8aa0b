from __future__ import annotations

from collections.abc import Iterator

import pytest

from tests.servers.hdfs import HdfsServer
from tests.servers.s3 import S3Server


@pytest.fixture(scope="session")
def s3_server() -> Iterator[S3Server]:
    """One S3 server for the whole session. A test that stops it uses one of its own."""
    with S3Server() as server:
        yield server


@pytest.fixture
def bucket(s3_server: S3Server) -> str:
    """A bucket that only this test has."""
    return s3_server.create_bucket()


@pytest.fixture(scope="session")
def hdfs_server() -> Iterator[HdfsServer]:
    """One HDFS for the whole session."""
    with HdfsServer() as server:
        yield server
